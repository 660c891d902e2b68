//! Messages of transcripts.

use air_contracts::ids::{AgentId, MessageId, RequestId, SessionId, TaskId, TurnId};
use air_contracts::message::{ContentBlock, MessageRole};

/// A message. Content that lay in an artifact is loaded; results of tools are still references.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageRow {
    pub id: MessageId,
    /// Of `message.appended`.
    pub seq: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub task_id: Option<TaskId>,
    pub agent_id: Option<AgentId>,
    pub request_id: Option<RequestId>,
    pub role: MessageRole,
    pub content: Vec<ContentBlock>,
}
