//! Ending calls: a flag per run, and the table of those that are under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use air_contracts::ids::ToolRunId;
use air_contracts::port::CancelScope;
use air_contracts::tool::CallContext;
use tokio::sync::watch;

/// Whether a call is to end, and why. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Cancel(Arc<watch::Sender<Option<String>>>);

impl Cancel {
    /// Not cancelled.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    /// The reason, once there is one.
    pub fn reason(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// Waits for the reason.
    pub async fn requested(&self) -> String {
        let mut receiver = self.0.subscribe();
        loop {
            if let Some(reason) = receiver.borrow_and_update().clone() {
                return reason;
            }
            if receiver.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn request(&self, reason: &str) {
        self.0.send_if_modified(|current| {
            let first = current.is_none();
            if first {
                *current = Some(reason.to_owned());
            }
            first
        });
    }
}

/// One entry of the table.
struct Live {
    context: CallContext,
    cancel: Cancel,
    /// Closed when the call has its result.
    done: watch::Sender<()>,
}

/// The calls, and the commands in the background, that can be ended.
#[derive(Default)]
pub(crate) struct LiveCalls(Mutex<HashMap<ToolRunId, Live>>);

/// Takes the entry out when the call is over, however it ends.
pub(crate) struct LiveGuard {
    calls: Arc<LiveCalls>,
    run_id: ToolRunId,
}

impl Drop for LiveGuard {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.run_id);
    }
}

impl LiveCalls {
    fn lock(&self) -> MutexGuard<'_, HashMap<ToolRunId, Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call until the guard is dropped.
    pub fn enter(self: &Arc<Self>, run_id: ToolRunId, context: &CallContext, cancel: &Cancel) -> LiveGuard {
        let live = Live { context: context.clone(), cancel: cancel.clone(), done: watch::Sender::new(()) };
        self.lock().insert(run_id, live);
        LiveGuard { calls: self.clone(), run_id }
    }

    /// Tells all calls of a scope to end. What comes back resolves when each of them has its result.
    pub fn cancel(&self, scope: CancelScope, reason: &str) -> Vec<watch::Receiver<()>> {
        let calls = self.lock();
        let hit = calls.iter().filter(|(id, live)| matches(scope, **id, &live.context));
        hit.map(|(_, live)| {
            live.cancel.request(reason);
            live.done.subscribe()
        })
        .collect()
    }
}

/// Whether a call lies in a scope.
pub(crate) fn matches(scope: CancelScope, run_id: ToolRunId, context: &CallContext) -> bool {
    match scope {
        CancelScope::Run(id) => id == run_id,
        CancelScope::Agent(id) => id == context.agent_id,
        CancelScope::Task(id) => Some(id) == context.task_id,
        CancelScope::Turn(id) => id == context.turn_id,
        CancelScope::Session(id) => id == context.session_id,
    }
}
