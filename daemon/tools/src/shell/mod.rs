//! Commands: under the launcher, in the sandbox, with bounded output.

mod caches;
mod clean;
mod cut;
mod end;
mod env;
mod follow;
mod pidfd;
mod process;
mod run;
mod runner;

use std::sync::Arc;

pub(crate) use caches::Caches;
pub(crate) use cut::both_ends;
pub(crate) use end::{CommandEnd, Ended, report};
pub(crate) use env::command_env;
pub(crate) use follow::Follower;
pub(crate) use run::in_background;
pub(crate) use runner::{Request, Runner, wait_for};

use crate::tool::Builtin;

/// The tools of this group.
pub(crate) fn tools() -> Vec<Arc<dyn Builtin>> {
    vec![
        Arc::new(run::Run::new()),
        Arc::new(process::List::new()),
        Arc::new(process::Output::new()),
        Arc::new(process::Kill::new()),
    ]
}
