//! A project with one session and one turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use air_context::ContextAssembler;
use air_contracts::event::*;
use air_contracts::ids::*;
use air_contracts::permission::ApproveMode;
use air_contracts::project::{CheckKind, ProjectCheck};
use air_contracts::session::{SessionLimits, SessionSettings, TurnOptions};
use air_contracts::task::{AgentRole, AttemptStatus, Criterion, TaskStatus};
use air_contracts::tool::CallContext;
use air_contracts::workspace::{WorkspaceKind, WorkspaceRef};
use air_rt::{Clock, IdSource, Tasks};
use air_scheduler::{Scheduler, SchedulerDeps, SchedulerLimits, TaskDraft, task_tools};
use air_store::{AttemptRow, Store, TaskRow};
use tempfile::TempDir;

use crate::executor::{FakeExecutor, Trees};
use crate::gateway::Script;

/// Passes once a.txt says `fixed`; counts three tests.
pub const TEST: &str =
    "if grep -q fixed a.txt; then echo tests 3 0; else echo FAILED t1; echo tests 2 1; exit 1; fi";

pub fn check(name: &str, kind: CheckKind, command: &str) -> ProjectCheck {
    ProjectCheck {
        name: name.into(),
        claim: format!("{name} is green"),
        command: command.into(),
        kind,
        timeout_ms: None,
        defined_by: vec!["defs.txt".into()],
    }
}

pub fn tests() -> Vec<ProjectCheck> {
    vec![check("test", CheckKind::Test, TEST)]
}

pub fn draft(title: &str) -> TaskDraft {
    TaskDraft { title: title.into(), ..TaskDraft::default() }
}

pub fn criterion(text: &str, check: &str) -> Criterion {
    Criterion { text: text.into(), check: Some(check.into()) }
}

pub struct Bed {
    pub home: TempDir,
    pub root: PathBuf,
    pub store: Store,
    pub tasks: Tasks,
    pub executor: Arc<FakeExecutor>,
    pub script: Arc<Script>,
    pub context: Arc<ContextAssembler>,
    pub scheduler: Arc<Scheduler>,
    pub session: SessionId,
    pub turn: TurnId,
    pub workspace: WorkspaceRef,
    ids: IdSource,
    checks: Vec<ProjectCheck>,
    worker: PathBuf,
}

impl Bed {
    pub async fn new(checks: Vec<ProjectCheck>) -> Self {
        Self::with_worker(checks, worker()).await
    }

