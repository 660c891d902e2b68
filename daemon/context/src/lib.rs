//! What a model is given: prompt layers L0–L9, in an order that provider caches can use.
//!
//! A context is assembled once for an attempt (or a turn of the Main Agent) and then only appended to. What
//! changes between requests is the volatile block L9, which is sent last and never stored in a transcript.
//! Every request is recorded by the identities of its parts and can be rebuilt from the log.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod assemble;
mod blocks;
mod layers;
mod names;
mod prompts;
mod rebuild;
mod request;
mod tokens;

pub use assemble::{AssembledContext, ContextAssembler, MainInput, WorkerInput};
pub use blocks::{VolatileState, volatile_block};
pub use names::{canonical_name, render_names, wire_name};
pub use request::{RequestInput, request};
pub use tokens::{estimate_message, estimate_tokens};
