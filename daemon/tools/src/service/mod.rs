//! [`ToolService`]: the one way to run a tool.

mod finish;
mod pipeline;
mod recover;
mod repeat;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use air_contracts::Result;
use air_contracts::api::Changes;
use air_contracts::approval::ApprovalAnswer;
use air_contracts::ids::{ApprovalId, TaskId, TurnId};
use air_contracts::port::{BoxFuture, CancelScope, Tool, ToolExecutor};
use air_contracts::project::ProjectCheck;
use air_contracts::provider::ToolSpec;
use air_contracts::task::AgentRole;
use air_contracts::tool::{CallContext, ToolCall, ToolDefinition, ToolResultEnvelope};
use air_contracts::workspace::{Checkpoint, WorkspaceRef};
use air_sandbox::RunState;
use tokio::sync::watch;

use crate::deps::ToolDeps;
use crate::host::External;
use crate::kit::{Kit, blocking};
use crate::registry::{Registry, wire_name};
use crate::toolsets::Toolsets;
use repeat::Repeats;

/// What makes two calls the same call.
type CallKey = (TurnId, Option<TaskId>, String);

/// How long a cancel waits for the calls to have their results.
const CANCEL_GRACE: Duration = Duration::from_secs(10);

/// Runs the tools of one project.
pub struct ToolService {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub kit: Arc<Kit>,
    pub registry: RwLock<Registry>,
    pub toolsets: Toolsets,
    /// Calls under way, for those that make the same call once more.
    pub calls: Mutex<HashMap<CallKey, watch::Receiver<Option<ToolResultEnvelope>>>>,
    pub repeats: Repeats,
}

impl ToolService {
    /// With all built-in tools. Needs a tokio runtime for what it does, not for this.
    pub fn new(deps: ToolDeps) -> Arc<Self> {
        let mut registry = Registry::default();
        let own: [Arc<dyn crate::tool::Builtin>; 2] =
            [Arc::new(crate::ask::Ask::new()), Arc::new(crate::artifact::Create::new())];
        let groups =
            [crate::fs::tools(), crate::shell::tools(), crate::git::tools(), crate::project::tools()];
        for tool in groups.into_iter().flatten().chain(own) {
            registry.add(tool);
        }
        let inner = Inner {
            kit: Arc::new(Kit::new(deps)),
            registry: RwLock::new(registry),
            toolsets: Toolsets::load(),
            calls: Mutex::default(),
            repeats: Repeats::default(),
        };
        Arc::new(Self { inner: Arc::new(inner) })
    }

    /// Adds a tool that another crate owns.
    pub fn register(&self, tool: Arc<dyn Tool>) {
        self.inner.registry.write().unwrap_or_else(PoisonError::into_inner).add(Arc::new(External(tool)));
    }

    /// All tools, by name.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let registry = self.inner.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry.all().map(|tool| tool.definition().clone()).collect()
    }

    /// Takes an answer to a question. The first one wins: `approval.answered`, `approval.withdrawn` for
    /// later ones; `usage.value` for one that does not fit the question.
    pub async fn answer_approval(&self, id: ApprovalId, answer: ApprovalAnswer) -> Result<()> {
        self.inner.kit.desk.answer(&self.inner.kit.grants, id, answer).await
    }

    /// Withdraws the open questions of a scope; calls that wait for them resolve as cancelled.
    pub async fn withdraw_approvals(&self, scope: CancelScope, reason: &str) -> Result<()> {
        self.inner.kit.desk.withdraw_scope(scope, reason).await
    }

    /// Takes away the folders of commands that ended, whose results are in the log, after a day. Returns
    /// how many there were. For the start of the daemon.
    pub async fn sweep_runs(&self) -> Result<usize> {
        let kit = self.inner.kit.clone();
        let mut swept = 0;
        for run_id in kit.runner.all() {
            let Some(folder) = kit.runner.folder(run_id) else { continue };
            let old = std::fs::metadata(folder.path())
                .and_then(|meta| meta.modified())
                .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > Duration::from_secs(24 * 3600)));
            let has_result = kit.deps.store.tool_run(run_id).await.is_ok_and(|row| row.status.is_some());
            if !old || !has_result {
                continue;
            }
            let looked = folder.clone();
            if matches!(blocking(move || looked.state()).await??, RunState::Running(_)) {
                continue;
            }
            swept += usize::from(blocking(move || folder.remove()).await?.is_ok());
        }
        Ok(swept)
    }
}

