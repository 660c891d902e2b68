//! Tasks and attempts.

use air_contracts::Timestamp;
use air_contracts::ids::{AgentId, AttemptId, SessionId, TaskId, TurnId};
use air_contracts::path::WirePath;
use air_contracts::task::{AttemptStatus, Blocker, CriterionOutcome, FailureClass, TaskSpec, TaskStatus};

/// A task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    pub id: TaskId,
    /// The number in `k4`.
    pub n: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub spec: TaskSpec,
    pub status: TaskStatus,
    /// Why it has this status; empty where nothing is to say.
    pub reason: String,
    pub summary: String,
    pub criteria: Vec<CriterionOutcome>,
    pub changed_files: Vec<WirePath>,
    pub foreign_files: Vec<WirePath>,
    /// Only while it is blocked or failed.
    pub blocker: Option<Blocker>,
    /// The user's note to the last retry.
    pub note: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    pub id: AttemptId,
    pub task_id: TaskId,
    pub agent_id: AgentId,
    /// From 1 within the task.
    pub n: u32,
    pub status: AttemptStatus,
    pub failure_class: Option<FailureClass>,
    pub note: String,
    pub failure_instances: Vec<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}
