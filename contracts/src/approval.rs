//! Questions to the user as durable objects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{AgentId, ApprovalId, SessionId, TaskId, ToolRunId, TurnId};
use crate::permission::{Effect, GrantScope, ScopeOffer};
use crate::time::Timestamp;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalSubject {
    /// May this call run?
    ToolCall {
        tool: String,
        /// The normalised input.
        input: Value,
        effects: Vec<Effect>,
        reason: String,
        scopes: Vec<ScopeOffer>,
    },
    /// A question of the model.
    Question { text: String, options: Vec<String>, free_text: bool },
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    pub id: ApprovalId,
    /// The number in `a7`.
    pub n: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    pub run_id: ToolRunId,
    /// The model's id of the call: how a later attempt finds its question again.
    pub call_id: String,
    /// SHA-256 over tool, normalised input, directory, environment and script; an answer holds for it only.
    pub digest: String,
    pub subject: ApprovalSubject,
    pub asked_at: Timestamp,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Open,
    Answered,
    Withdrawn,
}

/// The answer to a question about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    Allow,
    Deny,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswer {
    /// For a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ApprovalDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<GrantScope>,
    /// For a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Which client: `air approve on pts/3`.
    pub by: String,
    pub at: Timestamp,
}
