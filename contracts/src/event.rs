//! The event log: envelope, every payload, and evolution.
//!
//! A payload type is known by (type, version). A stored event of an older version goes through its
//! upcaster on read; an unknown type is data ([`EventBody::Unknown`]): kept, shown, not applied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{AirError, codes};
use crate::ids::{AgentId, EventId, ProjectId, SessionId, TaskId};
use crate::time::Timestamp;

mod agent;
mod approval;
mod context;
mod ephemeral;
mod session;
mod task;
mod tool;
mod workspace;

pub use agent::*;
pub use approval::*;
pub use context::*;
pub use ephemeral::*;
pub use session::*;
pub use task::*;
pub use tool::*;
pub use workspace::*;

/// Who caused an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    Daemon,
    Client,
    Scheduler,
    Agent,
    Tool,
    Import,
}

/// Who caused an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct EventSource {
    pub kind: SourceKind,
    /// An agent's id, a client's name, a tool's name.
    pub id: String,
}

impl EventSource {
    /// A source.
    pub fn new(kind: SourceKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into() }
    }

    /// The daemon itself.
    pub fn daemon() -> Self {
        Self::new(SourceKind::Daemon, "aird")
    }

    /// The scheduler.
    pub fn scheduler() -> Self {
        Self::new(SourceKind::Scheduler, "scheduler")
    }

    /// An agent.
    pub fn agent(id: AgentId) -> Self {
        Self::new(SourceKind::Agent, id.to_string())
    }
}

/// An event as it is stored and sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeEvent {
    pub id: EventId,
    /// Per project, gapless, from 1: the order of everything.
    pub seq: u64,
    /// Per session, gapless, from 1; 0 for events of no session.
    pub session_seq: u64,
    #[serde(rename = "type")]
    pub kind: String,
    pub version: u32,
    pub timestamp: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    pub project_id: ProjectId,
    pub source: EventSource,
    /// Topics: `session`, `task:ID`, `agent:ID`.
    pub route: Vec<String>,
    pub payload: Value,
}

impl RuntimeEvent {
    /// The typed payload, upcast to the newest version.
    pub fn body(&self) -> Result<EventBody, AirError> {
        EventBody::parse(&self.kind, self.version, self.payload.clone())
    }
}

/// An event before it has a place in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    pub session_id: Option<SessionId>,
    pub source: EventSource,
    pub task_id: Option<TaskId>,
    pub agent_id: Option<AgentId>,
    pub body: EventBody,
}

impl NewEvent {
    /// An event of a session.
    pub fn new(session_id: SessionId, source: EventSource, body: impl Into<EventBody>) -> Self {
        Self { session_id: Some(session_id), source, task_id: None, agent_id: None, body: body.into() }
    }

    /// An event of the project as a whole.
    pub fn of_project(source: EventSource, body: impl Into<EventBody>) -> Self {
        Self { session_id: None, source, task_id: None, agent_id: None, body: body.into() }
    }

    /// Adds the topic of a task.
    #[must_use]
    pub fn task(mut self, task_id: Option<TaskId>) -> Self {
        self.task_id = task_id;
        self
    }

    /// Adds the topic of an agent.
    #[must_use]
    pub fn agent(mut self, agent_id: AgentId) -> Self {
        self.agent_id = Some(agent_id);
        self
    }

    /// The topics of the envelope.
    pub fn route(&self) -> Vec<String> {
        let session = self.session_id.map(|_| "session".to_owned());
        let task = self.task_id.map(|id| format!("task:{id}"));
        let agent = self.agent_id.map(|id| format!("agent:{id}"));
        [session, task, agent].into_iter().flatten().collect()
    }
}