    pub async fn with_worker(checks: Vec<ProjectCheck>, worker: PathBuf) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("project");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), "broken\n").unwrap();
        let ids = IdSource::new();
        let session = SessionId::from_uuid(ids.next());
        let turn = TurnId::from_uuid(ids.next());
        let id = WorkspaceId::from_uuid(ids.next());
        let workspace = WorkspaceRef { id, kind: WorkspaceKind::UserTree, root: root.clone() };
        let project = ProjectId::from_uuid(ids.next());
        let store = Store::open(home.path(), project, Clock::system(), ids.clone()).await.unwrap();
        let bed = Self::build(
            home,
            root,
            store,
            ids,
            checks,
            worker,
            session,
            turn,
            workspace,
            Arc::new(Script::new()),
            Trees::default(),
        );
        bed.open_turn().await;
        bed
    }

    #[expect(clippy::too_many_arguments)]
    fn build(
        home: TempDir,
        root: PathBuf,
        store: Store,
        ids: IdSource,
        checks: Vec<ProjectCheck>,
        worker: PathBuf,
        session: SessionId,
        turn: TurnId,
        workspace: WorkspaceRef,
        script: Arc<Script>,
        trees: Trees,
    ) -> Self {
        let tasks = Tasks::root();
        let executor =
            Arc::new(FakeExecutor::new(store.clone(), ids.clone(), root.clone(), checks.clone(), trees));
        let context = Arc::new(ContextAssembler::new(store.clone(), Arc::new(Vec::new)));
        let scheduler = Scheduler::new(SchedulerDeps {
            store: store.clone(),
            clock: Clock::system(),
            ids: ids.clone(),
            tasks: tasks.clone(),
            executor: executor.clone(),
            gateway: script.clone(),
            context: context.clone(),
            worker: worker.clone(),
            workspace: workspace.clone(),
            limits: Arc::new(SchedulerLimits::default),
            project_facts: Arc::new(String::new),
        });
        executor.tools.lock().unwrap().extend(task_tools(&scheduler));
        Self {
            home,
            root,
            store,
            tasks,
            executor,
            script,
            context,
            scheduler,
            session,
            turn,
            workspace,
            ids,
            checks,
            worker,
        }
    }

    fn submitted(&self, turn_id: TurnId, n: u64) -> TurnSubmitted {
        TurnSubmitted {
            session_id: self.session,
            turn_id,
            n,
            client_id: None,
            text: "Please fix it".into(),
            attachments: Vec::new(),
            options: TurnOptions::default(),
        }
    }

    /// A second turn that runs beside the first.
    pub async fn another_turn(&self) -> TurnId {
        let turn_id = TurnId::from_uuid(self.ids.next());
        let of_session = |body: EventBody| NewEvent::new(self.session, EventSource::daemon(), body);
        let events =
            vec![of_session(self.submitted(turn_id, 2).into()), of_session(TurnStarted { turn_id }.into())];
        self.store.ingest(events).await.unwrap();
        turn_id
    }

    async fn open_turn(&self) {
        let created = SessionCreated {
            session_id: self.session,
            n: 1,
            settings: SessionSettings::default(),
            forked_from: None,
        };
        let submitted = self.submitted(self.turn, 1);
        let workspace = WorkspaceCreated { workspace: self.workspace.clone() };
        let of_session = |body: EventBody| NewEvent::new(self.session, EventSource::daemon(), body);
        let events = vec![
            NewEvent::of_project(EventSource::daemon(), workspace),
            of_session(created.into()),
            of_session(submitted.into()),
            of_session(TurnStarted { turn_id: self.turn }.into()),
        ];
        self.store.ingest(events).await.unwrap();
    }

    /// The daemon stops (or dies: nothing is said in the log), and the next one opens the same project.
    pub async fn restart(self) -> Self {
        self.tasks.shutdown(Duration::from_secs(10)).await;
        self.store.close().await;
        let project = self.store.project_id();
        let ids = IdSource::new();
        let store = Store::open(self.home.path(), project, Clock::system(), ids.clone()).await.unwrap();
        Self::build(
            self.home,
            self.root,
            store,
            ids,
            self.checks,
            self.worker,
            self.session,
            self.turn,
            self.workspace,
            self.script,
            self.executor.trees.clone(),
        )
    }

    pub async fn limit(&self, max_cost_usd: f64) {
        let limits = SessionLimits { max_cost_usd: Some(max_cost_usd), max_model_calls: None };
        let settings = SessionSettings { limits, ..SessionSettings::default() };
        let configured = SessionConfigured { session_id: self.session, settings };
        self.store
            .ingest(vec![NewEvent::new(self.session, EventSource::daemon(), configured)])
            .await
            .unwrap();
    }

    pub fn main_context(&self) -> CallContext {
        CallContext {
            session_id: self.session,
            turn_id: self.turn,
            task_id: None,
            agent_id: AgentId::from_uuid(self.ids.next()),
            attempt_id: None,
            role: AgentRole::Main,
            workspace_id: self.workspace.id,
            workspace_root: self.root.clone(),
            approve: ApproveMode::Ask,
        }
    }

    pub async fn create(&self, drafts: Vec<TaskDraft>) -> Vec<(TaskId, u64)> {
        self.scheduler.create_tasks(&self.main_context(), "Please fix it", drafts, "call_1").await.unwrap()
    }

    /// Runs the turn to its end and gives its first task.
    pub async fn run(&self) -> TaskRow {
        let run = self.scheduler.run_turn(self.turn);
        let report =
            tokio::time::timeout(Duration::from_secs(60), run).await.expect("the turn ends").unwrap();
        report.tasks.into_iter().next().unwrap()
    }

    pub async fn attempts(&self, task: &TaskRow) -> Vec<AttemptRow> {
        let mut attempts = self.store.attempts(task.id).await.unwrap();
        attempts.sort_by_key(|attempt| attempt.n);
        attempts
    }

    pub async fn attempt_states(&self, task: &TaskRow) -> Vec<AttemptStatus> {
        self.attempts(task).await.iter().map(|attempt| attempt.status).collect()
    }

    /// Waits until the log says so.
    pub async fn until(&self, what: &str, mut holds: impl AsyncFnMut(&Store) -> bool) {
        let waiting = async {
            let mut bus = self.store.subscribe();
            while !holds(&self.store).await {
                let _ = tokio::time::timeout(Duration::from_millis(20), bus.next()).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waiting)
            .await
            .unwrap_or_else(|_| panic!("waited in vain for {what}"));
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// Every call of every request has its result, and every request can be rebuilt from the log as it was sent.
    pub async fn requests_are_sound(&self) {
        let requests = self.script.requests.lock().unwrap().clone();
        for request in &requests {
            let mut open: Vec<String> = Vec::new();
            for message in &request.messages {
                for block in &message.content {
                    match block {
                        air_contracts::message::ContentBlock::ToolUse { id, .. } => open.push(id.clone()),
                        air_contracts::message::ContentBlock::ToolResult { tool_use_id, .. } => {
                            assert!(open.contains(tool_use_id), "an orphan result");
                            open.retain(|id| id != tool_use_id);
                        }
                        _ => {}
                    }
                }
            }
            assert_eq!(open, Vec::<String>::new(), "calls without a result");
            if let Ok(rebuilt) = self.context.rebuild(request.request_id).await {
                assert_eq!(&rebuilt, request);
            }
        }
    }
}

pub fn status(row: &TaskRow) -> (TaskStatus, Option<&str>) {
    (row.status, row.blocker.as_ref().map(|blocker| blocker.kind.as_str()))
}

/// The real worker, beside the test binary; built when nobody has.
pub fn worker() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let folder = exe.ancestors().nth(2).unwrap();
    let worker = folder.join("air-worker");
    if !worker.exists() {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let built = std::process::Command::new(cargo).args(["build", "-p", "air-worker"]).status().unwrap();
        assert!(built.success());
    }
    worker
}

/// A worker that is a shell script; `$WORKER` stands for the real one, `$DIR` for a folder of its own.
pub fn script_worker(folder: &Path, body: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("worker.sh");
    let body = body.replace("$WORKER", worker().to_str().unwrap()).replace("$DIR", folder.to_str().unwrap());
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}
