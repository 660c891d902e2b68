//! `task/*`, `agent/*`, `evidence/list`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::ProjectId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub turn: Option<String>,
    #[serde(default)]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRefParams {
    pub project_id: ProjectId,
    pub task: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancelParams {
    pub project_id: ProjectId,
    pub task: String,
    #[serde(default)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRetryParams {
    pub project_id: ProjectId,
    pub task: String,
    #[serde(default)]
    pub note: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentListParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub session: Option<String>,
    /// Ended ones too.
    #[serde(default)]
    pub all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceListParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    pub turn: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
}
