//! Judges what a call would do to the world, before it does it.
//!
//! Pure: no I/O, no clock, no async. Facts of the file system come in through [`FsFacts`], the text of
//! a command through [`analyse_command`], a path through [`classify_path`]. Whatever is not positively
//! recognised is `unknown`, never `safe`.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod analysis;
mod facts;
mod path;
mod policy;
mod programs;
mod redact;
mod secret_name;
mod shell;

pub use analysis::{CommandAnalysis, CommandContext, analyse_command};
pub use facts::{Boundaries, FileFact, FileKind, FsFacts};
pub use path::{PathClass, PathOp, PathVerdict, classify_path};
pub use policy::{
    CommandRule, HostRule, PathRule, PermissionsFile, Policy, apply_mode, apply_trust, sandbox_policy,
};
pub use redact::Redactor;
pub use secret_name::is_secret_name;
