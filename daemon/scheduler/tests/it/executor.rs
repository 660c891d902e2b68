//! Tools without a gate: real files and real commands in a scratch folder, recorded as the real executor does.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::no_host::NoHost;
use air_contracts::api::Changes;
use air_contracts::artifact::Stored;
use air_contracts::error::codes;
use air_contracts::event::{
    EventSource, Intent, NewEvent, SourceKind, ToolCompleted, ToolFailed, ToolStarted,
};
use air_contracts::ids::{RefKind, ToolRunId};
use air_contracts::path::WirePath;
use air_contracts::permission::{Decision, PermissionDecision, RiskLevel};
use air_contracts::port::{BoxFuture, CancelScope, Tool, ToolExecutor, ToolOutcome};
use air_contracts::project::ProjectCheck;
use air_contracts::provider::ToolSpec;
use air_contracts::task::AgentRole;
use air_contracts::tool::{CallContext, EffectClass, ToolCall, ToolResultEnvelope, ToolStatus};
use air_contracts::workspace::{Checkpoint, FileChange, WorkspaceRef};
use air_contracts::{AirError, Result};
use air_rt::IdSource;
use air_store::{Store, ToolRunRow};
use serde_json::{Value, json};
use tokio::sync::broadcast;

type Files = BTreeMap<String, Vec<u8>>;

/// A purpose, and what happens after each check of it.
pub type Meddle = (String, Box<dyn Fn() + Send>);

/// Saved trees; they outlive a daemon.
pub type Trees = Arc<Mutex<BTreeMap<String, Files>>>;

pub struct FakeExecutor {
    pub store: Store,
    pub ids: IdSource,
    pub root: PathBuf,
    pub checks: Mutex<Vec<ProjectCheck>>,
    pub tools: Mutex<Vec<Arc<dyn Tool>>>,
    pub trees: Trees,
    cancels: broadcast::Sender<CancelScope>,
    /// Purposes of the checks that were run.
    pub purposes: Mutex<Vec<String>>,
    /// Runs after each check of a purpose: somebody else at work.
    pub meddle: Mutex<Option<Meddle>>,
}

impl FakeExecutor {
    pub fn new(store: Store, ids: IdSource, root: PathBuf, checks: Vec<ProjectCheck>, trees: Trees) -> Self {
        Self {
            store,
            ids,
            root,
            checks: Mutex::new(checks),
            tools: Mutex::default(),
            trees,
            cancels: broadcast::Sender::new(16),
            purposes: Mutex::default(),
            meddle: Mutex::default(),
        }
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.lock().unwrap().iter().find(|tool| tool.definition().name == name).cloned()
    }

    async fn run(&self, call: ToolCall) -> ToolResultEnvelope {
        let context = &call.context;
        let known =
            self.store.tool_run_by_call(context.turn_id, context.task_id, &call.call_id).await.unwrap();
        if let Some(row) = known.filter(|row| row.status.is_some()) {
            return self.envelope(&row).await;
        }
        let run_id = ToolRunId::from_uuid(self.ids.next());
        let started = self.started(&call, run_id);
        let mut events = call.before.clone();
        let tool = self.tool(&call.name);
        if let Some(tool) = &tool
            && let Err(error) = tool.plan(context, call.input.clone()).await
        {
            let content = format!("error {}: {}", error.code, error.message);
            let failed = self.failed(run_id, ToolStatus::Error, error, &content, Some(started));
            events.push(self.event(context, failed));
            self.store.ingest(events).await.unwrap();
            return self.envelope(&self.store.tool_run(run_id).await.unwrap()).await;
        }
        events.push(self.event(context, started));
        self.store.ingest(events).await.unwrap();
        let done = match tool {
            Some(tool) => {
                let plan = tool.plan(context, call.input.clone()).await.unwrap();
                tool.execute(&NoHost, context, plan).await
            }
            None => self.builtin(&call, run_id).await,
        };
        let event = match done {
            Ok(outcome) => self.event(context, completed(run_id, outcome)),
            Err(error) => {
                let status =
                    if error.is(codes::TOOL_CANCELLED) { ToolStatus::Cancelled } else { ToolStatus::Error };
                let content = format!("error {}: {}", error.code, error.message);
                self.event(context, self.failed(run_id, status, error, &content, None))
            }
        };
        self.store.ingest(vec![event]).await.unwrap();
        self.envelope(&self.store.tool_run(run_id).await.unwrap()).await
    }

