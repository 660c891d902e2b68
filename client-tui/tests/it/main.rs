//! The terminal interface on a real pseudoterminal.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod child;
mod pty;
mod restore;
mod screen;
