//! The loop of a turn: an input, the core's actions, one commit, and then the actions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use air_contracts::Result;
use air_contracts::event::{AgentStarted, AttemptStarted, NewEvent};
use air_contracts::ids::{AgentId, AttemptId, RefKind, TurnId};
use air_contracts::task::{AgentRole, AttemptStatus, TaskStatus};
use air_rt::CancellationToken;
use air_scheduler_core::{Action, Attempt, Graph, TaskNo, TaskNode, Transcript};
use air_store::TaskRow;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::status::{Change, closed};
use super::{Detail, Report};
use crate::attempt::{Finish, Seat};
use crate::scheduler::{Scheduler, lock};
use crate::verify::Verdict;

/// The identities of an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Who {
    pub(super) agent_id: AgentId,
    pub(super) attempt_id: AttemptId,
}

/// What runs for an attempt: its worker, its verification, or its review.
struct Job {
    n: u32,
    cancel: CancellationToken,
    /// The end of the attempt, written down when the job has said its last word.
    closing: Option<(Attempt, String)>,
}

/// What is known of a task beside the log.
#[derive(Default)]
pub(super) struct Known {
    pub(super) seat: Option<Seat>,
    pub(super) finish: Option<Finish>,
    pub(super) verdict: Option<Verdict>,
    pub(super) failure: Option<String>,
    /// Filled while the task owns the user's tree.
    pub(super) tree: TreeSlot,
}

/// Where the ownership of the tree lies: taken by an attempt, given back by the driver.
pub(super) type TreeSlot = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

/// A turn being driven.
pub(super) struct Drive {
    scheduler: Arc<Scheduler>,
    turn: TurnId,
    graph: Graph,
    rows: BTreeMap<TaskNo, TaskRow>,
    who: BTreeMap<(TaskNo, u32), Who>,
    jobs: BTreeMap<TaskNo, Job>,
    known: BTreeMap<TaskNo, Known>,
    reports: mpsc::UnboundedSender<Report>,
    inbox: mpsc::UnboundedReceiver<Report>,
}

impl Drive {
    pub(super) fn new(
        scheduler: &Arc<Scheduler>,
        turn: TurnId,
        graph: Graph,
        rows: BTreeMap<TaskNo, TaskRow>,
        who: BTreeMap<(TaskNo, u32), Who>,
        reports: mpsc::UnboundedSender<Report>,
        inbox: mpsc::UnboundedReceiver<Report>,
    ) -> Self {
        let (jobs, known) = (BTreeMap::new(), BTreeMap::new());
        Self { scheduler: Arc::clone(scheduler), turn, graph, rows, who, jobs, known, reports, inbox }
    }

    pub(super) const fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(super) const fn rows(&self) -> &BTreeMap<TaskNo, TaskRow> {
        &self.rows
    }

    pub(super) const fn scheduler(&self) -> &Arc<Scheduler> {
        &self.scheduler
    }

    pub(super) const fn turn(&self) -> TurnId {
        self.turn
    }

    pub(super) fn reports(&self) -> mpsc::UnboundedSender<Report> {
        self.reports.clone()
    }

    pub(super) fn known(&mut self, task: TaskNo) -> &mut Known {
        self.known.entry(task).or_default()
    }

    /// Whether the turn has one task alone.
    pub(super) fn is_single(&self) -> bool {
        self.rows.len() == 1
    }

    pub(super) fn pause(&mut self) {
        self.graph = std::mem::take(&mut self.graph).paused();
    }

    /// Drives a turn to where nothing happens any more.
    pub(super) async fn run(
        scheduler: &Arc<Scheduler>,
        turn: TurnId,
        reports: mpsc::UnboundedSender<Report>,
        inbox: mpsc::UnboundedReceiver<Report>,
    ) -> Result<()> {
        let mut drive = Self::load(scheduler, turn, reports, inbox).await?;
        for report in drive.first_reports().await? {
            drive.take(report).await?;
        }
        let token = scheduler.deps.tasks.token().clone();
        let mut stopping = false;
        while !drive.jobs.is_empty() || !(stopping || drive.graph.is_settled()) {
            let report = tokio::select! {
                biased;
                () = token.cancelled(), if !stopping => {
                    stopping = true;
                    continue;
                }
                report = drive.inbox.recv() => report,
            };
            // The driver holds a sender itself, so there is always one.
            let Some(report) = report else { break };
            drive.take(report).await?;
        }
        Ok(())
    }

