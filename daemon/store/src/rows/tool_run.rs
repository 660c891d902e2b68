//! Tool runs.

use air_contracts::artifact::{ArtifactRef, Stored};
use air_contracts::event::{CommandOutcome, ToolStarted};
use air_contracts::ids::{EvidenceId, SessionId, TaskId, TurnId};
use air_contracts::path::WirePath;
use air_contracts::tool::ToolStatus;
use air_contracts::{AirError, Timestamp};
use serde_json::Value;

/// A tool run: how it began, and how it ended where it has. Fields of its beginning are reached directly (`run.tool`).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRunRow {
    pub started: ToolStarted,
    /// Of `tool.started`, or of the `tool.failed` that refused it.
    pub seq: u64,
    pub started_at: Timestamp,
    /// `None` while it runs.
    pub status: Option<ToolStatus>,
    pub summary: String,
    /// What the model reads.
    pub content: Option<Stored<String>>,
    pub artifacts: Vec<ArtifactRef>,
    pub evidence: Vec<EvidenceId>,
    pub exit_code: Option<i32>,
    pub written: Vec<WirePath>,
    pub may_have_written: bool,
    pub duration_ms: Option<u64>,
    pub error: Option<AirError>,
    /// How its outcome was found out, where a crash lay between.
    pub reconciled: String,
    pub command: Option<CommandOutcome>,
    pub data: Value,
    pub ended_at: Option<Timestamp>,
}

impl std::ops::Deref for ToolRunRow {
    type Target = ToolStarted;

    fn deref(&self) -> &ToolStarted {
        &self.started
    }
}

/// Which tool runs: what is given must match. The newest `limit` are returned, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolRunFilter {
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    pub task: Option<TaskId>,
    /// 1,000 where it is absent.
    pub limit: Option<u32>,
}
