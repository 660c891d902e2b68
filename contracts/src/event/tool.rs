//! Tool runs and artifacts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::{ArtifactRef, Stored};
use crate::error::AirError;
use crate::ids::{AgentId, AttemptId, EvidenceId, SessionId, TaskId, ToolRunId, TurnId, WorkspaceId};
use crate::path::WirePath;
use crate::permission::PermissionDecision;
use crate::tool::{EffectClass, ToolStatus};

/// A call passed the gate and is about to have its effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStarted {
    pub run_id: ToolRunId,
    /// The number in `r41`.
    pub n: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_id: Option<AttemptId>,
    pub workspace_id: WorkspaceId,
    /// The model's id of the call, or one of the runtime's own.
    pub call_id: String,
    /// Canonical.
    pub tool: String,
    /// The normalised input.
    pub input: Stored<Value>,
    /// Names and forms that were mapped: `file_path → path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub class: EffectClass,
    pub intent: Intent,
    pub decision: PermissionDecision,
    /// For people: the object of the call: `src/a.cpp`, a command.
    pub title: String,
}

/// What is needed to find out later whether the effect happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Intent {
    /// Nothing: run it again, or look in the log.
    None,
    /// Files with their hashes before and after.
    Files { files: Vec<FileIntent> },
    /// A command: its run folder is `runs/<run_id>`.
    Command { command: String, cwd: std::path::PathBuf, timeout_ms: u64, background: bool },
}

/// One file of a verifiable intent. Hashes are SHA-256; `None`: the file is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileIntent {
    pub path: WirePath,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A call ended with a result, whatever a command's exit code was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCompleted {
    pub run_id: ToolRunId,
    pub summary: String,
    /// What the model reads.
    pub content: Stored<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that this call wrote; each call with any raises the turn's `write_seq` by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<WirePath>,
    /// Whether it may have written somewhere that the runtime did not watch (a command).
    #[serde(default)]
    pub may_have_written: bool,
    pub duration_ms: u64,
    /// How it was found out, where a crash lay between: `adopted`, `exit file`, `hashes`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reconciled: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandOutcome>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandOutcome {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default)]
    pub timed_out: bool,
    /// True size of the output in bytes, kept or not.
    pub output_bytes: u64,
    /// Processes that were left when the shell had ended, and were ended.
    #[serde(default)]
    pub survivors: u32,
    pub wall_ms: u64,
}

/// A call was refused, failed, was cancelled, or its outcome is unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFailed {
    pub run_id: ToolRunId,
    pub status: ToolStatus,
    pub error: AirError,
    /// What the model reads.
    pub content: Stored<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reconciled: String,
    /// Set where there was no `tool.started`: what was refused before it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<ToolStarted>>,
}

/// Bytes were stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactCreated {
    pub artifact: ArtifactRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<ToolRunId>,
}
