//! One open project: its store, tools, scheduler and sessions, wired by hand.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use air_agents::{Sessions, SessionsDeps};
use air_context::ContextAssembler;
use air_contracts::api::CommandsAtStop;
use air_contracts::event::{EventSource, NewEvent, RuntimeStarted, WorkspaceCreated};
use air_contracts::ids::{ProjectId, WorkspaceId};
use air_contracts::port::{CancelScope, ModelGateway, ToolExecutor};
use air_contracts::workspace::{WorkspaceKind, WorkspaceRef};
use air_contracts::{AirError, Result};
use air_host::Project;
use air_rt::{OnCancel, Tasks};
use air_scheduler::{Scheduler, SchedulerDeps, task_tools};
use air_store::Store;
use air_tools::{ToolDeps, ToolService};

use crate::daemon::{Daemon, VERSION};
use crate::gateway::Gateway;
use crate::process::blocking;
use crate::settings::Settings;

/// Time for each part of a project to end.
const GRACE: Duration = Duration::from_secs(5);
/// The file in a project's private folder that says: look here at the next start.
const OPEN_MARK: &str = "open";

/// See the module.
pub struct OpenProject {
    pub id: ProjectId,
    pub root: PathBuf,
    pub settings: Arc<Settings>,
    pub store: Store,
    pub tools: Arc<ToolService>,
    pub context: Arc<ContextAssembler>,
    pub gateway: Arc<dyn ModelGateway>,
    pub scheduler: Arc<Scheduler>,
    pub sessions: Arc<Sessions>,
    /// What the tools work with, for the doctor.
    pub tool_deps: ToolDeps,
    /// The user's tree.
    pub workspace: WorkspaceRef,
    dir: PathBuf,
    owners: Owners,
}

/// Who owns the tasks of each part; they end in this order.
struct Owners {
    all: Tasks,
    sessions: Tasks,
    scheduler: Tasks,
    tools: Tasks,
}

impl Owners {
    fn new(parent: &Tasks) -> Self {
        let all = parent.child("project");
        Self {
            sessions: all.child("sessions"),
            scheduler: all.child("scheduler"),
            tools: all.child("tools"),
            all,
        }
    }
}

/// Whether a project has to be looked at when the daemon starts.
pub fn was_open(dir: &Path) -> bool {
    dir.join(OPEN_MARK).exists()
}

/// Opens a project and lets its unfinished turns go on.
pub async fn open(daemon: &Daemon, found: Project) -> Result<Arc<OpenProject>> {
    let mark = found.dir.join(OPEN_MARK);
    air_host::write_atomic(&mark, b"", 0o600)?;
    let store = open_store(daemon, &found).await?;
    let workspace = user_workspace(daemon, &store, &found.root).await?;
    let started = RuntimeStarted { instance_id: daemon.instance_id, version: VERSION.to_owned() };
    store.ingest(vec![NewEvent::of_project(EventSource::daemon(), started)]).await?;
    let project = wire(daemon, found, store, workspace)?;
    project.sessions.recover().await?;
    look_around(&project);
    Ok(project)
}

/// On a thread that may block: headers are read and a migration copies the file before anything is awaited.
async fn open_store(daemon: &Daemon, found: &Project) -> Result<Store> {
    let (dir, id, clock, ids) = (found.dir.clone(), found.id, daemon.clock.clone(), daemon.ids.clone());
    blocking(move |runtime| runtime.block_on(Store::open(&dir, id, clock, ids))).await
}

/// What nobody waits for: which checks the tree has, and run folders that are no longer needed.
fn look_around(project: &Arc<OpenProject>) {
    let (tools, settings) = (Arc::clone(&project.tools), Arc::clone(&project.settings));
    let workspace = project.workspace.clone();
    project.owners.tools.spawn("look around", OnCancel::Abort, async move {
        match tools.project_checks(&workspace).await {
            Ok(checks) => settings.detected(checks),
            Err(error) => tracing::warn!(%error, "the checks of a project cannot be found out"),
        }
        if let Err(error) = tools.sweep_runs().await {
            tracing::warn!(%error, "old run folders stay");
        }
    });
}

async fn user_workspace(daemon: &Daemon, store: &Store, root: &Path) -> Result<WorkspaceRef> {
    if let Some(known) = store.user_workspace().await?
        && known.root == root
    {
        return Ok(known);
    }
    let id = WorkspaceId::from_uuid(daemon.ids.next());
    let workspace = WorkspaceRef { id, kind: WorkspaceKind::UserTree, root: root.to_owned() };
    let created = WorkspaceCreated { workspace: workspace.clone() };
    store.ingest(vec![NewEvent::of_project(EventSource::daemon(), created)]).await?;
    Ok(workspace)
}

