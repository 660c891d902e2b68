//! What a path means for the runtime, and what may be done to it.

mod classify;
mod credential;
mod names;
mod rebuildable;
mod resolve;

use std::path::{Path, PathBuf};

use air_contracts::permission::{Decision, RiskLevel};

use crate::facts::{Boundaries, FsFacts};
pub(crate) use credential::{glob_may_name_secret, is_public_template};
pub(crate) use rebuildable::is_rebuildable;
pub(crate) use resolve::{Resolved, normalise, resolve};

/// What is to be done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathOp {
    Read,
    Write,
    Delete,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathClass {
    /// An ordinary file of the workspace.
    Project,
    /// The root of the workspace or of the project.
    ProjectRoot,
    /// Neither the project nor anything special.
    Outside,
    /// `.git` and the like: decides what version control runs and remembers.
    VcsInternal,
    /// State of the runtime that only the runtime touches.
    RuntimePrivate,
    /// The permission files.
    RuntimePolicy,
    /// Rules and settings of the project for the runtime.
    RuntimeShared,
    /// Secrets.
    Credential,
    /// Directories of the system.
    System,
    /// Devices, pipes, sockets, open descriptors.
    Device,
    /// No path that the kernel would take.
    Invalid,
}

/// The answer about a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathVerdict {
    pub class: PathClass,
    pub level: RiskLevel,
    pub decision: Decision,
    /// The path after links; as far as it could be resolved.
    pub resolved: PathBuf,
    /// One sentence for people.
    pub reason: String,
}

impl PathVerdict {
    pub(crate) fn new(
        class: PathClass,
        level: RiskLevel,
        decision: Decision,
        resolved: PathBuf,
        reason: impl Into<String>,
    ) -> Self {
        Self { class, level, decision, resolved, reason: reason.into() }
    }

    /// The stricter of two answers about the same call.
    pub(crate) fn stricter(self, other: Self) -> Self {
        if (other.decision, other.level) > (self.decision, self.level) { other } else { self }
    }
}

/// Judges `op` on `path` (relative to the workspace root, or absolute; a leading `~` means home).
///
/// Links are followed as the kernel would, except the last component for [`PathOp::Delete`]. Names with a
/// meaning (`.git`, `.ssh`, …) are compared without case, whatever the volume does.
pub fn classify_path(path: &Path, op: PathOp, boundaries: &Boundaries, facts: &dyn FsFacts) -> PathVerdict {
    classify::classify(path, op, boundaries, facts)
}
