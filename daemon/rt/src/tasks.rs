//! Named tasks with an owner. Nothing else in the daemon spawns.
//!
//! A [`Tasks`] is a node of a tree: cancelling one cancels what is below it, and [`Tasks::shutdown`]
//! waits until all of it has ended, so no task outlives its owner.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, error, warn};

/// What happens to a task when its owner is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCancel {
    /// It is dropped at its next await.
    Abort,
    /// It goes on; it watches the token itself, or is short.
    Finish,
}

/// An owner of tasks. Clones are the same owner.
#[derive(Debug, Clone)]
pub struct Tasks {
    name: &'static str,
    token: CancellationToken,
    /// Ends what the grace time did not.
    hard: CancellationToken,
    tracker: TaskTracker,
}

impl Tasks {
    /// The top of a tree.
    pub fn root() -> Self {
        Self {
            name: "root",
            token: CancellationToken::new(),
            hard: CancellationToken::new(),
            tracker: TaskTracker::new(),
        }
    }

    /// An owner below this one: cancelled with it, or alone.
    pub fn child(&self, name: &'static str) -> Self {
        Self {
            name,
            token: self.token.child_token(),
            hard: self.hard.child_token(),
            tracker: TaskTracker::new(),
        }
    }

    /// Cancelled when this owner is.
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Runs a future as a named task. Its handle gives `None` when it was ended before its own end.
    pub fn spawn<F>(
        &self,
        name: &'static str,
        on_cancel: OnCancel,
        future: F,
    ) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let owner = self.name;
        let soft = self.token.clone();
        let hard = self.hard.clone();
        self.tracker.spawn(async move {
            let guard = PanicGuard { owner, name };
            let stopped = async {
                match on_cancel {
                    OnCancel::Abort => soft.cancelled().await,
                    OnCancel::Finish => hard.cancelled().await,
                }
            };
            let result = tokio::select! {
                // The work first: a result that is ready is not thrown away.
                biased;
                result = future => Some(result),
                () = stopped => None,
            };
            std::mem::forget(guard);
            debug!(owner, name, ended = result.is_some(), "task ended");
            result
        })
    }

    /// Cancels, waits up to `grace` for the tasks of this owner, then drops what is left and waits for that.
    /// Owners below are cancelled too; whoever made them waits for them.
    pub async fn shutdown(&self, grace: Duration) {
        self.token.cancel();
        self.tracker.close();
        if tokio::time::timeout(grace, self.tracker.wait()).await.is_err() {
            warn!(owner = self.name, left = self.tracker.len(), "tasks did not end in time and are dropped");
            self.hard.cancel();
            self.tracker.wait().await;
        }
    }

    /// How many tasks run.
    pub fn len(&self) -> usize {
        self.tracker.len()
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.tracker.is_empty()
    }
}

/// Reports a panic with the task's name; forgotten when there was none.
struct PanicGuard {
    owner: &'static str,
    name: &'static str,
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            error!(owner = self.owner, name = self.name, "task panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_shutdown_awaits_everything_by_its_policy() {
        let tasks = Tasks::root();
        let token = tasks.token().clone();
        let aborted = tasks.spawn("aborted", OnCancel::Abort, std::future::pending::<u8>());
        let finished = tasks.spawn("finished", OnCancel::Finish, async move {
            token.cancelled().await;
            7
        });
        let stuck = tasks.spawn("stuck", OnCancel::Finish, std::future::pending::<u8>());
        tasks.shutdown(Duration::from_millis(20)).await;
        assert!(tasks.is_empty());
        assert_eq!(aborted.await.unwrap(), None);
        assert_eq!(finished.await.unwrap(), Some(7));
        assert_eq!(stuck.await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_child_ends_with_its_parent_but_not_the_other_way() {
        let parent = Tasks::root();
        let child = parent.child("child");
        child.shutdown(Duration::from_secs(1)).await;
        assert!(!parent.token().is_cancelled());
        let other = parent.child("other");
        parent.shutdown(Duration::from_secs(1)).await;
        assert!(other.token().is_cancelled());
    }
}
