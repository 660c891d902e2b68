//! Workspaces and checkpoints.

use air_contracts::error::codes;
use air_contracts::event::WorkspaceCheckpointed;
use air_contracts::ids::{TaskId, TurnId, WorkspaceId};
use air_contracts::workspace::WorkspaceRef;
use air_contracts::{AirError, Result};

use crate::Store;
use crate::read::{Columns, payload};

const CHECKPOINTS: &str = "SELECT e.type, e.version, e.payload FROM checkpoints AS c \
    JOIN events AS e ON e.seq = c.seq WHERE c.turn = ? ORDER BY c.seq";

fn workspace(row: Columns<'_>) -> Result<WorkspaceRef> {
    row.json(0)
}

impl Store {
    /// A workspace. `io.not_found` where there is none.
    pub async fn workspace(&self, id: WorkspaceId) -> Result<WorkspaceRef> {
        let query = sqlx::query("SELECT body FROM workspaces WHERE id = ?").bind(id.as_bytes().to_vec());
        let missing = || AirError::new(codes::IO_NOT_FOUND, format!("no workspace {id}"));
        self.row(query, workspace).await?.ok_or_else(missing)
    }

    /// All workspaces, oldest first.
    pub async fn workspaces(&self) -> Result<Vec<WorkspaceRef>> {
        self.rows(sqlx::query("SELECT body FROM workspaces ORDER BY seq"), workspace).await
    }

    /// The user's own tree.
    pub async fn user_workspace(&self) -> Result<Option<WorkspaceRef>> {
        let sql = "SELECT body FROM workspaces WHERE kind = 'user_tree' ORDER BY seq LIMIT 1";
        self.row(sqlx::query(sql), workspace).await
    }

    /// The checkpoints of a turn, oldest first.
    pub async fn checkpoints(&self, turn: TurnId) -> Result<Vec<WorkspaceCheckpointed>> {
        let query = sqlx::query(CHECKPOINTS).bind(turn.as_bytes().to_vec());
        self.rows(query, |row| payload!(row.body(0)?, WorkspaceCheckpointed)).await
    }

    /// The newest checkpoint of a turn for a purpose; of this task, or with `None` of the turn itself.
    pub async fn last_checkpoint(
        &self,
        turn: TurnId,
        task: Option<TaskId>,
        purpose: &str,
    ) -> Result<Option<WorkspaceCheckpointed>> {
        let all = self.checkpoints(turn).await?;
        Ok(all.into_iter().rfind(|checkpoint| checkpoint.task_id == task && checkpoint.purpose == purpose))
    }
}
