//! NDJSON between `aird` and a worker: one object a line, versioned.
//!
//! The parent owns the transcript. A worker names results by call id and never sends them back; what it
//! learns of a result is its status. It asks for a model call, then for the calls of the answer, and
//! ends with `worker.result`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::AirError;
use crate::ids::{AgentId, AttemptId, SessionId, TaskId, TurnId};
use crate::provider::StopReason;
use crate::task::{AgentRole, TaskSpec};
use crate::tool::ToolStatus;
use crate::worker_result::{FinishClaim, WorkerStatus};

/// The version that both sides must share.
pub const IPC_VERSION: u32 = 1;

/// The longest line either side reads, in bytes. A longer one is a protocol error.
pub const MAX_LINE: usize = 4 * 1024 * 1024;

/// Seconds between heartbeats of a worker.
pub const HEARTBEAT_SECS: u64 = 5;

/// What a worker is started for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStart {
    pub ipc_version: u32,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub agent_id: AgentId,
    pub attempt_id: AttemptId,
    pub role: AgentRole,
    pub task: TaskSpec,
    /// Requests to the model that this attempt may make.
    pub max_model_calls: u32,
}

/// Parent to worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum ParentMessage {
    #[serde(rename = "agent.start")]
    AgentStart(Box<AgentStart>),
    /// Go on with a transcript that exists: every open call of it has a result by now.
    #[serde(rename = "agent.resume")]
    AgentResume {
        start: Box<AgentStart>,
        /// Requests that earlier attempts made.
        model_calls: u32,
    },
    /// Text of the answer as it comes; a worker may ignore it.
    #[serde(rename = "llm.delta")]
    LlmDelta { text: String },
    /// The whole answer.
    #[serde(rename = "llm.done")]
    LlmDone {
        /// Its text.
        text: String,
        calls: Vec<IpcCall>,
        stop: StopReason,
        /// Set when there is no answer: the worker ends with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AirError>,
    },
    #[serde(rename = "tool.result")]
    ToolResult {
        call_id: String,
        status: ToolStatus,
        /// One line.
        summary: String,
        /// Set for an accepted `task.finish`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finished: Option<FinishedClaim>,
    },
    #[serde(rename = "agent.cancel")]
    AgentCancel { reason: String },
    #[serde(rename = "ping")]
    Ping { n: u64 },
}

/// A call that the worker asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IpcCall {
    pub call_id: String,
    pub name: String,
    /// `None`: the model wrote invalid JSON; the parent answers such a call with an error by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// What an accepted `task.finish` said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FinishedClaim {
    pub status: WorkerStatus,
    pub claim: FinishClaim,
}

/// Worker to parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum WorkerMessage {
    /// The first line.
    #[serde(rename = "agent.ready")]
    AgentReady { ipc_version: u32, version: String, pid: u32 },
    /// Ask the model. `answered`: the calls whose results the request must hold, in order.
    #[serde(rename = "llm.request")]
    LlmRequest {
        #[serde(default)]
        answered: Vec<String>,
        /// A line for L9: `finish with task.finish`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reminder: Option<String>,
    },
    /// Run a call of the last answer. The input is the parent's own copy of it.
    #[serde(rename = "tool.call")]
    ToolCall { call_id: String },
    /// For the log of the daemon.
    #[serde(rename = "event")]
    Event { level: String, text: String },
    /// Between turns: the attempt could be parked here.
    #[serde(rename = "checkpoint")]
    Checkpoint { model_calls: u32 },
    #[serde(rename = "heartbeat")]
    Heartbeat { rss_bytes: u64 },
    #[serde(rename = "worker.result")]
    WorkerResult {
        task_id: TaskId,
        status: WorkerStatus,
        claim: FinishClaim,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<AirError>,
    },
}
