//! Model providers: configuration, selection, the capability catalogue, and the adapters that turn
//! canonical requests into wire requests and streamed answers into [`ProviderStreamEvent`]s.
//!
//! [`ProviderManager`] is the entry. An adapter implements [`ProviderAdapter`]; transport, time limits,
//! retries and the decoding of server-sent events are shared by all adapters.
//!
//! [`ProviderStreamEvent`]: air_contracts::provider::ProviderStreamEvent

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod adapter;
mod anthropic;
mod breaker;
mod catalogue;
mod check;
mod classify;
mod config;
mod exchange;
mod failure;
mod manager;
mod names;
mod report;
mod retry;
mod select;
mod sse;
mod transport;

pub use adapter::{ListedModel, ModelCheck, ProviderAdapter};
pub use catalogue::{ModelRow, ThinkingMode};
pub use check::ProviderCheck;
pub use config::{ApiKey, ModelOverride, ModelsConfig, ProviderConfig, ProviderKind};
pub use manager::ProviderManager;
pub use report::{Change, ChangeClass, ConversionReport};
