//! The run of a turn: its tasks are driven until nothing happens any more by itself.

mod drive;
mod jobs;
mod load;
mod review;
mod status;

use std::sync::Arc;

use air_contracts::Result;
use air_contracts::event::NewEvent;
use air_contracts::ids::{EvidenceId, TurnId};
use air_contracts::path::WirePath;
use air_contracts::task::CriterionOutcome;
use air_rt::OnCancel;
use air_scheduler_core::{Input, TaskNo};
use tokio::sync::{mpsc, watch};

use crate::attempt::Finish;
use crate::deps::TurnReport;
use crate::scheduler::{Driven, Scheduler};
use crate::verify::Verdict;

use drive::Drive;

/// Something that happened, with what is to be stored together with what follows from it.
#[derive(Clone, Default)]
pub(crate) struct Report {
    pub(crate) input: Option<Input>,
    /// This job of this attempt has ended.
    pub(crate) over: Option<(TaskNo, u32)>,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) detail: Detail,
}

/// What goes into the row of the task, where it is known.
#[derive(Clone, Default)]
pub(crate) struct Detail {
    pub(crate) task: Option<TaskNo>,
    /// More exact than the core's own words.
    pub(crate) reason: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) criteria: Option<Vec<CriterionOutcome>>,
    pub(crate) changed_files: Option<Vec<WirePath>>,
    pub(crate) foreign_files: Option<Vec<WirePath>>,
    pub(crate) evidence: Vec<EvidenceId>,
    pub(crate) note: Option<String>,
    /// About the attempt, for its row.
    pub(crate) attempt_note: String,
    /// What the next attempt is told.
    pub(crate) failure: Option<String>,
    pub(crate) finish: Option<Finish>,
    pub(crate) verdict: Option<Verdict>,
}

impl Report {
    /// A report that nothing else belongs to.
    pub(crate) fn of(input: Input) -> Self {
        Self { input: Some(input), ..Self::default() }
    }
}

impl Scheduler {
    /// Drives the tasks of a turn until all are settled, or the turn is interrupted, or the daemon stops. Attempts that
    /// an earlier daemon left are recovered first. Dropping the future stops nothing: the work is stopped by
    /// [`Scheduler::interrupt_turn`]. Returns at once when the turn has no task.
    pub async fn run_turn(self: &Arc<Self>, turn: TurnId) -> Result<TurnReport> {
        let store = &self.deps.store;
        if store.tasks_of_turn(turn).await?.is_empty() {
            return Ok(TurnReport::default());
        }
        let (reports, inbox) = mpsc::unbounded_channel();
        let (over, done) = watch::channel(false);
        let running = self.drive_once(turn, Driven { reports: reports.clone(), done: done.clone() });
        let mut done = match running {
            Some(done) => done,
            None => {
                let scheduler = Arc::clone(self);
                self.deps.tasks.spawn("turn", OnCancel::Finish, async move {
                    let guard = Over { scheduler: Arc::clone(&scheduler), turn, over };
                    let ended = Drive::run(&scheduler, turn, reports, inbox).await;
                    guard.over.send_replace(true);
                    if let Err(error) = ended {
                        tracing::error!(%turn, %error, "the tasks of a turn cannot be driven");
                    }
                });
                done
            }
        };
        // An error means that the driver is gone, which is what is waited for.
        let _ = done.wait_for(|done| *done).await;
        let mut tasks = store.tasks_of_turn(turn).await?;
        tasks.sort_by_key(|row| row.n);
        Ok(TurnReport { tasks })
    }

    /// Takes an input for a turn that is not being driven: states change, nothing starts.
    pub(crate) async fn apply(self: &Arc<Self>, turn: TurnId, report: Report) -> Result<()> {
        let (reports, inbox) = mpsc::unbounded_channel();
        let mut drive = Drive::load(self, turn, reports, inbox).await?;
        drive.pause();
        drive.take(report).await
    }
}

/// Says that the driver is gone, on every path.
struct Over {
    scheduler: Arc<Scheduler>,
    turn: TurnId,
    over: watch::Sender<bool>,
}

impl Drop for Over {
    fn drop(&mut self) {
        self.over.send_replace(true);
        self.scheduler.drive_over(self.turn);
    }
}
