//! The sessions of a project, as the API uses them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use air_context::ContextAssembler;
use air_contracts::api::{TurnOutcome, TurnSubmitParams, TurnSubmitResult};
use air_contracts::error::codes;
use air_contracts::event::{
    EventBody, EventSource, NewEvent, SessionClosed, SessionCreated, SourceKind, TaskStatusChanged,
    TurnEnded, TurnResumed, TurnSubmitted,
};
use air_contracts::ids::{RefKind, SessionId, ShortRef, TaskId, TurnId};
use air_contracts::port::{CancelScope, ModelGateway, ToolExecutor};
use air_contracts::session::{SessionSettings, TurnStatus};
use air_contracts::task::TaskStatus;
use air_contracts::workspace::WorkspaceRef;
use air_contracts::{AirError, Result};
use air_rt::{Clock, IdSource, Tasks};
use air_scheduler::Scheduler;
use air_store::{Store, TurnRow};

use crate::lane::Lane;

/// What the sessions of a project work with.
#[derive(Clone)]
pub struct SessionsDeps {
    pub store: Store,
    pub clock: Clock,
    pub ids: IdSource,
    pub tasks: Tasks,
    pub executor: Arc<dyn ToolExecutor>,
    pub gateway: Arc<dyn ModelGateway>,
    pub context: Arc<ContextAssembler>,
    pub scheduler: Arc<Scheduler>,
    /// The user's tree.
    pub workspace: WorkspaceRef,
    /// What L4 says of the project.
    pub project_facts: Arc<dyn Fn() -> String + Send + Sync>,
}

/// The sessions of one project.
pub struct Sessions {
    pub(crate) deps: SessionsDeps,
    lanes: Mutex<HashMap<SessionId, Arc<Lane>>>,
    /// One submit at a time, so that a key of a client gives one turn.
    submitting: tokio::sync::Mutex<()>,
}

impl Sessions {
    /// No session runs yet: see [`Sessions::recover`].
    pub fn new(deps: SessionsDeps) -> Arc<Self> {
        Arc::new(Self { deps, lanes: Mutex::new(HashMap::new()), submitting: tokio::sync::Mutex::new(()) })
    }

    /// Makes a session.
    pub async fn create_session(&self, settings: SessionSettings) -> Result<SessionId> {
        let session_id = SessionId::from_uuid(self.deps.ids.next());
        let n = self.deps.store.next_ref(RefKind::Session);
        let created = SessionCreated { session_id, n, settings, forked_from: None };
        self.deps.store.ingest(vec![NewEvent::new(session_id, client(), created)]).await?;
        Ok(session_id)
    }

    /// Takes a message. When this returns, it is on disk; the same `client_id` gives the same turn.
    pub async fn submit(self: &Arc<Self>, params: TurnSubmitParams) -> Result<TurnSubmitResult> {
        if params.text.trim().is_empty() && params.attachments.is_empty() {
            return Err(
                AirError::new(codes::TURN_EMPTY, "the message is empty").hint("air submit \"what you want\"")
            );
        }
        let _one = self.submitting.lock().await;
        if let Some(client_id) = &params.client_id
            && let Some(row) = self.deps.store.turn_by_client_id(None, client_id).await?
        {
            return self.submitted(&row).await;
        }
        let session_id = self.session_for(&params).await?;
        let turn_id = TurnId::from_uuid(self.deps.ids.next());
        let submitted = TurnSubmitted {
            session_id,
            turn_id,
            n: self.deps.store.next_ref(RefKind::Turn),
            client_id: params.client_id,
            text: params.text,
            attachments: params.attachments,
            options: params.options,
        };
        self.deps.store.ingest(vec![NewEvent::new(session_id, client(), submitted)]).await?;
        let row = self.deps.store.turn(turn_id).await?;
        let result = self.submitted(&row).await;
        self.lane(session_id).wake(self);
        result
    }

    async fn submitted(&self, row: &TurnRow) -> Result<TurnSubmitResult> {
        let session = self.deps.store.session(row.session_id).await?;
        let waiting = self.deps.store.unfinished_turns().await?;
        let queued = waiting.iter().any(|other| other.session_id == row.session_id && other.n < row.n);
        Ok(TurnSubmitResult {
            turn_id: row.id,
            turn: ShortRef::new(RefKind::Turn, row.n),
            session_id: row.session_id,
            session: ShortRef::new(RefKind::Session, session.n),
            seq: row.seq,
            queued,
        })
    }