    /// Takes a report: state, one commit, actions.
    pub(super) async fn take(&mut self, report: Report) -> Result<()> {
        let Report { input, over, mut events, detail } = report;
        self.remember(&detail);
        let open: Vec<(TaskNo, u32)> = self.open_attempts();
        let actions = match input {
            // When the daemon stops, the log keeps what runs as running: the next one goes on with it.
            Some(_) if self.scheduler.stopping() && over.is_none() => Vec::new(),
            Some(input) => self.graph.step(input),
            None => Vec::new(),
        };
        self.refresh().await?;
        self.close_attempts(&open, over, &detail, &mut events);
        events.extend(self.changes(&actions, &detail));
        let starts = self.seats(&actions, &mut events).await?;
        self.scheduler.deps.store.ingest(events).await?;
        self.give_tree_back();
        for action in actions {
            self.carry_out(action, &starts);
        }
        Ok(())
    }

    /// A task that is not at work any more, and has no job that might be, lets the next writer in.
    fn give_tree_back(&self) {
        for (no, known) in &self.known {
            let active = self.graph.tasks().get(no).is_some_and(TaskNode::is_active);
            if !active && !self.jobs.contains_key(no) {
                lock(&known.tree).take();
            }
        }
    }

    fn remember(&mut self, detail: &Detail) {
        let Some(task) = detail.task else { return };
        let known = self.known.entry(task).or_default();
        if detail.finish.is_some() {
            known.finish.clone_from(&detail.finish);
        }
        if detail.verdict.is_some() {
            known.verdict.clone_from(&detail.verdict);
        }
        if detail.failure.is_some() {
            known.failure.clone_from(&detail.failure);
        }
        if let (Some(note), Some(row)) = (&detail.note, self.rows.get_mut(&task)) {
            row.note = Some(note.clone());
        }
    }

    /// Tasks that came while the turn was running.
    async fn refresh(&mut self) -> Result<()> {
        if self.graph.tasks().keys().all(|no| self.rows.contains_key(no)) {
            return Ok(());
        }
        for row in self.scheduler.deps.store.tasks_of_turn(self.turn).await? {
            self.rows.entry(row.n).or_insert(row);
        }
        Ok(())
    }

    fn open_attempts(&self) -> Vec<(TaskNo, u32)> {
        self.graph
            .tasks()
            .iter()
            .filter_map(|(no, task)| task.open_attempt().map(|open| (*no, open.n)))
            .collect()
    }

    /// Attempts that are over now. One whose job still speaks is written down after its last word.
    fn close_attempts(
        &mut self,
        open: &[(TaskNo, u32)],
        over: Option<(TaskNo, u32)>,
        detail: &Detail,
        events: &mut Vec<NewEvent>,
    ) {
        let ended = over.and_then(|(no, n)| {
            let same = self.jobs.get(&no).is_some_and(|job| job.n == n);
            same.then(|| self.jobs.remove(&no)).flatten().map(|job| (no, job))
        });
        for (no, n) in open {
            let Some(task) = self.graph.tasks().get(no) else { continue };
            let Some(attempt) = task.attempts.iter().find(|attempt| attempt.n == *n && !attempt.is_open())
            else {
                continue;
            };
            let note = if detail.task == Some(*no) { detail.attempt_note.clone() } else { String::new() };
            match self.jobs.get_mut(no) {
                Some(job) => job.closing = Some((attempt.clone(), note)),
                None => events.extend(self.closed(*no, attempt, &note)),
            }
        }
        if let Some((no, Job { closing: Some((attempt, note)), .. })) = ended {
            events.extend(self.closed(no, &attempt, &note));
        }
        for no in open.iter().map(|(no, _)| no) {
            // A stopped attempt may have left its baseline half done.
            let over = self.graph.tasks().get(no).is_some_and(|task| {
                let stopped =
                    task.attempts.last().is_some_and(|last| last.status == AttemptStatus::Cancelled);
                task.status.is_settled() || stopped
            });
            if let (true, Some(row)) = (over, self.rows.get(no)) {
                self.scheduler.baselines.forget(row.id);
            }
        }
    }

    fn closed(&self, no: TaskNo, attempt: &Attempt, note: &str) -> Option<NewEvent> {
        Some(closed(self.rows.get(&no)?, *self.who.get(&(no, attempt.n))?, attempt, note))
    }

    /// One event for each task whose status changed, however many steps it took.
    fn changes(&mut self, actions: &[Action], detail: &Detail) -> Vec<NewEvent> {
        let mut last: BTreeMap<TaskNo, Change> = BTreeMap::new();
        for change in actions.iter().filter_map(Change::of) {
            last.insert(change.task, change);
        }
        let mut events = Vec::with_capacity(last.len());
        for (no, change) in last {
            let Some(row) = self.rows.get_mut(&no) else { continue };
            let again = change.status == TaskStatus::Blocked && row.status == TaskStatus::Blocked;
            row.status = change.status;
            let completed = change.status == TaskStatus::Completed;
            if !again || detail.task == Some(no) {
                events.push(change.event(row, detail));
            }
            let verdict = self.known.get(&no).and_then(|known| known.verdict.as_ref()).filter(|_| completed);
            events.extend(
                verdict.map(|verdict| super::status::tree(row, verdict.end.clone(), &self.scheduler)),
            );
        }
        events
    }

