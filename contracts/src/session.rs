//! Sessions and turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, TurnId};
use crate::permission::ApproveMode;

/// Limits of a session or of one submit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionLimits {
    /// US dollars; a request that would start beyond it is not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Turns of one attempt with the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_model_calls: Option<u32>,
}

/// What a session is set to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionSettings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default)]
    pub approve: ApproveMode,
    #[serde(default)]
    pub limits: SessionLimits,
    #[serde(default)]
    pub ephemeral: bool,
}

/// Where a session came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkedFrom {
    pub session_id: SessionId,
    pub turn_id: TurnId,
}

/// Where a turn stands, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    Queued,
    Running,
    /// All tasks are completed.
    Completed,
    /// Answered without a task.
    Answered,
    Failed,
    Blocked,
    Interrupted,
    Budget,
    /// Removed from the queue before it began.
    Cancelled,
}

impl TurnStatus {
    /// Whether `turn.ended` was written for it.
    pub const fn is_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// Options of one submit, over those of its session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TurnOptions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<ApproveMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// A JSON Schema that the final answer must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_schema: Option<serde_json::Value>,
}

/// A file or text that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    pub name: String,
    pub text: String,
}
