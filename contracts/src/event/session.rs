//! Sessions, turns and messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, InstanceId, MessageId, RequestId, SessionId, TaskId, TurnId};
use crate::message::{ContentBlock, MessageRole};
use crate::session::{Attachment, ForkedFrom, SessionSettings, TurnOptions, TurnStatus};
use crate::task::Blocker;

/// A daemon opened this project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeStarted {
    pub instance_id: InstanceId,
    pub version: String,
}

/// A session began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCreated {
    pub session_id: SessionId,
    /// The number in `s3`.
    pub n: u64,
    pub settings: SessionSettings,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
}

/// The settings of a session are now these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionConfigured {
    pub session_id: SessionId,
    pub settings: SessionSettings,
}

/// The processes of a session were ended. It can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionClosed {
    pub session_id: SessionId,
}

/// A message of the user was taken over, durably.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnSubmitted {
    pub session_id: SessionId,
    pub turn_id: TurnId,
    /// The number in `t12`.
    pub n: u64,
    /// The client's own key: the same one again is the same turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub options: TurnOptions,
}

/// A turn left the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    pub turn_id: TurnId,
}

/// A turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnded {
    pub turn_id: TurnId,
    pub status: TurnStatus,
    /// What the user is told.
    #[serde(default)]
    pub answer: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    /// Why it failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<crate::AirError>,
}

/// An ended turn goes on under its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnResumed {
    pub turn_id: TurnId,
    /// `continue`, `retry`.
    pub reason: String,
    /// What the user added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The user steered a running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementChanged {
    pub turn_id: TurnId,
    pub text: String,
}

/// A message was added to a transcript: the conversation, or that of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageAppended {
    pub message_id: MessageId,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    /// The task whose transcript it belongs to; `None` for the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The request that this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    pub role: MessageRole,
    pub content: crate::artifact::Stored<Vec<ContentBlock>>,
}
