//! Workspaces and checkpoints.

use air_contracts::event::{WorkspaceCheckpointed, WorkspaceCreated};
use air_contracts::ids::WorkspaceId;
use serde_json::json as value;

use super::changes::{json, word};
use super::statements::{Insert, Update};
use super::{Changes, Entry};

pub(super) fn created(entry: Entry<'_>, body: &WorkspaceCreated, changes: &mut Changes) {
    let workspace = &body.workspace;
    let row = (entry.seq, workspace.id.hex(), word(workspace.kind), json(workspace), "open");
    changes.insert(Insert::Workspace, row);
}

pub(super) fn merge(workspace: WorkspaceId, state: &str, changes: &mut Changes) {
    changes.update(Update::Workspace, workspace.hex(), [value!(state)]);
}

pub(super) fn checkpointed(entry: Entry<'_>, body: &WorkspaceCheckpointed, changes: &mut Changes) {
    let task = body.task_id.map(|task| task.hex());
    let row = (entry.seq, body.workspace_id.hex(), body.turn_id.hex(), task, &body.purpose);
    changes.insert(Insert::Checkpoint, row);
}