fn wire(daemon: &Daemon, found: Project, store: Store, workspace: WorkspaceRef) -> Result<Arc<OpenProject>> {
    let (id, root, dir) = (found.id, found.root.clone(), found.dir.clone());
    let owners = Owners::new(&daemon.tasks);
    let worker = worker_binary()?;
    let settings = Arc::new(Settings::new(
        daemon.paths.clone(),
        Arc::clone(&daemon.environment),
        Arc::clone(&daemon.models),
        Some(found),
    ));
    let mut tool_deps = tool_deps(daemon, &settings, &store, owners.tools.clone(), &root, &dir, &worker);
    // The scheduler calls the tools, so it comes second; until then there is no attempt whose call could be late.
    let attempts: Arc<OnceLock<Weak<Scheduler>>> = Arc::default();
    let known = Arc::clone(&attempts);
    tool_deps.attempt_live = Some(Arc::new(move |attempt| {
        known.get().and_then(Weak::upgrade).is_some_and(|scheduler| scheduler.attempt_live(attempt))
    }));
    let tools = ToolService::new(tool_deps.clone());
    let rules = Arc::clone(&settings);
    let context = Arc::new(ContextAssembler::new(store.clone(), Arc::new(move || rules.rules().0)));
    let gateway: Arc<dyn ModelGateway> =
        Arc::new(Gateway::new(Arc::clone(&settings), Arc::clone(&daemon.flow)));
    let executor: Arc<dyn ToolExecutor> = tools.clone();
    let described = Arc::clone(&settings);
    let facts: Arc<dyn Fn() -> String + Send + Sync> = Arc::new(move || described.facts());
    let limits = Arc::clone(&settings);
    let scheduler = Scheduler::new(SchedulerDeps {
        store: store.clone(),
        clock: daemon.clock.clone(),
        ids: daemon.ids.clone(),
        tasks: owners.scheduler.clone(),
        executor: Arc::clone(&executor),
        gateway: Arc::clone(&gateway),
        context: Arc::clone(&context),
        worker,
        workspace: workspace.clone(),
        limits: Arc::new(move || limits.limits()),
        project_facts: Arc::clone(&facts),
    });
    // Set once, just made.
    let _ = attempts.set(Arc::downgrade(&scheduler));
    for tool in task_tools(&scheduler) {
        tools.register(tool);
    }
    let sessions = Sessions::new(SessionsDeps {
        store: store.clone(),
        clock: daemon.clock.clone(),
        ids: daemon.ids.clone(),
        tasks: owners.sessions.clone(),
        executor,
        gateway: Arc::clone(&gateway),
        context: Arc::clone(&context),
        scheduler: Arc::clone(&scheduler),
        workspace: workspace.clone(),
        project_facts: facts,
    });
    let project = OpenProject {
        id,
        root,
        settings,
        store,
        tools,
        context,
        gateway,
        scheduler,
        sessions,
        tool_deps,
        workspace,
        dir,
        owners,
    };
    Ok(Arc::new(project))
}

fn tool_deps(
    daemon: &Daemon,
    settings: &Arc<Settings>,
    store: &Store,
    tasks: Tasks,
    root: &Path,
    dir: &Path,
    worker: &Path,
) -> ToolDeps {
    let (policy, trusted, verify) = (Arc::clone(settings), Arc::clone(settings), Arc::clone(settings));
    ToolDeps {
        store: store.clone(),
        clock: daemon.clock.clone(),
        ids: daemon.ids.clone(),
        tasks,
        air_home: daemon.paths.air_home().to_owned(),
        project_root: root.to_owned(),
        project_dir: dir.to_owned(),
        cache_dir: daemon.paths.cache_dir(),
        home: daemon.home().unwrap_or_else(|| PathBuf::from("/nonexistent")),
        launcher: worker.to_owned(),
        policy: Arc::new(move || policy.policy()),
        trusted: Arc::new(move || trusted.trusted()),
        verify: Arc::new(move || verify.verify()),
        env: daemon.environment.for_commands(),
        attempt_live: None,
    }
}

/// `air-worker`, beside this program: air, aird and air-worker belong into one folder.
pub fn worker_binary() -> Result<PathBuf> {
    let exe = std::env::current_exe().map_err(|error| AirError::io("the path of aird itself", &error))?;
    Ok(exe.with_file_name("air-worker"))
}

impl OpenProject {
    /// Ends all that runs for this project in the daemon. Nothing durable is interrupted: turns go on when
    /// the project is opened again, and commands, where they are left, are adopted then.
    pub async fn close(&self, commands: CommandsAtStop) {
        if commands == CommandsAtStop::End {
            self.end_commands().await;
        }
        let unfinished = self.store.unfinished_turns().await.map_or(true, |turns| !turns.is_empty());
        // All parts hear of it before the first future is dropped: questions stay open then.
        self.owners.all.token().cancel();
        self.owners.sessions.shutdown(GRACE).await;
        self.owners.scheduler.shutdown(GRACE).await;
        self.owners.tools.shutdown(GRACE).await;
        self.store.close().await;
        if !unfinished {
            let _ = std::fs::remove_file(self.dir.join(OPEN_MARK));
        }
    }

    async fn end_commands(&self) {
        let runs = self.store.unfinished_tool_runs().await.unwrap_or_default();
        let mut sessions: Vec<_> = runs.iter().map(|run| run.session_id).collect();
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            self.tools.cancel(CancelScope::Session(session), "aird was stopped with its commands").await;
        }
    }
}