    /// Gives each attempt that starts its identities and its model.
    async fn seats(
        &mut self,
        actions: &[Action],
        events: &mut Vec<NewEvent>,
    ) -> Result<BTreeMap<TaskNo, Result<Seat>>> {
        let mut seats = BTreeMap::new();
        for action in actions {
            let Action::StartAttempt { task, n, role, .. } = action else { continue };
            let deps = &self.scheduler.deps;
            let who = Who {
                agent_id: AgentId::from_uuid(deps.ids.next()),
                attempt_id: AttemptId::from_uuid(deps.ids.next()),
            };
            let seat = self.seat(*task, *n, *role, who).await?;
            let model =
                seat.as_ref().map_or_else(|_| "none".to_owned(), |seat| seat.assignment.matrix.model.clone());
            let Some(row) = self.rows.get(task) else { continue };
            let started = AgentStarted {
                session_id: row.session_id,
                turn_id: self.turn,
                agent_id: who.agent_id,
                n: deps.store.next_ref(RefKind::Agent),
                role: *role,
                model,
                workspace_id: deps.workspace.id,
                attempt: Some(AttemptStarted { task_id: row.id, attempt_id: who.attempt_id, n: *n }),
                pid: None,
            };
            let source = air_contracts::event::EventSource::scheduler();
            events
                .push(NewEvent::new(row.session_id, source, started).task(Some(row.id)).agent(who.agent_id));
            self.who.insert((*task, *n), who);
            seats.insert(*task, seat);
        }
        Ok(seats)
    }

    /// The inner error: no model can be selected.
    pub(super) async fn seat(&self, no: TaskNo, n: u32, role: AgentRole, who: Who) -> Result<Result<Seat>> {
        let deps = &self.scheduler.deps;
        let Some(task) = self.rows.get(&no).cloned() else {
            return Err(air_contracts::AirError::internal(format!("k{no} has no row")));
        };
        let turn = deps.store.turn(self.turn).await?;
        let settings = deps.store.session(task.session_id).await?.settings;
        let named = self.scheduler.model_for(task.id).or_else(|| task.spec.constraints.model.clone());
        let wanted = named.or_else(|| turn.options.model.clone()).or_else(|| settings.model.clone());
        let assignment = match role {
            // A reviewer is better another model, where one is configured for it.
            AgentRole::Reviewer => {
                deps.gateway.select(role, None).or_else(|_| deps.gateway.select(role, wanted.as_deref()))
            }
            _ => deps.gateway.select(role, wanted.as_deref()),
        };
        let (agent_id, attempt_id) = (who.agent_id, who.attempt_id);
        let workspace = deps.workspace.clone();
        Ok(assignment.map(|assignment| Seat {
            task,
            turn,
            settings,
            agent_id,
            attempt_id,
            n,
            role,
            assignment,
            workspace,
        }))
    }

    fn carry_out(&mut self, action: Action, seats: &BTreeMap<TaskNo, Result<Seat>>) {
        match action {
            Action::StartAttempt { task, n, transcript, .. } => {
                if let Some(seat) = seats.get(&task) {
                    self.start_attempt(task, n, transcript, seat.clone());
                }
            }
            Action::Verify { task, n } => self.start_verification(task, n),
            Action::Review { task, n } => self.start_review(task, n),
            Action::CancelAttempt { task, n, .. } => {
                if let Some(job) = self.jobs.get(&task).filter(|job| job.n == n) {
                    job.cancel.cancel();
                }
            }
            Action::SetStatus { .. }
            | Action::Complete { .. }
            | Action::Fail { .. }
            | Action::Block { .. } => {}
        }
    }

    /// Registers what runs for an attempt now; its token ends with the daemon's.
    pub(super) fn job(&mut self, task: TaskNo, n: u32) -> CancellationToken {
        let cancel = self.scheduler.deps.tasks.token().child_token();
        self.jobs.insert(task, Job { n, cancel: cancel.clone(), closing: None });
        cancel
    }

    fn start_attempt(&mut self, task: TaskNo, n: u32, transcript: Transcript, seat: Result<Seat>) {
        let cancel = self.job(task, n);
        match seat {
            Ok(seat) => {
                self.known(task).seat = Some(seat.clone());
                self.spawn_attempt(task, seat, transcript, cancel);
            }
            Err(error) => self.no_model(task, n, &error),
        }
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        // Empty but after a fault of the log: nobody would take up what these jobs find out.
        for job in self.jobs.values() {
            job.cancel.cancel();
        }
    }
}
