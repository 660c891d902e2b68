//! `session/*`, `draft/*`, `ui_state/*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::ProjectId;
use crate::session::SessionSettings;

/// Names a session by id or short reference; `latest` is the one with the newest turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRefParams {
    pub project_id: ProjectId,
    pub session: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCreateParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub settings: SessionSettings,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionListParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Option<u32>,
}

/// Absent fields stay as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionConfigureParams {
    pub project_id: ProjectId,
    pub session: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub approve: Option<crate::permission::ApproveMode>,
    #[serde(default)]
    pub limits: Option<crate::session::SessionLimits>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Draft {
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DraftSetParams {
    pub project_id: ProjectId,
    pub session: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UiStateGetParams {
    pub project_id: ProjectId,
    pub key: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiStateSetParams {
    pub project_id: ProjectId,
    pub key: String,
    /// At most 64 KB of JSON.
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UiState {
    /// `null` where nothing is stored.
    pub value: Value,
}
