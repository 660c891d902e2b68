//! Tools: what they are, one call, and its result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::ArtifactRef;
use crate::diagnostic::Diagnostic;
use crate::error::AirError;
use crate::event::NewEvent;
use crate::ids::{AgentId, AttemptId, EvidenceId, SessionId, TaskId, ToolRunId, TurnId, WorkspaceId};
use crate::permission::ApproveMode;
use crate::task::AgentRole;

/// How a started, unfinished run is looked at after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Has no effect: run again.
    Pure,
    /// The intent holds hashes before and after: compare with the disk.
    Verifiable,
    /// A command: exit file, living launcher, or vanished.
    Command,
    /// Its effect is rows of the log (`task.create`): the log says whether it happened.
    Logged,
}

/// A tool's group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolCategory {
    Fs,
    Shell,
    Git,
    Project,
    Artifact,
    Task,
    User,
    Check,
    Cpp,
    Debug,
    Other,
}

/// What a tool declares about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDefinition {
    /// Canonical, with dots.
    pub name: String,
    pub version: u32,
    /// For models: canonical names of other tools stand in backquotes.
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Value,
    pub category: ToolCategory,
    pub class: EffectClass,
    /// Effects that it may have, for people: `write inside the workspace`.
    pub permissions: Vec<String>,
    /// Whether it reports progress while it runs.
    pub streaming: bool,
}

/// Who calls a tool, for what, and where it acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallContext {
    pub session_id: SessionId,
    pub turn_id: TurnId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    /// The fencing token; `None` for actors inside the daemon that need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
    pub role: AgentRole,
    pub workspace_id: WorkspaceId,
    /// Canonical absolute root that relative paths start from.
    pub workspace_root: std::path::PathBuf,
    pub approve: ApproveMode,
}

/// One call of a tool, as a model or the runtime makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub context: CallContext,
    /// The model's id of the call; the runtime makes its own for its calls.
    pub call_id: String,
    /// As the model wrote it; the registry finds the canonical name.
    pub name: String,
    pub input: Value,
    /// Events that must be on disk no later than `tool.started`, in one commit with it.
    pub before: Vec<NewEvent>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what it should (a command may have ended with any exit code).
    Ok,
    /// It failed; nothing was done, or the content says what was.
    Error,
    /// The gate or the user refused it.
    Denied,
    /// It was stopped.
    Cancelled,
    /// Its outcome is unknown.
    Interrupted,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResultEnvelope {
    pub run_id: ToolRunId,
    /// The number in `r41`.
    pub run_ref: u64,
    /// Canonical name of the tool.
    pub tool: String,
    pub status: ToolStatus,
    /// One line for people: the object and the outcome.
    pub summary: String,
    /// What the model reads, canonical tool names in backquotes.
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AirError>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that this call wrote, relative to the workspace where inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<crate::path::WirePath>,
    pub duration_ms: u64,
    /// Data for the caller beside the text, by tool.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}
