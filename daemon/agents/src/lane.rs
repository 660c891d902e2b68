//! One lane for each session: its turns run one after the other.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use air_contracts::ids::{SessionId, TurnId};
use air_contracts::session::TurnStatus;
use air_contracts::{AirError, Result};
use air_rt::{CancellationToken, OnCancel};
use air_store::TurnRow;
use tokio::sync::watch;
use tracing::error;

use crate::sessions::Sessions;
use crate::turn;

/// The queue of a session. The queue itself is in the log; this is who works on it.
pub(crate) struct Lane {
    session: SessionId,
    state: Mutex<State>,
    idle: watch::Sender<bool>,
    /// Why the log cannot be written or read, while it cannot.
    fault: watch::Sender<Option<AirError>>,
}

/// Between two looks whether the log can be written again.
const FAULT_PAUSE: Duration = Duration::from_secs(2);

#[derive(Default)]
struct State {
    working: bool,
    /// A turn came while the lane was about to stop.
    woken: bool,
    active: Option<(TurnId, CancellationToken)>,
}

impl Lane {
    pub(crate) fn new(session: SessionId) -> Self {
        Self {
            session,
            state: Mutex::default(),
            idle: watch::Sender::new(true),
            fault: watch::Sender::new(None),
        }
    }

    /// Starts the lane, or tells the one that runs to look again.
    pub(crate) fn wake(self: &Arc<Self>, sessions: &Arc<Sessions>) {
        {
            let mut state = self.lock();
            state.woken = true;
            if state.working {
                return;
            }
            state.working = true;
        }
        self.idle.send_replace(false);
        let lane = Arc::clone(self);
        let sessions = Arc::clone(sessions);
        let tasks = sessions.deps.tasks.clone();
        tasks.spawn("session lane", OnCancel::Abort, async move { lane.run(&sessions).await });
    }

    /// Cancels the active turn and returns it.
    pub(crate) fn interrupt(&self) -> Option<TurnId> {
        let mut state = self.lock();
        let (turn, token) = state.active.as_ref()?;
        token.cancel();
        let turn = *turn;
        // What was submitted before this waits; only a later submit, continue or retry wakes the lane.
        state.woken = false;
        Some(turn)
    }

    /// Returns when no turn is active.
    pub(crate) async fn idle(&self) {
        let mut idle = self.idle.subscribe();
        // The sender lives as long as the lane.
        let _ = idle.wait_for(|idle| *idle).await;
    }

    /// Returns when the log cannot be written, with the reason.
    pub(crate) async fn faulted(&self) -> AirError {
        let mut fault = self.fault.subscribe();
        match fault.wait_for(Option::is_some).await.map(|fault| fault.clone()) {
            Ok(Some(fault)) => fault,
            // The sender lives as long as the lane.
            _ => std::future::pending().await,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.lock().active.is_some()
    }

    async fn run(&self, sessions: &Arc<Sessions>) {
        loop {
            if sessions.deps.tasks.token().is_cancelled() {
                return;
            }
            self.lock().woken = false;
            match self.next(sessions).await {
                Ok(Some(row)) => match self.run_turn(sessions, row).await {
                    // What is queued waits for a continue, a retry or the next submit.
                    Ok(TurnStatus::Interrupted) => {
                        if self.stop() {
                            return;
                        }
                    }
                    Ok(_) => {
                        self.fault.send_replace(None);
                    }
                    Err(fault) => self.pause(&fault).await,
                },
                Ok(None) => {
                    if self.stop() {
                        return;
                    }
                }
                Err(fault) => self.pause(&fault).await,
            }
        }
    }

    async fn next(&self, sessions: &Arc<Sessions>) -> Result<Option<TurnRow>> {
        let mut unfinished = sessions.deps.store.unfinished_turns().await?;
        unfinished.retain(|row| row.session_id == self.session);
        // A resumed turn runs before what was queued behind it.
        unfinished.sort_by_key(|row| (row.status != TurnStatus::Running, row.n));
        Ok(unfinished.into_iter().next())
    }

    /// The turn is still unfinished in the log: it goes on when the log can be written again.
    async fn pause(&self, fault: &AirError) {
        error!(session = %self.session, %fault, "a turn waits until the log can be written");
        self.fault.send_replace(Some(fault.clone()));
        tokio::time::sleep(FAULT_PAUSE).await;
    }

    async fn run_turn(&self, sessions: &Arc<Sessions>, row: TurnRow) -> Result<TurnStatus> {
        let token = sessions.deps.tasks.token().child_token();
        self.lock().active = Some((row.id, token.clone()));
        self.idle.send_replace(false);
        let status = turn::run(sessions, row, &token).await;
        self.lock().active = None;
        self.idle.send_replace(true);
        status
    }

    /// Stops unless somebody woke the lane meanwhile.
    fn stop(&self) -> bool {
        let mut state = self.lock();
        if state.woken {
            return false;
        }
        state.working = false;
        self.idle.send_replace(true);
        true
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
