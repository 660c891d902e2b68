//! Tasks, attempts, roles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{AttemptId, EvidenceId, TaskId, TurnId};

/// What an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentRole {
    Main,
    ArchitectureDesigner,
    Scheduler,
    Executor,
    Reviewer,
    Debugger,
    Compactor,
    ExperienceMiner,
    /// The runtime itself: verification, baseline.
    Runtime,
}

/// What a task is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    #[default]
    Implement,
    Build,
    Test,
    Review,
    Debug,
    Design,
    Compact,
    Mine,
    MergeRepair,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    Pending,
    Ready,
    Running,
    Verifying,
    Reviewing,
    Completed,
    Failed,
    Blocked,
    Cancelled,
}

impl TaskStatus {
    /// Whether nothing happens any more by itself. `Blocked` waits for a person and counts as ended.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Blocked | Self::Cancelled)
    }
}

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    Starting,
    Running,
    Checkpointed,
    Succeeded,
    Failed,
    Lost,
    TimedOut,
    Cancelled,
}

/// Why an attempt did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    Provider,
    Tool,
    /// Checks failed after the worker said it was done.
    Verification,
    LostWorker,
    Timeout,
    /// The worker itself says that it cannot.
    Blocked,
    Budget,
}

/// One observable sentence that must hold, with a command that can prove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    pub text: String,
    /// A shell command, or the name of a project check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// How far a criterion is shown to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionState {
    /// A check ran on the final tree and passed.
    Proved,
    /// A reviewer accepted it.
    Reviewed,
    /// Nothing that runs can show it, or nothing has.
    Unproved,
    /// Its check failed.
    Failed,
    /// It was proved, and the tree changed after that.
    Stale,
}

/// A criterion with its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionOutcome {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    pub state: CriterionState,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceId>,
    /// One line: `ctest 3 of 3, before 2 of 3`, or why it is not proved.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Whether a reviewer looks at a task's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewPolicy {
    #[default]
    Auto,
    Always,
    Never,
}

/// What must run before a task is complete.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct VerificationPolicy {
    /// Commands beyond the project's own checks. A task adds, it never removes.
    #[serde(default)]
    pub extra_checks: Vec<String>,
    #[serde(default)]
    pub review: ReviewPolicy,
}

/// Where a task may write, as globs relative to the root. Empty means: unknown, so anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskScope {
    #[serde(default)]
    pub write: Vec<String>,
    #[serde(default)]
    pub deny: Vec<String>,
}

/// Limits of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskConstraints {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Wall time of one attempt; waiting for a person does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSpec {
    pub id: TaskId,
    pub turn_id: TurnId,
    #[serde(rename = "type")]
    pub kind: TaskType,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The user's own words, attached by the runtime, verbatim.
    pub user_text: String,
    /// The part of the message that this task is, where one message became several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    #[serde(default)]
    pub acceptance_criteria: Vec<Criterion>,
    #[serde(default)]
    pub scope: TaskScope,
    /// Tasks that must be completed before.
    #[serde(default)]
    pub dependencies: Vec<TaskId>,
    #[serde(default)]
    pub verification: VerificationPolicy,
    #[serde(default)]
    pub constraints: TaskConstraints,
    /// Paths, artifacts, runs that the worker should look at first.
    #[serde(default)]
    pub context_refs: Vec<String>,
    /// What the result must hold beyond the common fields, for people; empty for most.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output_contract: String,
}

/// What stops a task, and what a person can do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocker {
    pub task_id: TaskId,
    /// `verification`, `needs_review`, `worker`, `provider`, `budget`, `denied`.
    pub kind: String,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceId>,
    /// Commands that can be pasted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// An attempt, as rows and projections show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptSummary {
    pub id: AttemptId,
    /// From 1 within its task.
    pub n: u32,
    pub status: AttemptStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}
