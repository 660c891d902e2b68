//! Worker processes, parent side.

mod lines;
mod process;

pub(crate) use process::{Broken, WorkerProcess};
