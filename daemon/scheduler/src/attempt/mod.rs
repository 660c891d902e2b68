//! One agent at work in a worker process: its transcript, its requests, its calls, its end.

mod calls;
mod conversation;
mod outcome;
mod progress;
mod resume;
mod run;
mod seat;

pub(crate) use calls::{finish_from, only_reads};
pub(crate) use conversation::Finish;
pub(crate) use outcome::Outcome;
pub(crate) use progress::{Live, Seen};
pub(crate) use run::{AttemptEnd, Work, run};
pub(crate) use seat::Seat;
