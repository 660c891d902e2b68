//! `projection/*`, `item/list`, `tool_run/list`, and the notifications of a subscription.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, MessageId, ProjectId, SessionId, TaskId, ToolRunId, TurnId};
use crate::projection::ProjectionChange;

/// The notification that carries [`ProjectionChanged`].
pub const PROJECTION_CHANGED: &str = "projection/changed";
/// The notification that carries [`StreamDelta`].
pub const STREAM_DELTA: &str = "stream/delta";
/// The notification that carries [`StreamResync`].
pub const STREAM_RESYNC: &str = "stream/resync";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeParams {
    pub project_id: ProjectId,
    pub session: String,
    /// The `seq` of the snapshot that the client holds.
    pub after_seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeResult {
    /// The newest `seq` of the project now.
    pub seq: u64,
}

/// Objects of the session that changed up to `seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionChanged {
    pub session_id: SessionId,
    pub seq: u64,
    pub changes: Vec<ProjectionChange>,
}

/// Volatile text: of an answer, or of a running command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamDelta {
    pub session_id: SessionId,
    pub turn: TurnId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The message that it will be, for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<MessageId>,
    /// The run whose output it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ToolRunId>,
    pub text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thinking: bool,
    /// What `item` showed so far is void.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

/// The client was too slow: take a new snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamResync {
    pub session_id: SessionId,
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemListParams {
    pub project_id: ProjectId,
    pub session: String,
    /// Items older than this `seq`; the newest ones where absent.
    #[serde(default)]
    pub before: Option<u64>,
    /// At most 500.
    #[serde(default)]
    pub limit: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRunListParams {
    pub project_id: ProjectId,
    /// One run, by id or short reference.
    #[serde(default)]
    pub run: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    pub limit: Option<u32>,
}
