//! Tasks and evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, TaskId, ToolRunId};
use crate::path::WirePath;
use crate::task::{Blocker, CriterionOutcome, TaskSpec, TaskStatus};

/// A task entered the graph of its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCreated {
    pub session_id: SessionId,
    /// The number in `k4`.
    pub n: u64,
    pub task: TaskSpec,
}

/// A task is now in this state. Fields that are absent stay as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStatusChanged {
    pub task_id: TaskId,
    pub status: TaskStatus,
    /// One sentence: why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Vec<CriterionOutcome>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<Vec<WirePath>>,
    /// Paths that something else changed meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_files: Option<Vec<WirePath>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Blocker>,
    /// The user's note to a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Evidence was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceRecorded {
    pub session_id: SessionId,
    pub evidence: crate::evidence::Evidence,
}

/// A message of a tool was parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticRecorded {
    pub session_id: SessionId,
    pub run_id: ToolRunId,
    pub diagnostic: crate::diagnostic::Diagnostic,
}