    async fn builtin(&self, call: &ToolCall, _: ToolRunId) -> Result<ToolOutcome> {
        let text = |name: &str| call.input[name].as_str().unwrap_or_default().to_owned();
        let path = self.root.join(text("path"));
        match call.name.as_str() {
            "fs.read" => {
                let content =
                    std::fs::read_to_string(&path).map_err(|error| AirError::io(path.display(), &error))?;
                Ok(ToolOutcome { summary: text("path"), content, ..ToolOutcome::default() })
            }
            "fs.write" => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text("content")).unwrap();
                Ok(wrote(&text("path")))
            }
            "fs.delete" => {
                std::fs::remove_file(&path).unwrap();
                Ok(wrote(&text("path")))
            }
            "shell.run" if text("command") == "hang" => {
                let mut cancels = self.cancels.subscribe();
                cancels.recv().await.unwrap();
                Err(AirError::new(codes::TOOL_CANCELLED, "hang was stopped"))
            }
            "shell.run" => {
                let (exit_code, output) = shell(&text("command"), &self.root);
                Ok(ToolOutcome { content: output, exit_code, ..ToolOutcome::default() })
            }
            "check.exec" => Ok(self.check(&call.input)),
            other => Err(AirError::new(codes::TOOL_UNKNOWN, format!("no tool {other}"))),
        }
    }

    /// `tests P F` and `FAILED name` in the output of a check are its counts and its instances.
    fn check(&self, input: &Value) -> ToolOutcome {
        let purpose = input["purpose"].as_str().unwrap().to_owned();
        self.purposes.lock().unwrap().push(purpose.clone());
        let empty = tempfile::tempdir().unwrap();
        let folder = if purpose == "control" { empty.path() } else { self.root.as_path() };
        let (exit_code, output) = shell(input["command"].as_str().unwrap(), folder);
        if let Some((when, meddle)) = self.meddle.lock().unwrap().as_ref()
            && *when == purpose
        {
            meddle();
        }
        let words = output.lines().find_map(|line| line.strip_prefix("tests "));
        let tests = words.map(|words| {
            let counts: Vec<u32> = words.split(' ').map(|word| word.parse().unwrap()).collect();
            json!({ "passed": counts[0], "failed": counts[1], "skipped": 0 })
        });
        let instances: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("FAILED ")).collect();
        let data =
            json!({ "name": input["name"], "purpose": purpose, "tests": tests, "instances": instances });
        ToolOutcome { summary: "check".into(), content: output, exit_code, data, ..ToolOutcome::default() }
    }

    fn started(&self, call: &ToolCall, run_id: ToolRunId) -> ToolStarted {
        let context = &call.context;
        ToolStarted {
            run_id,
            n: self.store.next_ref(RefKind::ToolRun),
            session_id: context.session_id,
            turn_id: context.turn_id,
            task_id: context.task_id,
            agent_id: context.agent_id,
            attempt_id: context.attempt_id,
            workspace_id: context.workspace_id,
            call_id: call.call_id.clone(),
            tool: call.name.clone(),
            input: Stored::Inline { value: call.input.clone() },
            aliases: Vec::new(),
            class: EffectClass::Pure,
            intent: Intent::None,
            decision: PermissionDecision {
                decision: Decision::Allow,
                level: RiskLevel::Safe,
                reason: "test".into(),
                effects: Vec::new(),
                scopes: Vec::new(),
                granted_by: None,
            },
            title: call.name.clone(),
        }
    }

    fn failed(
        &self,
        run_id: ToolRunId,
        status: ToolStatus,
        error: AirError,
        content: &str,
        refused: Option<ToolStarted>,
    ) -> ToolFailed {
        let content = Stored::Inline { value: content.to_owned() };
        let (artifacts, reconciled, refused) = (Vec::new(), String::new(), refused.map(Box::new));
        ToolFailed { run_id, status, error, content, artifacts, duration_ms: 0, reconciled, refused }
    }

    fn event(&self, context: &CallContext, body: impl Into<air_contracts::event::EventBody>) -> NewEvent {
        NewEvent::new(context.session_id, EventSource::new(SourceKind::Tool, "test"), body)
            .task(context.task_id)
    }

    async fn envelope(&self, row: &ToolRunRow) -> ToolResultEnvelope {
        let content = match &row.content {
            Some(stored) => self.store.load_value(stored).await.unwrap(),
            None => String::new(),
        };
        ToolResultEnvelope {
            run_id: row.run_id,
            run_ref: row.n,
            tool: row.tool.clone(),
            status: row.status.unwrap_or(ToolStatus::Interrupted),
            summary: row.summary.clone(),
            content,
            error: row.error.clone(),
            artifacts: Vec::new(),
            diagnostics: Vec::new(),
            evidence: Vec::new(),
            exit_code: row.exit_code,
            written: row.written.clone(),
            duration_ms: 0,
            data: row.data.clone(),
        }
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        collect(&self.root, &self.root, &mut files);
        files
    }
}

