//! A project with everything that tools need: a store, folders, a launcher, a session with a turn.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use air_contracts::Timestamp;
use air_contracts::approval::{ApprovalAnswer, ApprovalDecision};
use air_contracts::event::{
    AgentStarted, EventSource, NewEvent, SessionCreated, TurnStarted, TurnSubmitted, WorkspaceCreated,
};
use air_contracts::ids::{AgentId, ProjectId, RefKind, SessionId, TurnId, WorkspaceId};
use air_contracts::permission::{ApproveMode, GrantScope};
use air_contracts::port::ToolExecutor;
use air_contracts::session::{SessionSettings, TurnOptions};
use air_contracts::task::AgentRole;
use air_contracts::tool::{CallContext, ToolCall, ToolResultEnvelope};
use air_contracts::workspace::{WorkspaceKind, WorkspaceRef};
use air_rt::{Clock, IdSource, Tasks};
use air_security::Policy;
use air_store::{ApprovalRow, Store};
use air_tools::{ToolDeps, ToolService};
use serde_json::Value;

/// A secret that the environment of the daemon holds.
pub const SECRET: &str = "sk-not-for-anyone-4711";

/// A project under test.
pub struct World {
    _dir: tempfile::TempDir,
    pub base: PathBuf,
    pub root: PathBuf,
    pub deps: ToolDeps,
    pub service: Arc<ToolService>,
    pub session: SessionId,
    pub turn: TurnId,
    pub agent: AgentId,
    pub workspace: WorkspaceId,
    pub approve: ApproveMode,
    calls: AtomicUsize,
}

/// The launcher beside this test program; built where it is missing.
fn launcher() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let path = exe.ancestors().nth(2).unwrap().join("air-worker");
    if !path.exists() {
        let built = Command::new(env!("CARGO")).args(["build", "-q", "-p", "air-worker"]).status().unwrap();
        assert!(built.success() && path.exists(), "air-worker cannot be built");
    }
    path
}

