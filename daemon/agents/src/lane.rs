//! One lane for each session: its turns run one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use air_contracts::ids::{SessionId, TurnId};
use air_contracts::session::TurnStatus;
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
}

#[derive(Default)]
struct State {
    working: bool,
    /// A turn came while the lane was about to stop.
    woken: bool,
    active: Option<(TurnId, CancellationToken)>,
}

impl Lane {
    pub(crate) fn new(session: SessionId) -> Self {
        Self { session, state: Mutex::default(), idle: watch::Sender::new(true) }
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
                Ok(Some(row)) => {
                    if self.run_turn(sessions, row).await == Some(TurnStatus::Interrupted)
                        && !self.lock().woken
                    {
                        // What is queued waits for a continue, a retry or the next submit.
                        if self.stop() {
                            return;
                        }
                    }
                }
                Ok(None) => {
                    if self.stop() {
                        return;
                    }
                }
                Err(fault) => {
                    error!(session = %self.session, %fault, "the queue of a session cannot be read");
                    if self.stop() {
                        return;
                    }
                }
            }
        }
    }

    async fn next(&self, sessions: &Arc<Sessions>) -> air_contracts::Result<Option<TurnRow>> {
        let mut unfinished = sessions.deps.store.unfinished_turns().await?;
        unfinished.retain(|row| row.session_id == self.session);
        // A resumed turn runs before what was queued behind it.
        unfinished.sort_by_key(|row| (row.status != TurnStatus::Running, row.n));
        Ok(unfinished.into_iter().next())
    }

    async fn run_turn(&self, sessions: &Arc<Sessions>, row: TurnRow) -> Option<TurnStatus> {
        let token = sessions.deps.tasks.token().child_token();
        self.lock().active = Some((row.id, token.clone()));
        self.idle.send_replace(false);
        let turn = row.id;
        let status = turn::run(sessions, row, &token).await;
        self.lock().active = None;
        self.idle.send_replace(true);
        match status {
            Ok(status) => Some(status),
            Err(fault) => {
                // The turn is still unfinished in the log: it goes on with the next wake or the next daemon.
                error!(%turn, %fault, "a turn stopped without its end");
                Some(TurnStatus::Interrupted)
            }
        }
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
