//! The scheduler of one project: what it keeps in memory, and its entrances.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::event::{EventSource, NewEvent, WorkspaceCheckpointed};
use air_contracts::ids::{AgentId, AttemptId, SessionId, TaskId, TurnId};
use air_contracts::port::CancelScope;
use air_contracts::task::TaskStatus;
use air_contracts::tool::CallContext;
use air_contracts::{AirError, Result};
use air_scheduler_core::Input;
use air_store::TaskRow;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::attempt::{Live, Seat};
use crate::checks::{Baseline, Baselines, CheckCache, Checker, Purpose, checks_of};
use crate::deps::SchedulerDeps;
use crate::turn::Report;

/// How long an interruption may take.
const INTERRUPT: Duration = Duration::from_secs(5);

/// A turn whose tasks are being driven.
pub(crate) struct Driven {
    pub(crate) reports: mpsc::UnboundedSender<Report>,
    pub(crate) done: watch::Receiver<bool>,
}

/// The scheduler of one project.
pub struct Scheduler {
    pub(crate) deps: SchedulerDeps,
    pub(crate) cache: CheckCache,
    pub(crate) baselines: Baselines,
    /// The user's tree has one writer at a time, whatever session it works for.
    pub(crate) tree: Arc<Semaphore>,
    turns: Mutex<BTreeMap<TurnId, Driven>>,
    live: Mutex<BTreeMap<AgentId, Arc<Live>>>,
    /// Models that a person named for a retry.
    models: Mutex<BTreeMap<TaskId, String>>,
}

impl Scheduler {
    /// A scheduler with nothing running.
    pub fn new(deps: SchedulerDeps) -> Arc<Self> {
        Arc::new(Self {
            deps,
            cache: CheckCache::default(),
            baselines: Baselines::default(),
            tree: Arc::new(Semaphore::new(1)),
            turns: Mutex::default(),
            live: Mutex::default(),
            models: Mutex::default(),
        })
    }

    /// Worker processes that run now.
    pub fn worker_count(&self) -> usize {
        lock(&self.live).len()
    }

    /// Whether an attempt holds its task: its agent is at work. Calls of any other attempt come too late.
    pub fn attempt_live(&self, attempt: AttemptId) -> bool {
        lock(&self.live).values().any(|live| live.seat.attempt_id == attempt)
    }

    /// Saves the user's tree as it is before a turn.
    pub async fn prepare_turn(&self, session: SessionId, turn: TurnId) -> Result<()> {
        if self.deps.store.last_checkpoint(turn, None, "turn_start").await?.is_some() {
            return Ok(());
        }
        let n = self.deps.store.turn(turn).await?.n;
        let name = format!("turns/t{n}/start");
        let checkpoint = self.deps.executor.checkpoint(&self.deps.workspace, Some(&name)).await?;
        let saved = WorkspaceCheckpointed {
            workspace_id: self.deps.workspace.id,
            turn_id: turn,
            task_id: None,
            purpose: "turn_start".to_owned(),
            checkpoint,
        };
        self.deps.store.ingest(vec![NewEvent::new(session, EventSource::scheduler(), saved)]).await.map(drop)
    }

    /// Ends a task and all that wait for it. `task.terminal` when it is over already.
    pub async fn cancel_task(self: &Arc<Self>, task: TaskId, reason: &str) -> Result<()> {
        let row = self.deps.store.task(task).await?;
        if matches!(row.status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled) {
            return Err(AirError::new(
                codes::TASK_TERMINAL,
                format!("k{} is over: {}", row.n, word(row.status)),
            ));
        }
        let input = Input::Cancel { task: row.n, reason: reason.to_owned() };
        if self.tell(row.turn_id, Report::of(input.clone())) {
            return Ok(());
        }
        self.apply(row.turn_id, Report::of(input)).await
    }

