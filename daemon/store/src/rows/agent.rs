//! Agents.

use air_contracts::Timestamp;
use air_contracts::event::AttemptStarted;
use air_contracts::ids::{AgentId, SessionId, TurnId, WorkspaceId};
use air_contracts::projection::Waiting;
use air_contracts::task::AgentRole;

/// An agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRow {
    pub id: AgentId,
    /// The number in `w2`.
    pub n: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub role: AgentRole,
    /// `<provider>/<model>`.
    pub model: String,
    pub workspace_id: WorkspaceId,
    pub attempt: Option<AttemptStarted>,
    /// Of a worker process.
    pub pid: Option<u32>,
    /// `running`, `succeeded`, `failed`, `lost`, `cancelled`, `timed_out`.
    pub state: String,
    /// What it last waited for; over when `until` is past.
    pub waiting: Option<Waiting>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}