    async fn session_for(&self, params: &TurnSubmitParams) -> Result<SessionId> {
        // The options of a message hold for its turn alone: the session keeps its own.
        let fresh = SessionSettings { ephemeral: params.ephemeral, ..SessionSettings::default() };
        match params.session.as_str() {
            "new" => self.create_session(fresh).await,
            "latest" if params.ephemeral => self.create_session(fresh).await,
            "latest" => match self.deps.store.latest_session().await? {
                Some(session) => Ok(session.id),
                None => self.create_session(fresh).await,
            },
            other => self.deps.store.resolve_session(other).await,
        }
    }

    /// Ends the active turn of a session as `interrupted`. Returns it; `None` when none was active.
    pub async fn interrupt(&self, session: SessionId) -> Result<Option<TurnId>> {
        let Some(turn) = self.lane(session).interrupt() else { return Ok(None) };
        self.deps.scheduler.interrupt_turn(turn).await?;
        self.deps.executor.cancel(CancelScope::Turn(turn), "interrupted by the user").await;
        self.lane(session).idle().await;
        Ok(Some(turn))
    }

    /// Goes on with the newest turn of a session that was interrupted or ran out of budget.
    pub async fn continue_turn(
        self: &Arc<Self>,
        session: SessionId,
        note: Option<String>,
        max_cost_usd: Option<f64>,
    ) -> Result<TurnSubmitResult> {
        let mut turns = self.deps.store.turns(session, 50).await?;
        turns.sort_by_key(|row| row.n);
        // A failure of the provider may be over by now.
        let provider =
            |row: &TurnRow| row.error.as_ref().is_some_and(|error| error.code.starts_with("provider."));
        let stopped = |row: &&TurnRow| {
            matches!(row.status, TurnStatus::Interrupted | TurnStatus::Budget)
                || row.status == TurnStatus::Failed && provider(row)
        };
        let Some(row) = turns.iter().rev().find(stopped) else {
            return Err(AirError::new(
                codes::TURN_NOT_ACTIVE,
                "no turn of this session was interrupted or ran out of budget",
            )
            .hint("air submit sends a new message"));
        };
        if let Some(max_cost_usd) = max_cost_usd {
            self.raise_limit(session, max_cost_usd).await?;
        }
        if let Some(note) = &note {
            self.tell_tasks(row, note).await?;
        }
        self.resume(row, "continue", note).await?;
        self.submitted(row).await
    }

    /// Gives what the user adds to the tasks that go on.
    async fn tell_tasks(&self, turn: &TurnRow, note: &str) -> Result<()> {
        let tasks = self.deps.store.tasks_of_turn(turn.id).await?;
        let open =
            tasks.into_iter().filter(|task| !task.status.is_settled() || task.status == TaskStatus::Blocked);
        let events = open.map(|task| {
            let told = TaskStatusChanged {
                task_id: task.id,
                status: task.status,
                reason: task.reason,
                summary: None,
                criteria: None,
                changed_files: None,
                foreign_files: None,
                blocker: None,
                note: Some(note.to_owned()),
            };
            NewEvent::new(turn.session_id, client(), told).task(Some(task.id))
        });
        self.deps.store.ingest(events.collect()).await.map(drop)
    }

    async fn raise_limit(&self, session: SessionId, max_cost_usd: f64) -> Result<()> {
        let row = self.deps.store.session(session).await?;
        let mut settings = row.settings;
        settings.limits.max_cost_usd = Some(max_cost_usd);
        let configured = air_contracts::event::SessionConfigured { session_id: session, settings };
        self.deps.store.ingest(vec![NewEvent::new(session, client(), configured)]).await.map(drop)
    }

    async fn resume(self: &Arc<Self>, row: &TurnRow, reason: &str, note: Option<String>) -> Result<()> {
        let resumed = TurnResumed { turn_id: row.id, reason: reason.to_owned(), note };
        self.deps.store.ingest(vec![NewEvent::new(row.session_id, client(), resumed)]).await?;
        self.lane(row.session_id).wake(self);
        Ok(())
    }

