//! Trees that tools act on, and checkpoints of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::WorkspaceId;

/// What a workspace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceKind {
    /// The user's own tree.
    UserTree,
    /// A git worktree under `$AIR_HOME/workspaces/`.
    Worktree,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceRef {
    pub id: WorkspaceId,
    pub kind: WorkspaceKind,
    /// Canonical absolute root.
    pub root: std::path::PathBuf,
}

/// A saved state of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// `refs/air/…`, empty where only the tree id was taken.
    pub git_ref: String,
    /// The git tree id.
    pub tree: String,
}

/// One changed file between two trees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub path: crate::path::WirePath,
    /// `added`, `modified`, `deleted`, `type_changed`.
    pub status: String,
    /// `None` for binary files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
}
