//! `turn/*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{ProjectId, SessionId, ShortRef, TaskId, TurnId};
use crate::path::WirePath;
use crate::projection::UsageRow;
use crate::session::{Attachment, TurnOptions};
use crate::task::{Blocker, CriterionOutcome, TaskStatus};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnSubmitParams {
    pub project_id: ProjectId,
    /// Id, short reference, `latest` (made where there is none) or `new`.
    pub session: String,
    /// The client's own key; the same one again returns the same turn.
    #[serde(default)]
    pub client_id: Option<String>,
    pub text: String,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub options: TurnOptions,
    /// For a session that this call makes.
    #[serde(default)]
    pub ephemeral: bool,
}

/// The message is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnSubmitResult {
    pub turn_id: TurnId,
    pub turn: ShortRef,
    pub session_id: SessionId,
    pub session: ShortRef,
    pub seq: u64,
    /// Whether an earlier turn of the session has to end first.
    pub queued: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnRefParams {
    pub project_id: ProjectId,
    pub turn: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnInterruptResult {
    /// The turn that was ended; `null` when none was active.
    pub turn_id: Option<TurnId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnContinueParams {
    pub project_id: ProjectId,
    pub session: String,
    #[serde(default)]
    pub note: Option<String>,
    /// A higher limit, after `budget`.
    #[serde(default)]
    pub max_cost_usd: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnWaitParams {
    pub project_id: ProjectId,
    /// Id, short reference, or `latest`.
    pub turn: String,
    /// Milliseconds, at most 30,000: then the state as it is.
    pub timeout_ms: u64,
    /// Whether to return when only an approval can advance the turn.
    #[serde(default)]
    pub until_approval: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnListParams {
    pub project_id: ProjectId,
    pub session: String,
    #[serde(default)]
    pub limit: Option<u32>,
}

/// How a turn stands, in the words of `air submit --wait`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    Completed,
    Answered,
    Failed,
    Blocked,
    /// Not ended: only an approval can advance it.
    Waiting,
    Interrupted,
    Budget,
    Cancelled,
    /// Not ended, and going on.
    Running,
}

/// What `air submit --wait --output json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnOutcome {
    pub turn_id: TurnId,
    pub turn: ShortRef,
    pub session_id: SessionId,
    pub session: ShortRef,
    pub status: OutcomeStatus,
    pub answer: String,
    pub tasks: Vec<TaskOutcome>,
    pub changed_files: Vec<WirePath>,
    pub usage: UsageRow,
    pub blockers: Vec<Blocker>,
    /// Open questions of the turn.
    pub approvals: Vec<ShortRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<crate::AirError>,
    pub duration_ms: u64,
    /// The tree that was verified, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The answer as JSON, where a schema was asked for and it matches.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub structured: Value,
}

/// One task of an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskOutcome {
    pub id: TaskId,
    #[serde(rename = "ref")]
    pub short: ShortRef,
    pub title: String,
    pub status: TaskStatus,
    pub criteria: Vec<CriterionOutcome>,
    pub changed_files: Vec<WirePath>,
}
