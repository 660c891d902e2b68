//! Agents and attempts. An attempt begins with `agent.started` and ends with one of the other two.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, AttemptId, SessionId, TaskId, TurnId, WorkspaceId};
use crate::task::{AgentRole, AttemptStatus, FailureClass};

/// An agent began: a worker with an attempt, or an actor inside the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStarted {
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub agent_id: AgentId,
    /// The number in `w2`.
    pub n: u64,
    pub role: AgentRole,
    /// `<provider>/<model>`.
    pub model: String,
    pub workspace_id: WorkspaceId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptStarted>,
    /// Of a worker process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// The attempt that an agent runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptStarted {
    pub task_id: TaskId,
    pub attempt_id: AttemptId,
    /// From 1 within the task.
    pub n: u32,
}

/// An agent ended in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentEnded {
    pub agent_id: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
    /// `succeeded` means: the worker returned a result. Verification decides about the task.
    pub status: AttemptStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Signature of the failure, to see whether an attempt made progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure_instances: Vec<String>,
}

/// A worker vanished, fell silent, or was left behind by a daemon that died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentLost {
    pub agent_id: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
    pub reason: String,
}