impl Inner {
    /// Ends calls, waiting questions and commands in the background; waits for the results of the calls.
    async fn cancel(&self, scope: CancelScope, reason: &str) -> usize {
        let waiting = self.kit.live.cancel(scope, reason);
        let count = waiting.len();
        if let Err(error) = self.kit.desk.withdraw_scope(scope, reason).await {
            tracing::warn!(%error, "questions could not be withdrawn");
        }
        let ended = async {
            for mut done in waiting {
                while done.changed().await.is_ok() {}
            }
        };
        if tokio::time::timeout(CANCEL_GRACE, ended).await.is_err() {
            tracing::warn!(?scope, "cancelled calls have not ended in time");
        }
        self.end_left_over(scope).await;
        count
    }

    /// Commands in the background that an earlier daemon started.
    async fn end_left_over(&self, scope: CancelScope) {
        for run_id in self.kit.runner.all() {
            let Some(folder) = self.kit.runner.folder(run_id) else { continue };
            let Ok(row) = self.kit.deps.store.tool_run(run_id).await else { continue };
            let hit = match scope {
                CancelScope::Run(id) => id == run_id,
                CancelScope::Agent(id) => id == row.started.agent_id,
                CancelScope::Task(id) => Some(id) == row.started.task_id,
                CancelScope::Turn(id) => id == row.started.turn_id,
                CancelScope::Session(id) => id == row.started.session_id,
            };
            // One without a result belongs to its call, which ends it.
            if hit && row.status.is_some() {
                let _ = blocking(move || folder.cancel()).await;
            }
        }
    }

    fn visible(&self, role: AgentRole, family: &str) -> Vec<ToolSpec> {
        let wanted = self.toolsets.visible(role, family);
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry
            .all()
            .map(|tool| tool.definition())
            .filter(|definition| wanted.contains(definition.name.as_str()))
            .map(|definition| ToolSpec {
                name: definition.name.clone(),
                wire_name: wire_name(&definition.name),
                description: definition.description.clone(),
                input_schema: definition.input_schema.clone(),
            })
            .collect()
    }
}

impl ToolExecutor for ToolService {
    fn visible(&self, role: AgentRole, family: &str) -> Vec<ToolSpec> {
        self.inner.visible(role, family)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<'_, ToolResultEnvelope> {
        Box::pin(self.inner.clone().call(call))
    }

    fn recover(&self, context: CallContext, call_id: &str) -> BoxFuture<'_, Option<ToolResultEnvelope>> {
        let call_id = call_id.to_owned();
        Box::pin(self.inner.clone().recover(context, call_id))
    }

    fn cancel(&self, scope: CancelScope, reason: &str) -> BoxFuture<'_, usize> {
        let reason = reason.to_owned();
        Box::pin(async move { self.inner.cancel(scope, &reason).await })
    }

    fn checkpoint<'a>(
        &'a self,
        workspace: &'a WorkspaceRef,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Checkpoint>> {
        Box::pin(self.inner.kit.git.checkpoint(&workspace.root, name))
    }

    fn changes<'a>(
        &'a self,
        workspace: &'a WorkspaceRef,
        from: &'a str,
        to: &'a str,
        paths: &'a [String],
    ) -> BoxFuture<'a, Result<Changes>> {
        Box::pin(self.inner.kit.git.changes(&workspace.root, from, to, paths))
    }

    fn project_checks<'a>(&'a self, workspace: &'a WorkspaceRef) -> BoxFuture<'a, Result<Vec<ProjectCheck>>> {
        let root: &Path = &workspace.root;
        Box::pin(self.inner.kit.checks(root))
    }
}
