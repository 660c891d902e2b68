//! Workspaces, checkpoints, merges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{TaskId, TurnId, WorkspaceId};
use crate::path::WirePath;
use crate::workspace::{Checkpoint, WorkspaceRef};

/// A workspace is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCreated {
    pub workspace: WorkspaceRef,
}

/// The state of a workspace was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCheckpointed {
    pub workspace_id: WorkspaceId,
    pub turn_id: TurnId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// `turn_start`, `task_start`, `verified`, `completed`.
    pub purpose: String,
    pub checkpoint: Checkpoint,
}

/// A worktree is being brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceMergeStarted {
    pub workspace_id: WorkspaceId,
    pub into: WorkspaceId,
}

/// It was brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceMergeCompleted {
    pub workspace_id: WorkspaceId,
    pub into: WorkspaceId,
    pub tree: String,
}

/// It could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceMergeConflicted {
    pub workspace_id: WorkspaceId,
    pub into: WorkspaceId,
    pub paths: Vec<WirePath>,
}
