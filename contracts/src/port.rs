//! The ports: traits that one crate calls and another implements.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use futures_core::Stream;
use serde_json::Value;

use crate::api::Changes;
use crate::artifact::ArtifactRef;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::event::{CommandOutcome, Intent};
use crate::ids::{AgentId, SessionId, TaskId, ToolRunId, TurnId};
use crate::permission::Effect;
use crate::project::ProjectCheck;
use crate::provider::{ModelAssignment, ModelRequest, ProviderStreamEvent, ToolSpec};
use crate::task::AgentRole;
use crate::time::Timestamp;
use crate::tool::{CallContext, EffectClass, ToolCall, ToolDefinition, ToolResultEnvelope};
use crate::workspace::{Checkpoint, WorkspaceRef};

/// A boxed future, so that ports can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A boxed stream.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// Which running calls to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelScope {
    Run(ToolRunId),
    Agent(AgentId),
    Task(TaskId),
    Turn(TurnId),
    Session(SessionId),
}

/// The only way to run a tool. The scheduler and the agents call it, `tools` implements it.
pub trait ToolExecutor: Send + Sync {
    /// The tools that a role sees in a model family, sorted by name.
    fn visible(&self, role: AgentRole, family: &str) -> Vec<ToolSpec>;

    /// Validates, decides, asks, logs, executes, logs. Never fails: what goes wrong is in the envelope.
    /// A call whose `(task, call_id)` already has a run, or an open approval, goes on with that one.
    fn call(&self, call: ToolCall) -> BoxFuture<'_, ToolResultEnvelope>;

    /// The result of a call that was made in an earlier life: reconciles a started run by its class and
    /// waits for an adopted command. `None`: the log knows no such call.
    fn recover(&self, context: CallContext, call_id: &str) -> BoxFuture<'_, Option<ToolResultEnvelope>>;

    /// Ends running calls; each resolves as cancelled. Returns how many there were.
    fn cancel(&self, scope: CancelScope, reason: &str) -> BoxFuture<'_, usize>;

    /// The state of a workspace as a git tree (index, branch and stash of the user are not touched). With a
    /// name, the tree is also kept under `refs/air/<name>`.
    fn checkpoint<'a>(
        &'a self,
        workspace: &'a WorkspaceRef,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Checkpoint>>;

    /// What differs between two trees that [`ToolExecutor::checkpoint`] returned, only below `paths` where given.
    fn changes<'a>(
        &'a self,
        workspace: &'a WorkspaceRef,
        from: &'a str,
        to: &'a str,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<Changes>>;

    /// The project's own checks: `project.json.verify`, else what a scan of the tree finds.
    fn project_checks<'a>(&'a self, workspace: &'a WorkspaceRef) -> BoxFuture<'a, Result<Vec<ProjectCheck>>>;
}

/// Calls to models. The scheduler and the agents call it, `aird` implements it over `llm`.
pub trait ModelGateway: Send + Sync {
    /// The model for a role; `wanted` (`<provider>/<model>`) comes from a flag, a turn or a session.
    fn select(&self, role: AgentRole, wanted: Option<&str>) -> Result<ModelAssignment>;

    /// Streams an answer. Dropping the stream cancels the request. Transient failures before the first
    /// content are retried inside; the stream then ends with `stop` or `error`.
    fn complete(&self, request: &ModelRequest) -> BoxStream<'static, ProviderStreamEvent>;
}

/// What a call would do, for the gate to judge before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPlan {
    /// Input with defaults filled in and paths made relative: what is logged, hashed and approved.
    pub input: Value,
    pub intent: Intent,
    pub effects: Vec<Effect>,
    /// A command line that the analyser must judge, with its directory.
    pub command: Option<(String, std::path::PathBuf)>,
    /// For people: the object of the call.
    pub title: String,
    /// The class, where it differs from the definition's.
    pub class: Option<EffectClass>,
}

/// What a tool hands back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutcome {
    pub summary: String,
    /// For the model.
    pub content: String,
    pub artifacts: Vec<ArtifactRef>,
    pub diagnostics: Vec<Diagnostic>,
    pub exit_code: Option<i32>,
    pub written: Vec<crate::path::WirePath>,
    pub command: Option<CommandOutcome>,
    pub data: Value,
}

/// A tool. Capabilities implement it; it acts on the world only through its host.
pub trait Tool: Send + Sync {
    /// What it is.
    fn definition(&self) -> &ToolDefinition;

    /// Validates an input and says what the call would do. Reads only.
    fn plan<'a>(&'a self, context: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>>;

    /// Executes a plan that the gate has let through.
    fn execute<'a>(
        &'a self,
        host: &'a dyn ToolHost,
        context: &'a CallContext,
        plan: CallPlan,
    ) -> BoxFuture<'a, Result<ToolOutcome>>;
}

/// A command that a tool wants to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Run by `bash -c`.
    pub command: String,
    /// Absolute.
    pub cwd: std::path::PathBuf,
    pub env: Vec<(String, String)>,
    pub timeout_ms: u64,
}

/// What a command left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    pub outcome: CommandOutcome,
    /// The kept output: whole, or its head and tail.
    pub output: Vec<u8>,
    /// The whole of what was kept.
    pub artifact: Option<ArtifactRef>,
}

/// The world as a tool may touch it, under the permit of its call.
pub trait ToolHost: Send + Sync {
    /// Runs a command to its end.
    fn run(&self, spec: CommandSpec) -> BoxFuture<'_, Result<CommandResult>>;

    /// Reads a file inside the workspace.
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Vec<u8>>>;

    /// Replaces a file inside the workspace, whole.
    fn write<'a>(&'a self, path: &'a Path, bytes: &'a [u8]) -> BoxFuture<'a, Result<()>>;

    /// Names in a folder inside the workspace, sorted.
    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Vec<std::ffi::OsString>>>;

    /// Stores bytes.
    fn artifact<'a>(
        &'a self,
        bytes: &'a [u8],
        media_type: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<ArtifactRef>>;

    /// Reports a line of progress.
    fn progress(&self, text: &str);

    /// Whether the call was cancelled.
    fn cancelled(&self) -> bool;

    /// The time.
    fn now(&self) -> Timestamp;

    /// A folder of the tool's own that outlives the call.
    fn cache_dir(&self) -> &Path;
}
