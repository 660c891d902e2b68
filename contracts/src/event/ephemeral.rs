//! Events that go to the bus only. Losing one loses nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, MessageId, SessionId, TaskId, ToolRunId, TurnId};

/// A volatile event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EphemeralEvent {
    /// Text of an answer as it comes. `item` is the message that it will be.
    TextDelta {
        session_id: SessionId,
        turn_id: TurnId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<TaskId>,
        agent_id: AgentId,
        item: MessageId,
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        thinking: bool,
    },
    /// An answer was cut and begins again: what `item` showed is void.
    TextReset { session_id: SessionId, turn_id: TurnId, item: MessageId },
    /// Output of a running command, as text.
    OutputChunk { session_id: SessionId, turn_id: TurnId, run_id: ToolRunId, text: String },
    /// An agent lives.
    Heartbeat { session_id: SessionId, agent_id: AgentId, rss_bytes: u64 },
}

impl EphemeralEvent {
    /// The session that it belongs to.
    pub const fn session_id(&self) -> SessionId {
        match self {
            Self::TextDelta { session_id, .. }
            | Self::TextReset { session_id, .. }
            | Self::OutputChunk { session_id, .. }
            | Self::Heartbeat { session_id, .. } => *session_id,
        }
    }
}
