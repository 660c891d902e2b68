//! The words, symbols and lines that every client shows, so that they are the same everywhere.

pub mod amounts;
pub mod block;
pub mod escape;
pub mod layout;
pub mod lines;
pub mod outcome;
pub mod question;
pub mod style;
pub mod words;
