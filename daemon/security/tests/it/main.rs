//! Cases as data, and properties.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod commands;
mod differential;
mod fixture;
mod honest;
mod hostile;
mod paths;
mod policy;
mod properties;
mod ruinous;
mod structure;