    /// Removes a queued turn. `turn.not_active` when it has begun or ended.
    pub async fn cancel_queued(&self, turn: TurnId) -> Result<()> {
        let _one = self.submitting.lock().await;
        let row = self.deps.store.turn(turn).await?;
        if row.status != TurnStatus::Queued {
            let message = format!("t{} is not in the queue any more", row.n);
            return Err(
                AirError::new(codes::TURN_NOT_ACTIVE, message).hint("air interrupt stops a running turn")
            );
        }
        let ended = TurnEnded {
            turn_id: turn,
            status: TurnStatus::Cancelled,
            answer: String::new(),
            blockers: vec![],
            error: None,
        };
        self.deps.store.ingest(vec![NewEvent::new(row.session_id, client(), ended)]).await.map(drop)
    }

    /// Runs a failed or blocked task again; its turn goes on under its id.
    pub async fn retry_task(
        self: &Arc<Self>,
        task: TaskId,
        note: Option<String>,
        model: Option<String>,
    ) -> Result<()> {
        let row = self.deps.store.task(task).await?;
        self.deps.scheduler.retry_task(task, note.clone(), model).await?;
        let turn = self.deps.store.turn(row.turn_id).await?;
        if turn.status.is_ended() {
            self.resume(&turn, "retry", note).await?;
        } else {
            self.lane(turn.session_id).wake(self);
        }
        Ok(())
    }

    /// Ends the processes of a session and leaves it resumable.
    pub async fn close_session(&self, session: SessionId) -> Result<()> {
        self.interrupt(session).await?;
        self.deps.executor.cancel(CancelScope::Session(session), "the session was closed").await;
        let closed = SessionClosed { session_id: session };
        self.deps.store.ingest(vec![NewEvent::new(session, client(), closed)]).await.map(drop)
    }

    /// At the start of a daemon: turns that were running or queued go on. What is queued behind an interrupted
    /// turn stays queued.
    pub async fn recover(self: &Arc<Self>) -> Result<()> {
        let unfinished = self.deps.store.unfinished_turns().await?;
        let mut sessions: Vec<SessionId> = unfinished.iter().map(|row| row.session_id).collect();
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            let running =
                unfinished.iter().any(|row| row.session_id == session && row.status == TurnStatus::Running);
            if running || !self.held_by_interrupt(session).await? {
                self.lane(session).wake(self);
            }
        }
        Ok(())
    }

    async fn held_by_interrupt(&self, session: SessionId) -> Result<bool> {
        let turns = self.deps.store.turns(session, 50).await?;
        let newest = turns.iter().filter(|row| row.status.is_ended()).max_by_key(|row| row.ended_at);
        let Some(newest) = newest else { return Ok(false) };
        // A submit after the interrupt let the queue go on.
        let submitted_since = turns.iter().any(|row| {
            row.status == TurnStatus::Queued && newest.ended_at.is_some_and(|ended| row.submitted_at >= ended)
        });
        Ok(newest.status == TurnStatus::Interrupted && !submitted_since)
    }

    /// How a turn stands.
    pub async fn outcome(&self, turn: TurnId) -> Result<TurnOutcome> {
        crate::outcome::outcome(&self.deps.store, turn).await
    }

    /// Waits until a turn has ended, or, where asked, until only an approval can advance it; at most `timeout`.
    pub async fn wait(&self, turn: TurnId, timeout: Duration, until_approval: bool) -> Result<TurnOutcome> {
        let session = self.deps.store.turn(turn).await?.session_id;
        let lane = self.lane(session);
        tokio::select! {
            outcome = crate::outcome::wait(&self.deps.store, turn, timeout, until_approval) => outcome,
            fault = lane.faulted() => Err(fault),
        }
    }

    /// How many turns run now.
    pub fn running_turns(&self) -> usize {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.values().filter(|lane| lane.is_running()).count()
    }

    pub(crate) fn lane(&self, session: SessionId) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lanes.entry(session).or_insert_with(|| Arc::new(Lane::new(session))))
    }

    pub(crate) async fn end_turn(
        &self,
        row: &TurnRow,
        ended: TurnEnded,
        mut before: Vec<NewEvent>,
    ) -> Result<()> {
        before.push(NewEvent::new(row.session_id, EventSource::daemon(), EventBody::from(ended)));
        self.deps.store.ingest(before).await.map(drop)
    }
}

fn client() -> EventSource {
    EventSource::new(SourceKind::Client, "api")
}