    /// Makes a failed or blocked task ready again, with the user's note and model. The caller resumes its turn.
    pub async fn retry_task(
        self: &Arc<Self>,
        task: TaskId,
        note: Option<String>,
        model: Option<String>,
    ) -> Result<()> {
        let row = self.deps.store.task(task).await?;
        if !matches!(row.status, TaskStatus::Failed | TaskStatus::Blocked) {
            let message = format!(
                "k{} is {}: only a failed or blocked task can be tried again",
                row.n,
                word(row.status)
            );
            return Err(AirError::new(codes::TASK_TERMINAL, message));
        }
        if let Some(model) = model {
            lock(&self.models).insert(task, model);
        }
        let mut report = Report::of(Input::Retry { task: row.n });
        report.detail.task = Some(row.n);
        // Set even when empty: a retry leaves a trace.
        report.detail.note = Some(note.unwrap_or_default());
        if self.tell(row.turn_id, report.clone()) {
            return Ok(());
        }
        self.apply(row.turn_id, report).await
    }

    /// Stops all work of a turn; it can go on later. Returns when commands and workers have ended, after 5 s at most.
    pub async fn interrupt_turn(&self, turn: TurnId) -> Result<()> {
        let told = self.tell(turn, Report::of(Input::Interrupt));
        let done = lock(&self.turns).get(&turn).map(|driven| driven.done.clone());
        // The driver stops the workers before their calls: a worker that got the result of a cancelled call would go
        // on with the next one.
        if let (true, Some(mut done)) = (told, done)
            && tokio::time::timeout(INTERRUPT, done.wait_for(|done| *done)).await.is_err()
        {
            tracing::warn!(%turn, "work of an interrupted turn did not end in time");
        }
        self.deps.executor.cancel(CancelScope::Turn(turn), "interrupted").await;
        Ok(())
    }

    /// Whether the daemon stops.
    pub(crate) fn stopping(&self) -> bool {
        self.deps.tasks.token().is_cancelled()
    }

    /// Hands a report to the driver of a turn; `false` when the turn is not being driven.
    pub(crate) fn tell(&self, turn: TurnId, report: Report) -> bool {
        lock(&self.turns).get(&turn).is_some_and(|driven| driven.reports.send(report).is_ok())
    }

    /// Registers a driver; `None` when there is one.
    pub(crate) fn drive_once(&self, turn: TurnId, driven: Driven) -> Option<watch::Receiver<bool>> {
        let mut turns = lock(&self.turns);
        if let Some(known) = turns.get(&turn).filter(|known| !*known.done.borrow()) {
            return Some(known.done.clone());
        }
        turns.insert(turn, driven);
        None
    }

    pub(crate) fn drive_over(&self, turn: TurnId) {
        lock(&self.turns).remove(&turn);
    }

    pub(crate) fn seat(&self, live: Arc<Live>) {
        lock(&self.live).insert(live.seat.agent_id, live);
    }

    pub(crate) fn leave(&self, agent: AgentId) {
        lock(&self.live).remove(&agent);
    }

    /// An agent at work.
    pub(crate) fn live(&self, agent: AgentId) -> Option<Arc<Live>> {
        lock(&self.live).get(&agent).cloned()
    }

    pub(crate) fn model_for(&self, task: TaskId) -> Option<String> {
        lock(&self.models).get(&task).cloned()
    }

    /// Whether a question of this agent is open.
    pub(crate) async fn waits_for_person(&self, seat: &Seat) -> bool {
        let open = self.deps.store.open_approvals(Some(seat.task.session_id)).await.unwrap_or_default();
        open.iter().any(|approval| approval.approval.agent_id == seat.agent_id)
    }

    /// Saves the tree before the first attempt of a task, and starts its baseline. Returns what is to be recorded.
    pub(crate) async fn begin_task(self: &Arc<Self>, seat: &Seat) -> Result<Option<NewEvent>> {
        let (turn, task) = (seat.task.turn_id, seat.task.id);
        let known = self.deps.store.last_checkpoint(turn, Some(task), "task_start").await?;
        let (start, event) = match known {
            Some(known) => (known.checkpoint.tree, None),
            None => {
                let name = format!("tasks/k{}/start", seat.task.n);
                let checkpoint = self.deps.executor.checkpoint(&seat.workspace, Some(&name)).await?;
                let tree = checkpoint.tree.clone();
                let saved = WorkspaceCheckpointed {
                    workspace_id: seat.workspace.id,
                    turn_id: turn,
                    task_id: Some(task),
                    purpose: "task_start".to_owned(),
                    checkpoint,
                };
                (tree, Some(seat.event(saved)))
            }
        };
        let scheduler = Arc::clone(self);
        let (row, context) = (seat.task.clone(), seat.call_context());
        let make = async move { scheduler.baseline(&row, context, start).await };
        self.baselines.start(&self.deps.tasks, task, make);
        Ok(event)
    }

