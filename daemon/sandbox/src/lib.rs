//! Commands under a launcher: run folders, exit files, and a policy carried to the kernel.
//!
//! A command never runs below the daemon. `air-worker exec RUN_FOLDER` ([`launch`]) is its launcher: it
//! outlives the daemon, keeps the output, the time limit and the result, and ends whatever the command
//! left behind. The daemon talks to it through the [`RunFolder`] only, so a new daemon can take over
//! where an old one stopped.
//!
//! The crate is written for Linux: it rests on subreapers, pidfds, `/proc` and Landlock.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod child;
mod confine;
mod folder;
mod launcher;
mod output;
mod peer;
mod platform;
mod procfs;
mod spec;
mod sys;

pub use folder::RunFolder;
pub use launcher::launch;
pub use output::KeptOutput;
pub use peer::{peer_verdict, peer_verdict_of};
pub use platform::platform;
pub use spec::{
    DEFAULT_OUTPUT_CAP, ExitRecord, FilesystemLimit, LauncherId, NetworkLimit, RunSpec, RunState,
    SandboxReport,
};