/// Waits until something holds.
pub async fn until<F, T>(what: &str, mut look: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "not within 30 s: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Runs git in a folder, for fixtures.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl World {
    pub async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let folder = |name: &str| {
            let path = base.join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let (root, home, air_home) = (folder("project"), folder("home"), folder("home/.air"));
        let project_dir = folder("home/.air/projects/p");
        let cache_dir = folder("home/.air/cache");
        let (clock, ids) = (Clock::system(), IdSource::new());
        let project = ProjectId::from_uuid(ids.next());
        let store = Store::open(&project_dir, project, clock.clone(), ids.clone()).await.unwrap();
        let mut env: Vec<(String, String)> =
            [("PATH", std::env::var("PATH").unwrap()), ("HOME", home.display().to_string())]
                .map(|(k, v)| (k.to_owned(), v))
                .to_vec();
        env.push(("SOME_API_KEY".to_owned(), SECRET.to_owned()));
        env.push(("PLAIN".to_owned(), "plain".to_owned()));
        let deps = ToolDeps {
            store,
            clock,
            ids: ids.clone(),
            tasks: Tasks::root(),
            air_home,
            project_root: root.clone(),
            project_dir,
            cache_dir,
            home,
            launcher: launcher(),
            policy: Arc::new(Policy::default),
            trusted: Arc::new(|| true),
            verify: Arc::new(|| None),
            env,
            attempt_live: None,
        };
        let world = Self {
            service: ToolService::new(deps.clone()),
            session: SessionId::from_uuid(ids.next()),
            turn: TurnId::from_uuid(ids.next()),
            agent: AgentId::from_uuid(ids.next()),
            workspace: WorkspaceId::from_uuid(ids.next()),
            approve: ApproveMode::Ask,
            calls: AtomicUsize::new(0),
            _dir: dir,
            base,
            root,
            deps,
        };
        world.begin().await;
        world
    }

    async fn begin(&self) {
        let store = &self.deps.store;
        let event =
            |body: air_contracts::event::EventBody| NewEvent::new(self.session, EventSource::daemon(), body);
        let created = SessionCreated {
            session_id: self.session,
            n: store.next_ref(RefKind::Session),
            settings: SessionSettings::default(),
            forked_from: None,
        };
        let submitted = TurnSubmitted {
            session_id: self.session,
            turn_id: self.turn,
            n: store.next_ref(RefKind::Turn),
            client_id: None,
            text: "do it".to_owned(),
            attachments: Vec::new(),
            options: TurnOptions::default(),
        };
        let agent = AgentStarted {
            session_id: self.session,
            turn_id: self.turn,
            agent_id: self.agent,
            n: store.next_ref(RefKind::Agent),
            role: AgentRole::Executor,
            model: "test/model".to_owned(),
            workspace_id: self.workspace,
            attempt: None,
            pid: None,
        };
        let workspace = WorkspaceCreated { workspace: self.workspace_ref() };
        store
            .ingest(vec![
                event(created.into()),
                event(workspace.into()),
                event(submitted.into()),
                event(TurnStarted { turn_id: self.turn }.into()),
                event(agent.into()),
            ])
            .await
            .unwrap();
    }

    pub fn workspace_ref(&self) -> WorkspaceRef {
        WorkspaceRef { id: self.workspace, kind: WorkspaceKind::UserTree, root: self.root.clone() }
    }

    pub fn context(&self, role: AgentRole) -> CallContext {
        CallContext {
            session_id: self.session,
            turn_id: self.turn,
            task_id: None,
            agent_id: self.agent,
            attempt_id: None,
            role,
            workspace_id: self.workspace,
            workspace_root: self.root.clone(),
            approve: self.approve,
        }
    }

    pub fn next_call(&self, name: &str, input: Value) -> ToolCall {
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        self.call_with(AgentRole::Executor, &format!("call-{n}"), name, input)
    }

    pub fn call_with(&self, role: AgentRole, call_id: &str, name: &str, input: Value) -> ToolCall {
        ToolCall {
            context: self.context(role),
            call_id: call_id.to_owned(),
            name: name.to_owned(),
            input,
            before: Vec::new(),
        }
    }

    /// Calls a tool as an executor.
    pub async fn call(&self, name: &str, input: Value) -> ToolResultEnvelope {
        self.service.call(self.next_call(name, input)).await
    }

    /// Calls a tool in the background of the test.
    pub fn start(&self, call: ToolCall) -> tokio::task::JoinHandle<ToolResultEnvelope> {
        let service = self.service.clone();
        tokio::spawn(async move { service.call(call).await })
    }

    pub async fn shell(&self, command: &str) -> ToolResultEnvelope {
        self.call("shell.run", serde_json::json!({ "command": command })).await
    }

    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).unwrap()
    }

    /// The one question that is open.
    pub async fn question(&self) -> ApprovalRow {
        until("an open question", || async {
            self.deps.store.open_approvals(None).await.unwrap().into_iter().next()
        })
        .await
    }

    pub async fn answer(&self, row: &ApprovalRow, answer: ApprovalAnswer) -> air_contracts::Result<()> {
        self.service.answer_approval(row.approval.id, answer).await
    }

    /// Stops the daemon's part and starts it again over the same store and files.
    pub async fn restart(&mut self) {
        self.deps.tasks.shutdown(Duration::from_secs(5)).await;
        self.deps.tasks = Tasks::root();
        self.service = ToolService::new(self.deps.clone());
    }

    /// How many events of a type the log holds.
    pub async fn count(&self, kind: &str) -> usize {
        let query =
            air_store::EventQuery { types: vec![kind.to_owned()], ..air_store::EventQuery::default() };
        self.deps.store.events(query).await.unwrap().len()
    }
}

/// A yes of a scope.
pub fn yes(scope: GrantScope) -> ApprovalAnswer {
    ApprovalAnswer {
        decision: Some(ApprovalDecision::Allow),
        scope: Some(scope),
        answer: None,
        note: None,
        by: "test".into(),
        at: Timestamp::from_millis(1),
    }
}

/// A no.
pub fn no(note: &str) -> ApprovalAnswer {
    ApprovalAnswer {
        decision: Some(ApprovalDecision::Deny),
        note: Some(note.into()),
        ..yes(GrantScope::Once)
    }
}

/// The answer to a question of a model.
pub fn text(answer: &str) -> ApprovalAnswer {
    ApprovalAnswer { decision: None, scope: None, answer: Some(answer.into()), ..yes(GrantScope::Once) }
}