fn wrote(path: &str) -> ToolOutcome {
    let written = vec![WirePath::Path(path.to_owned())];
    ToolOutcome {
        summary: path.into(),
        content: format!("[wrote {path}]"),
        written,
        ..ToolOutcome::default()
    }
}

fn completed(run_id: ToolRunId, outcome: ToolOutcome) -> ToolCompleted {
    ToolCompleted {
        run_id,
        summary: outcome.summary,
        content: Stored::Inline { value: outcome.content },
        artifacts: outcome.artifacts,
        evidence: Vec::new(),
        exit_code: outcome.exit_code,
        written: outcome.written,
        may_have_written: false,
        duration_ms: 0,
        reconciled: String::new(),
        command: None,
        data: outcome.data,
    }
}

fn shell(command: &str, folder: &Path) -> (Option<i32>, String) {
    let output = Command::new("sh").arg("-c").arg(command).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn collect(root: &Path, folder: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

impl ToolExecutor for FakeExecutor {
    fn visible(&self, role: AgentRole, _: &str) -> Vec<ToolSpec> {
        let mut names = vec!["check.run", "fs.read", "task.finish"];
        if role != AgentRole::Reviewer {
            names.extend(["fs.delete", "fs.write", "shell.run"]);
        }
        names.sort_unstable();
        let spec = |name: &str| ToolSpec {
            name: name.into(),
            wire_name: name.replace('.', "_"),
            description: String::new(),
            input_schema: json!({ "type": "object" }),
        };
        names.into_iter().map(spec).collect()
    }

    fn call(&self, call: ToolCall) -> BoxFuture<'_, ToolResultEnvelope> {
        Box::pin(self.run(call))
    }

    fn recover(&self, context: CallContext, call_id: &str) -> BoxFuture<'_, Option<ToolResultEnvelope>> {
        let call_id = call_id.to_owned();
        Box::pin(async move {
            let row =
                self.store.tool_run_by_call(context.turn_id, context.task_id, &call_id).await.unwrap()?;
            if row.status.is_none() {
                let error = AirError::new(codes::TOOL_INTERRUPTED, "its outcome is unknown");
                let failed = self.failed(
                    row.run_id,
                    ToolStatus::Interrupted,
                    error,
                    "error interrupted: unknown",
                    None,
                );
                self.store.ingest(vec![self.event(&context, failed)]).await.unwrap();
            }
            Some(self.envelope(&self.store.tool_run(row.run_id).await.unwrap()).await)
        })
    }

    fn cancel(&self, scope: CancelScope, _: &str) -> BoxFuture<'_, usize> {
        let heard = self.cancels.send(scope).unwrap_or(0);
        Box::pin(std::future::ready(heard))
    }

    fn checkpoint<'a>(
        &'a self,
        _: &'a WorkspaceRef,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Checkpoint>> {
        let files = self.files();
        let mut hasher = DefaultHasher::new();
        files.hash(&mut hasher);
        let tree = format!("{:016x}", hasher.finish());
        self.trees.lock().unwrap().insert(tree.clone(), files);
        let git_ref = name.map(|name| format!("refs/air/{name}")).unwrap_or_default();
        Box::pin(std::future::ready(Ok(Checkpoint { git_ref, tree })))
    }

    fn changes<'a>(
        &'a self,
        _: &'a WorkspaceRef,
        from: &'a str,
        to: &'a str,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<Changes>> {
        let trees = self.trees.lock().unwrap();
        let (before, after) = (&trees[from], &trees[to]);
        let mut files = Vec::new();
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let status = match (before.get(name), after.get(name)) {
                (Some(a), Some(b)) if a == b => continue,
                (Some(_), Some(_)) => "modified",
                (None, _) => "added",
                (_, None) => "deleted",
            };
            let path = WirePath::Path(name.clone());
            files.push(FileChange { path, status: status.into(), added: Some(1), removed: Some(1) });
        }
        let patch = files.iter().map(|file| format!("{} {}\n", file.status, file.path.display())).collect();
        let changes = Changes { from: from.into(), to: to.into(), files, patch };
        Box::pin(std::future::ready(Ok(changes)))
    }

    fn project_checks<'a>(&'a self, _: &'a WorkspaceRef) -> BoxFuture<'a, Result<Vec<ProjectCheck>>> {
        Box::pin(std::future::ready(Ok(self.checks.lock().unwrap().clone())))
    }
}
