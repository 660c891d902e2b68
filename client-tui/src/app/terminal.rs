//! The terminal: taken and given back, read and drawn on. Nothing else here knows control sequences.

pub mod guard;
pub mod keys;
pub mod modes;
pub mod parse;
pub mod screen;
pub mod tty;
