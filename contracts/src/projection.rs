//! What clients draw: views of the domain rows, and the changes between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::{ApprovalAnswer, ApprovalState, ApprovalSubject};
use crate::artifact::ArtifactRef;
use crate::error::AirError;
use crate::ids::{
    AgentId, ApprovalId, EvidenceId, MessageId, ProjectId, RequestId, SessionId, ShortRef, TaskId, ToolRunId,
    TurnId,
};
use crate::path::WirePath;
use crate::permission::Decision;
use crate::session::{SessionSettings, TurnStatus};
use crate::task::{AgentRole, AttemptSummary, Blocker, CriterionOutcome, TaskStatus, TaskType};
use crate::time::Timestamp;
use crate::tool::ToolStatus;

/// The state of a session as people name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// No turn yet.
    New,
    Working,
    /// A question is open.
    WaitingForYou,
    /// The last turn ended well.
    Done,
    Failed,
    Blocked,
    Interrupted,
    Budget,
    Closed,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    pub id: SessionId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub title: String,
    pub state: SessionState,
    pub project: ProjectId,
    pub settings: SessionSettings,
    pub turns: u32,
    pub cost_usd: f64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Short references of open questions.
    pub open_approvals: Vec<ShortRef>,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnView {
    pub id: TurnId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub session_id: SessionId,
    pub status: TurnStatus,
    pub text: String,
    pub answer: Option<String>,
    pub error: Option<AirError>,
    pub blockers: Vec<Blocker>,
    pub submitted_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// One thing of a conversation, in the order of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemView {
    /// The sequence number of the event that made it: the place in the conversation, and the page cursor.
    pub seq: u64,
    pub turn_id: TurnId,
    pub task: Option<ShortRef>,
    pub at: Timestamp,
    pub body: ItemBody,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemBody {
    UserMessage {
        id: MessageId,
        text: String,
    },
    /// Prose of a model. A claim, never a proof.
    AssistantMessage {
        id: MessageId,
        text: String,
        thinking: String,
    },
    ToolRun {
        run: ToolRunView,
    },
    Approval {
        approval: ApprovalView,
    },
    Evidence {
        evidence: EvidenceView,
    },
    /// The end of a turn, with the answer where no message holds it.
    TurnEnded {
        status: TurnStatus,
        answer: String,
    },
    /// A line of the runtime: `aird restarted`, `waits for anthropic`.
    Notice {
        text: String,
    },
}

/// A tool run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRunView {
    pub id: ToolRunId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub turn_id: TurnId,
    pub task: Option<ShortRef>,
    pub agent: Option<ShortRef>,
    pub tool: String,
    /// The object: a path, a command.
    pub title: String,
    pub decision: Decision,
    /// `None` while it runs.
    pub status: Option<ToolStatus>,
    pub summary: String,
    pub exit_code: Option<i32>,
    pub started_at: Timestamp,
    pub duration_ms: Option<u64>,
    pub written: Vec<WirePath>,
    pub artifacts: Vec<ArtifactRef>,
    pub error: Option<AirError>,
    /// How its outcome was found out, where a crash lay between.
    pub reconciled: String,
    /// What the model read; whole in `tool_run/list`, first 2 KB in projections.
    pub content: String,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    pub id: TaskId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    #[serde(rename = "type")]
    pub kind: TaskType,
    pub title: String,
    pub status: TaskStatus,
    pub reason: String,
    pub summary: String,
    /// From 1: how many layers of tasks lie before it, plus one.
    pub wave: u32,
    pub after: Vec<ShortRef>,
    pub attempts: Vec<AttemptSummary>,
    pub criteria: Vec<CriterionOutcome>,
    pub changed_files: Vec<WirePath>,
    pub foreign_files: Vec<WirePath>,
    pub blocker: Option<Blocker>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentView {
    pub id: AgentId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub session_id: SessionId,
    pub role: AgentRole,
    /// `running`, `succeeded`, `failed`, `lost`, `cancelled`, `timed_out`.
    pub state: String,
    pub task: Option<ShortRef>,
    pub model: String,
    pub context_used: u32,
    pub context_limit: u32,
    pub cost_usd: f64,
    pub rss_bytes: u64,
    pub since: Timestamp,
    pub waiting: Option<Waiting>,
}

/// What something waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    pub reason: String,
    pub until: Option<Timestamp>,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalView {
    pub id: ApprovalId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub session_id: SessionId,
    pub session: ShortRef,
    pub turn_id: TurnId,
    pub task: Option<ShortRef>,
    pub state: ApprovalState,
    pub asked_at: Timestamp,
    pub subject: ApprovalSubject,
    pub answer: Option<ApprovalAnswer>,
}

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceView {
    pub id: EvidenceId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub task: ShortRef,
    pub criterion: String,
    /// `check_passed`, `diff`, `review`.
    pub kind: String,
    /// A write of the turn came after it.
    pub stale: bool,
    pub weaker: bool,
    pub run: Option<ShortRef>,
    pub baseline: Option<ShortRef>,
    pub tree: String,
    pub command: Option<String>,
    pub exit_code: Option<i32>,
    pub artifact: Option<ArtifactRef>,
    pub note: String,
    pub recorded_at: Timestamp,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestView {
    pub id: RequestId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub role: AgentRole,
    pub task: Option<ShortRef>,
    pub model: String,
    pub at: Timestamp,
    pub tokens: u32,
}

/// The line at the bottom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HudView {
    pub model: String,
    pub context_used: u32,
    pub context_limit: u32,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    pub cost_usd: f64,
    pub max_cost_usd: Option<f64>,
    pub workers: u32,
    pub daemon_version: String,
    pub daemon_rss_bytes: u64,
}

/// A session as it is at `seq`, with bounded tails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionSnapshot {
    pub seq: u64,
    pub session: SessionView,
    /// The last 20.
    pub turns: Vec<TurnView>,
    /// The last 100, oldest first.
    pub items: Vec<ItemView>,
    /// Of the turns above.
    pub tasks: Vec<TaskView>,
    /// Those that run.
    pub agents: Vec<AgentView>,
    /// Those that are open.
    pub approvals: Vec<ApprovalView>,
    pub hud: HudView,
}

/// One change of a projection: an object as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProjectionChange {
    Session {
        session: Box<SessionView>,
    },
    Turn {
        turn: Box<TurnView>,
    },
    /// New, or the one with this `seq` as it is now.
    Item {
        item: Box<ItemView>,
    },
    Task {
        task: Box<TaskView>,
    },
    Agent {
        agent: Box<AgentView>,
    },
    Approval {
        approval: Box<ApprovalView>,
    },
    Hud {
        hud: Box<HudView>,
    },
}

/// Usage, summed up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UsageRow {
    pub role: Option<AgentRole>,
    pub agent: Option<ShortRef>,
    pub task: Option<ShortRef>,
    pub model: String,
    pub requests: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub cost_usd: f64,
}

/// A request, opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextView {
    pub request: RequestView,
    pub assembled: Value,
    /// The request as it was sent, canonical form.
    pub body: Option<Value>,
}
