//! Requests to models: what they held, what they cost, what they wait for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactRef;
use crate::error::AirError;
use crate::ids::{AgentId, MessageId, RequestId, SessionId, SummaryId, TaskId, TurnId};
use crate::provider::{Effort, TokenUsage};
use crate::task::AgentRole;
use crate::time::Timestamp;

/// A layer of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerRecord {
    /// `L0` … `L9`, `tools`.
    pub layer: String,
    /// `runtime rules`, `AGENTS.md`.
    pub what: String,
    /// Estimated tokens.
    pub tokens: u32,
    /// SHA-256 of its text.
    pub hash: String,
    /// Where it comes from: `built in`, a path, `t12`.
    pub from: String,
}

/// What was left out of a context, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Omission {
    pub what: String,
    pub why: String,
}

/// A conflict between layers, and how it was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextConflict {
    /// `policy`, `architecture`, `user_rule`, `evidence`, `provider`.
    pub kind: String,
    pub what: String,
    pub action: String,
}

/// A request to a model is about to be sent. With the artifact and the messages it can be rebuilt byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextAssembled {
    pub request_id: RequestId,
    /// The number in `c88`.
    pub n: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    pub role: AgentRole,
    /// `<provider>/<model>`.
    pub model: String,
    /// JSON of system blocks, tools and the messages before the transcript; the same for a whole attempt.
    pub base: ArtifactRef,
    pub layers: Vec<LayerRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omissions: Vec<Omission>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ContextConflict>,
    /// The transcript messages that were sent: from this one (`None`: the first) by order of the log …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_message: Option<MessageId>,
    /// … to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through_message: Option<MessageId>,
    /// L9, the volatile block, as it was sent; it is in no transcript.
    pub volatile: String,
    pub max_output_tokens: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Estimated tokens of the whole.
    pub tokens: u32,
    pub context_window: u32,
    /// SHA-256 over the identities of its parts: base, messages, volatile block, model, limits.
    pub hash: String,
}

/// A context no longer fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextCompactionRequested {
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub tokens: u32,
    pub limit: u32,
}

/// A context was made smaller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextCompactionCompleted {
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_id: Option<SummaryId>,
    pub tokens_before: u32,
    pub tokens_after: u32,
}

/// A summary of a range of messages was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryCreated {
    pub summary_id: SummaryId,
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub from_message: MessageId,
    pub to_message: MessageId,
    pub artifact: ArtifactRef,
}

/// A request was answered; what it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRecorded {
    pub request_id: RequestId,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    pub role: AgentRole,
    pub model: String,
    pub usage: TokenUsage,
    /// `None`: no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// A request waits for its provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderWaiting {
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub agent_id: AgentId,
    pub model: String,
    pub error: AirError,
    pub until: Timestamp,
}

/// The Architecture Designer judged a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArchitectureImpactCompleted {
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub summary: String,
}
