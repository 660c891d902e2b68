//! What a worker returns. The runtime, not the model, fills files, artifacts and evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::ArtifactRef;
use crate::ids::{AgentId, EvidenceId, TaskId};
use crate::path::WirePath;
use crate::task::{AgentRole, CriterionOutcome};

/// What a worker says of its own work. A claim: verification decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerStatus {
    Done,
    /// Nothing needed to change.
    NoChange,
    Blocked,
    Failed,
    Cancelled,
}

/// What a worker could not settle, or saw beside the task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FinishClaim {
    pub summary: String,
    /// Evidence that the worker names for criteria, as short references.
    pub criteria: Vec<CriterionClaim>,
    pub risks: Vec<String>,
    pub blocker: Option<String>,
    pub follow_ups: Vec<String>,
}

/// A criterion, by its number from 1, with the runs or evidence that are said to prove it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CriterionClaim {
    pub n: u32,
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerResult {
    pub task_id: TaskId,
    pub agent_id: AgentId,
    pub agent_type: AgentRole,
    pub status: WorkerStatus,
    pub summary: String,
    #[serde(default)]
    pub changed_files: Vec<WirePath>,
    #[serde(default)]
    pub artifacts: Vec<ArtifactRef>,
    #[serde(default)]
    pub verification: Vec<CriterionOutcome>,
    #[serde(default)]
    pub risks: Vec<String>,
    #[serde(default)]
    pub follow_up_tasks: Vec<String>,
    #[serde(default)]
    pub evidence_refs: Vec<EvidenceId>,
    /// What the role adds: a verdict, a cause.
    #[serde(default)]
    pub result: Value,
}
