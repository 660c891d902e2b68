//! The checks as they were before a task wrote anything: what was red then is no news later.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use air_contracts::ids::TaskId;
use air_contracts::path::WirePath;
use air_rt::{OnCancel, Tasks};
use tokio::sync::watch;

use super::run::CheckRun;

/// What was seen before the first write.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Baseline {
    /// By command.
    pub runs: BTreeMap<String, CheckRun>,
    /// Files of the tree that the checks themselves wrote: no change of the task.
    pub products: BTreeSet<WirePath>,
}

impl Baseline {
    /// The run of a command.
    pub fn of(&self, command: &str) -> Option<&CheckRun> {
        self.runs.get(command)
    }
}

type Cell = watch::Receiver<Option<Arc<Baseline>>>;

/// Baselines by task, each made once, in the background.
#[derive(Default)]
pub(crate) struct Baselines(Mutex<BTreeMap<TaskId, Cell>>);

impl Baselines {
    /// Starts one, unless it was started before.
    pub(crate) fn start<F>(&self, tasks: &Tasks, task: TaskId, make: F)
    where
        F: Future<Output = Baseline> + Send + 'static,
    {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A sender that is gone without a value was cut short; it is made anew.
        if known.get(&task).is_some_and(|cell| cell.borrow().is_some() || cell.has_changed().is_ok()) {
            return;
        }
        let (sender, receiver) = watch::channel(None);
        known.insert(task, receiver);
        tasks.spawn("baseline", OnCancel::Abort, async move {
            let baseline = make.await;
            sender.send_replace(Some(Arc::new(baseline)));
        });
    }

    /// Waits for it. Empty when none was started, or it was cut short.
    pub(crate) async fn wait(&self, task: TaskId) -> Arc<Baseline> {
        let cell = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&task).cloned();
        let Some(mut cell) = cell else { return Arc::default() };
        cell.wait_for(Option::is_some).await.ok().and_then(|made| made.clone()).unwrap_or_default()
    }

    /// Forgets it: the task has ended, or its attempt was stopped before anything was written.
    pub(crate) fn forget(&self, task: TaskId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&task);
    }
}
