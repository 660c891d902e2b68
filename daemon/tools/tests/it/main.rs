//! Tests of the tools on real files, processes, git and a real store.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod approvals;
mod calls;
mod checks;
mod edits;
mod files;
mod git;
mod recovery;
mod shell;
mod world;