    /// Runs the checks of a task on the tree before its first write. Runs that are known of this very tree are taken
    /// over; once something was written only those of the log count.
    async fn baseline(self: Arc<Self>, task: &TaskRow, context: CallContext, start: String) -> Baseline {
        let made = self.make_baseline(task, context, start).await;
        made.unwrap_or_else(|error| {
            tracing::warn!(task = %task.id, %error, "no baseline");
            Baseline::default()
        })
    }

    async fn make_baseline(&self, task: &TaskRow, context: CallContext, start: String) -> Result<Baseline> {
        let deps = &self.deps;
        let list = checks_of(&task.spec, deps.executor.project_checks(&deps.workspace).await?);
        let mut baseline = Baseline::default();
        if list.is_empty() {
            return Ok(baseline);
        }
        let filter = air_store::ToolRunFilter { task: Some(task.id), ..Default::default() };
        let rows = deps.store.tool_runs(filter).await?;
        for spec in &list.specs {
            let of_check = rows.iter().filter(|row| {
                row.data["purpose"] == "baseline" && row.data["name"] == spec.check.name.as_str()
            });
            if let Some(run) =
                of_check.filter_map(|row| crate::checks::CheckRun::from_row(&spec.check, row)).next_back()
            {
                baseline.runs.insert(spec.check.command.clone(), run);
            }
        }
        let tree = deps.executor.checkpoint(&deps.workspace, None).await?.tree;
        if tree != start {
            return Ok(baseline);
        }
        let write_seq = deps.store.turn(task.turn_id).await?.write_seq;
        let checker = Checker { executor: &deps.executor, cache: &self.cache, ids: &deps.ids, context };
        let mut fresh = Vec::new();
        for spec in &list.specs {
            if baseline.runs.contains_key(&spec.check.command) {
                continue;
            }
            let mut run = match self.cache.get(&tree, &spec.check) {
                Some(run) => run,
                None => checker.run(&spec.check, Purpose::Baseline).await,
            };
            if run.tree.is_empty() {
                run.write_seq = write_seq;
                fresh.push((spec.check.clone(), run.clone()));
            }
            if run.not_run.is_none() {
                baseline.runs.insert(spec.check.command.clone(), run);
            }
        }
        let after = deps.executor.checkpoint(&deps.workspace, None).await?.tree;
        if after != tree {
            let changes = deps.executor.changes(&deps.workspace, &tree, &after, &[]).await?;
            baseline.products = changes.files.into_iter().map(|file| file.path).collect();
        }
        for (check, mut run) in fresh {
            run.tree.clone_from(&after);
            self.cache.put(&check, run);
        }
        Ok(baseline)
    }

    /// Whether an attempt changed something and every check has passed on the tree as it is.
    pub(crate) async fn all_green(&self, live: &Live) -> bool {
        if !live.progress().acted {
            return false;
        }
        let deps = &self.deps;
        let task = &live.seat.task;
        let Ok(Some(start)) = deps.store.last_checkpoint(task.turn_id, Some(task.id), "task_start").await
        else {
            return false;
        };
        let Ok(project) = deps.executor.project_checks(&deps.workspace).await else { return false };
        let list = checks_of(&live.seat.task.spec, project);
        let Ok(now) = deps.executor.checkpoint(&deps.workspace, None).await else { return false };
        start.checkpoint.tree != now.tree
            && !list.is_empty()
            && list
                .specs
                .iter()
                .all(|spec| self.cache.get(&now.tree, &spec.check).is_some_and(|run| run.passed()))
    }
}

/// The word of a status, as JSON has it.
pub(crate) fn word(status: TaskStatus) -> String {
    serde_json::to_value(status).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Nothing that holds one of these locks can panic between two halves of a change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
