//! The runtime's own git: checkpoints and comparisons that leave the user's index, branch and stash alone.

mod changes;
mod checkpoint;
mod config;
mod exclude;
mod exec;
mod locate;
mod range;
mod tools;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub(crate) use config::effective_config;
pub(crate) use exec::version;

use crate::tool::Builtin;
use locate::Known;

/// Git for the trees of one project.
pub(crate) struct Git {
    /// Where the shadow repository of a project without git is, and temporary indexes.
    project_dir: PathBuf,
    known: Mutex<HashMap<PathBuf, Known>>,
    /// One user of the shadow index at a time.
    shadow: tokio::sync::Mutex<()>,
}

impl Git {
    /// For the project with this private folder.
    pub fn new(project_dir: PathBuf) -> Self {
        Self { project_dir, known: Mutex::default(), shadow: tokio::sync::Mutex::new(()) }
    }
}

/// The tools of this group.
pub(crate) fn tools() -> Vec<Arc<dyn Builtin>> {
    vec![Arc::new(tools::Status::new()), Arc::new(tools::Diff::new()), Arc::new(tools::Log::new())]
}
