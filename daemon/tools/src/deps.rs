//! What the tools of one project work with.

use std::path::PathBuf;
use std::sync::Arc;

use air_contracts::ids::AttemptId;
use air_contracts::project::ProjectCheck;
use air_rt::{Clock, IdSource, Tasks};
use air_security::Policy;
use air_store::Store;

/// A question that is asked anew at each use, because its answer changes while the daemon runs.
pub type Ask<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// Everything that the tools of one project get from outside.
#[derive(Clone)]
pub struct ToolDeps {
    pub store: Store,
    pub clock: Clock,
    pub ids: IdSource,
    /// Owner of the runs; its shutdown leaves commands to the next daemon.
    pub tasks: Tasks,
    /// Private state of the runtime, which no tool may touch.
    pub air_home: PathBuf,
    /// Canonical root of the user's tree.
    pub project_root: PathBuf,
    /// Private state of the project: `runs/`, `grants.yaml`, `shadow.git`.
    pub project_dir: PathBuf,
    /// What may be deleted at any time: build folders, temporary files.
    pub cache_dir: PathBuf,
    /// Home directory of the user.
    pub home: PathBuf,
    /// The `air-worker` binary.
    pub launcher: PathBuf,
    /// The policy in force, from the permission files.
    pub policy: Ask<Policy>,
    /// Whether the user trusts the project.
    pub trusted: Ask<bool>,
    /// `verify` of `project.json`; `None` where the checks are to be detected.
    pub verify: Ask<Option<Vec<ProjectCheck>>>,
    /// Environment for commands, before anything is taken out of it.
    pub env: Vec<(String, String)>,
    /// Whether an attempt still holds its task. `None`: every attempt does.
    pub attempt_live: Option<Arc<dyn Fn(AttemptId) -> bool + Send + Sync>>,
}
