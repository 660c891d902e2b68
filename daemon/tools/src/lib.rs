//! The tools of a project: registry, permission gate, built-in tools, questions to the user, recovery.
//!
//! [`ToolService`] is the only way to run a tool: a call is validated, judged, asked about where it must
//! be, logged, executed, and logged again. What has an effect takes a permit that only the gate makes.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod artifact;
mod ask;
mod cancel;
mod deps;
mod desk;
mod doctor;
mod facts;
mod fs;
mod gate;
mod git;
mod hash;
mod host;
mod input;
mod kit;
mod log;
mod project;
mod registry;
mod seen;
mod service;
mod shell;
mod tool;
mod toolsets;

pub use deps::{Ask, ToolDeps};
pub use doctor::doctor;
pub use service::ToolService;
