//! `approval/*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalDecision;
use crate::ids::ProjectId;
use crate::permission::GrantScope;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalListParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub session: Option<String>,
    /// Closed ones too.
    #[serde(default)]
    pub all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswerParams {
    pub project_id: ProjectId,
    pub approval: String,
    /// For a call.
    #[serde(default)]
    pub decision: Option<ApprovalDecision>,
    /// For a question.
    #[serde(default)]
    pub answer: Option<String>,
    #[serde(default)]
    pub scope: Option<GrantScope>,
    #[serde(default)]
    pub note: Option<String>,
}
