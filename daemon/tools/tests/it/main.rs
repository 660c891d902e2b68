//! Tests of the tools on real files, processes, git and a real store.

#![allow(clippy::unwrap_used, clippy::expect_used)]