macro_rules! events {
    ($($name:ident = $kind:literal, $version:literal;)*) => {
        /// The payload of an event.
        #[derive(Debug, Clone, PartialEq)]
        pub enum EventBody {
            $($name($name),)*
            /// Of a type or a version that this build does not know.
            Unknown { kind: String, version: u32, payload: Value },
        }

        $(impl From<$name> for EventBody {
            fn from(payload: $name) -> Self {
                Self::$name(payload)
            }
        })*

        impl EventBody {
            /// Every type with the version that this build writes.
            pub const TYPES: &'static [(&'static str, u32)] = &[$(($kind, $version)),*];

            /// `task.created`.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$name(_) => $kind,)*
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// The version of the payload.
            pub fn version(&self) -> u32 {
                match self {
                    $(Self::$name(_) => $version,)*
                    Self::Unknown { version, .. } => *version,
                }
            }

            /// The payload as JSON text.
            pub fn payload_json(&self) -> Result<String, AirError> {
                let json = match self {
                    $(Self::$name(payload) => serde_json::to_string(payload),)*
                    Self::Unknown { payload, .. } => serde_json::to_string(payload),
                };
                json.map_err(|error| AirError::new(codes::EVENT_INVALID, format!("{}: {error}", self.kind())))
            }

            /// Reads a payload: `Unknown` for a type or a newer version that this build does not know,
            /// `event.invalid` for one that does not match its type.
            pub fn parse(kind: &str, version: u32, payload: Value) -> Result<Self, AirError> {
                let payload = upcast(kind, version, payload);
                let invalid = |error: serde_json::Error| {
                    AirError::new(codes::EVENT_INVALID, format!("{kind} version {version}: {error}"))
                };
                match kind {
                    $($kind if version <= $version => serde_json::from_value(payload).map(Self::$name).map_err(invalid),)*
                    _ => Ok(Self::Unknown { kind: kind.to_owned(), version, payload }),
                }
            }

            /// The JSON Schema of each payload, by type.
            pub fn schemas(generator: &mut schemars::SchemaGenerator) -> serde_json::Map<String, Value> {
                let mut all = serde_json::Map::new();
                $(all.insert($kind.to_owned(), generator.subschema_for::<$name>().to_value());)*
                all
            }
        }
    };
}

/// Brings a payload of an older version to the newest one. Every type is at version 1 so far.
fn upcast(_kind: &str, _version: u32, payload: Value) -> Value {
    payload
}

events! {
    RuntimeStarted = "runtime.started", 1;
    SessionCreated = "session.created", 1;
    SessionConfigured = "session.configured", 1;
    SessionClosed = "session.closed", 1;
    TurnSubmitted = "turn.submitted", 1;
    TurnStarted = "turn.started", 1;
    TurnEnded = "turn.ended", 1;
    TurnResumed = "turn.resumed", 1;
    RequirementChanged = "requirement.changed", 1;
    MessageAppended = "message.appended", 1;
    TaskCreated = "task.created", 1;
    TaskStatusChanged = "task.status", 1;
    AgentStarted = "agent.started", 1;
    AgentEnded = "agent.ended", 1;
    AgentLost = "agent.lost", 1;
    ToolStarted = "tool.started", 1;
    ToolCompleted = "tool.completed", 1;
    ToolFailed = "tool.failed", 1;
    ArtifactCreated = "artifact.created", 1;
    EvidenceRecorded = "evidence.recorded", 1;
    DiagnosticRecorded = "diagnostic.recorded", 1;
    ApprovalRequested = "approval.requested", 1;
    ApprovalAnswered = "approval.answered", 1;
    ApprovalWithdrawn = "approval.withdrawn", 1;
    ContextAssembled = "context.assembled", 1;
    ContextCompactionRequested = "context.compaction.requested", 1;
    ContextCompactionCompleted = "context.compaction.completed", 1;
    SummaryCreated = "summary.created", 1;
    UsageRecorded = "usage.recorded", 1;
    ProviderWaiting = "provider.waiting", 1;
    ArchitectureImpactCompleted = "architecture.impact.completed", 1;
    WorkspaceCreated = "workspace.created", 1;
    WorkspaceCheckpointed = "workspace.checkpointed", 1;
    WorkspaceMergeStarted = "workspace.merge.started", 1;
    WorkspaceMergeCompleted = "workspace.merge.completed", 1;
    WorkspaceMergeConflicted = "workspace.merge.conflicted", 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_type_and_a_newer_version_are_kept_as_data() {
        for (kind, version) in [("moon.rose", 1), ("session.closed", 99)] {
            let payload = serde_json::json!({ "anything": [1, 2] });
            let body = EventBody::parse(kind, version, payload.clone()).unwrap();
            assert_eq!(body, EventBody::Unknown { kind: kind.into(), version, payload });
            assert_eq!(body.payload_json().unwrap(), "{\"anything\":[1,2]}");
        }
    }

    #[test]
    fn a_payload_that_does_not_match_its_type_is_refused() {
        let error = EventBody::parse("turn.ended", 1, serde_json::json!({ "turn_id": 7 })).unwrap_err();
        assert_eq!(error.code, codes::EVENT_INVALID);
        assert!(error.message.contains("turn.ended"));
    }
}
