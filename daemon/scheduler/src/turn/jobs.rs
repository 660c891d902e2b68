//! What is started for an attempt, and what it reports.

use std::fmt::Write as _;
use std::sync::Arc;

use air_contracts::AirError;
use air_contracts::port::CancelScope;
use air_contracts::task::{AgentRole, FailureClass};
use air_contracts::worker_result::WorkerStatus;
use air_rt::{CancellationToken, OnCancel};
use air_scheduler_core::{Input, TaskNo, TaskNode, Transcript};
use tokio::sync::mpsc;

use super::drive::{Drive, TreeSlot};
use super::{Detail, Report};
use crate::attempt::{self, AttemptEnd, Finish, Outcome, Seat, Work};
use crate::scheduler::{Scheduler, lock};
use crate::verify::{Judgement, Verdict, Verification};

/// Reports the end of a job on every path.
pub(super) struct Job {
    task: TaskNo,
    n: u32,
    reports: mpsc::UnboundedSender<Report>,
    said: bool,
}

impl Job {
    pub(super) fn say(mut self, mut report: Report) {
        self.said = true;
        report.over = Some((self.task, self.n));
        // Without a receiver there is nobody left to care.
        let _ = self.reports.send(report);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.said {
            return;
        }
        let (task, n) = (self.task, self.n);
        let mut report = Report::of(Input::WorkerLost { task, n });
        report.over = Some((task, n));
        report.detail =
            Detail { task: Some(task), attempt_note: "its task ended early".to_owned(), ..Detail::default() };
        let _ = self.reports.send(report);
    }
}

impl Drive {
    pub(super) fn new_job(&self, task: TaskNo, n: u32) -> Job {
        Job { task, n, reports: self.reports(), said: false }
    }

    pub(super) fn spawn_attempt(
        &mut self,
        task: TaskNo,
        seat: Seat,
        transcript: Transcript,
        cancel: CancellationToken,
    ) {
        let job = self.new_job(task, seat.n);
        let told = self.known(task).failure.take();
        let writes = self.graph().tasks().get(&task).is_some_and(TaskNode::writes);
        let tree = writes.then(|| Arc::clone(&self.known(task).tree));
        let scheduler = Arc::clone(self.scheduler());
        let spawned = Arc::clone(self.scheduler());
        spawned.deps.tasks.spawn("attempt", OnCancel::Finish, async move {
            if let Some(tree) = tree
                && !own_tree(&scheduler, &tree, &cancel).await
            {
                job.say(Report::default());
                return;
            }
            let failure = failure_block(&scheduler, &seat, transcript, told).await;
            let n = seat.n;
            let end = attempt::run(&scheduler, Work { seat, transcript, failure, extra: None, cancel }).await;
            job.say(attempt_report(&scheduler, task, n, end));
        });
    }

    /// No model can be selected: the attempt ends before it began.
    pub(super) fn no_model(&mut self, task: TaskNo, n: u32, error: &AirError) {
        let end =
            Outcome::Failed { class: FailureClass::Provider, note: error.message.clone(), retryable: false };
        let report =
            attempt_report(self.scheduler(), task, n, AttemptEnd { outcome: end, events: Vec::new() });
        self.new_job(task, n).say(report);
    }

    pub(super) fn start_verification(&mut self, task: TaskNo, n: u32) {
        let cancel = self.job(task, n);
        let job = self.new_job(task, n);
        let single = self.is_single();
        let known = self.known(task);
        let (Some(seat), Some(finish)) = (known.seat.clone(), known.finish.clone()) else { return };
        let scheduler = Arc::clone(self.scheduler());
        let spawned = Arc::clone(self.scheduler());
        spawned.deps.tasks.spawn("verification", OnCancel::Finish, async move {
            let verify = async {
                let baseline = scheduler.baselines.wait(seat.task.id).await;
                let context = air_contracts::tool::CallContext {
                    role: AgentRole::Runtime,
                    attempt_id: None,
                    ..seat.call_context()
                };
                let verification = Verification {
                    deps: &scheduler.deps,
                    cache: &scheduler.cache,
                    baseline,
                    task: &seat.task,
                    agent_id: seat.agent_id,
                    context,
                    claim: &finish.claim,
                    single,
                };
                verification.run().await
            };
            let report = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    if !scheduler.stopping() {
                        scheduler.deps.executor.cancel(CancelScope::Agent(seat.agent_id), "stopped").await;
                    }
                    Report::default()
                }
                verdict = verify => verification_report(task, n, verdict),
            };
            job.say(report);
        });
    }
}

/// Waits until the task owns the user's tree; `false` when it was stopped before.
async fn own_tree(scheduler: &Scheduler, slot: &TreeSlot, cancel: &CancellationToken) -> bool {
    if lock(slot).is_some() {
        return true;
    }
    let permit = tokio::select! {
        biased;
        () = cancel.cancelled() => return false,
        permit = Arc::clone(&scheduler.tree).acquire_owned() => permit,
    };
    // The semaphore is never closed.
    *lock(slot) = permit.ok();
    true
}

pub(super) fn cannot(task: TaskNo, n: u32, kind: &'static str, reason: String) -> Report {
    let mut report = Report::of(Input::CannotJudge { task, n, kind, reason: reason.clone() });
    report.detail = Detail { task: Some(task), attempt_note: reason, ..Detail::default() };
    report
}

/// What the core is told of an attempt's end.
fn attempt_report(scheduler: &Arc<Scheduler>, task: TaskNo, n: u32, end: AttemptEnd) -> Report {
    let mut detail = Detail { task: Some(task), ..Detail::default() };
    let input = match end.outcome {
        Outcome::Finished(finish) => {
            let status = finish.claim.status;
            detail.summary = Some(summary(&finish));
            if status == WorkerStatus::Blocked {
                let why =
                    finish.claim.claim.blocker.clone().unwrap_or_else(|| finish.claim.claim.summary.clone());
                detail.attempt_note.clone_from(&why);
                detail.reason = Some(why);
            }
            detail.finish = Some(finish);
            Some(Input::WorkerFinished { task, n, status })
        }
        Outcome::Failed { class, note, retryable } => {
            detail.attempt_note.clone_from(&note);
            detail.reason = Some(note.clone());
            detail.failure = (class == FailureClass::Tool).then_some(note);
            Some(Input::WorkerFailed { task, n, class, instances: Vec::new(), retryable })
        }
        Outcome::Lost(reason) => {
            detail.attempt_note.clone_from(&reason);
            detail.reason = Some(reason);
            Some(Input::WorkerLost { task, n })
        }
        Outcome::TimedOut => {
            detail.attempt_note = "its time was over".to_owned();
            detail.failure = Some("The attempt before this one ran out of time.".to_owned());
            Some(Input::AttemptTimedOut { task, n })
        }
        Outcome::Stopped => None,
    };
    if scheduler.stopping() && !matches!(input, Some(Input::WorkerFinished { .. })) {
        // Nothing of it is said in the log: the next daemon finds the attempt running, and goes on with it.
        return Report { events: end.events, ..Report::default() };
    }
    Report { input, over: None, events: end.events, detail }
}

/// What people are told: the summary, and what the worker could not settle.
fn summary(finish: &Finish) -> String {
    let claim = &finish.claim.claim;
    let mut text = claim.summary.trim().to_owned();
    for (label, items) in [("Risks", &claim.risks), ("Not done", &claim.follow_ups)] {
        if !items.is_empty() {
            let _ = write!(text, "\n\n{label}: {}", items.join("; "));
        }
    }
    text
}

fn verification_report(task: TaskNo, n: u32, verdict: air_contracts::Result<Verdict>) -> Report {
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(error) => {
            return cannot(
                task,
                n,
                "verification",
                format!("the result could not be checked: {}", error.message),
            );
        }
    };
    let mut detail = Detail {
        task: Some(task),
        criteria: Some(verdict.criteria.clone()),
        changed_files: Some(verdict.changed_files.clone()),
        foreign_files: Some(verdict.foreign_files.clone()),
        evidence: verdict.criteria.iter().flat_map(|one| one.evidence.iter().copied()).collect(),
        ..Detail::default()
    };
    let input = match &verdict.judgement {
        Judgement::Passed { needs_review } => {
            Input::VerificationPassed { task, n, needs_review: *needs_review }
        }
        Judgement::Failed { instances, told } => {
            detail.attempt_note = instances.join("; ");
            detail.failure = Some(told.clone());
            Input::VerificationFailed { task, n, instances: instances.clone() }
        }
        Judgement::Cannot { kind, reason } => Input::CannotJudge { task, n, kind, reason: reason.clone() },
    };
    let events = verdict.events.clone();
    detail.verdict = Some(verdict);
    Report { input: Some(input), over: None, events, detail }
}

/// L8 of an attempt that is not the first: what was tried, what failed, what the user adds.
async fn failure_block(
    scheduler: &Arc<Scheduler>,
    seat: &Seat,
    transcript: Transcript,
    told: Option<String>,
) -> Option<String> {
    let note = seat.task.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
    let note = note.map(|note| format!("# The user adds\n{note}\n"));
    if seat.n == 1 || transcript == Transcript::Continue {
        return note;
    }
    let attempts = scheduler.deps.store.attempts(seat.task.id).await.unwrap_or_default();
    let mut text = "# Attempts so far\n".to_owned();
    for attempt in attempts.iter().filter(|attempt| attempt.n < seat.n) {
        let class = attempt.failure_class.and_then(|class| serde_json::to_value(class).ok());
        let class = class.as_ref().and_then(serde_json::Value::as_str).unwrap_or("stopped");
        let what = if attempt.failure_instances.is_empty() {
            attempt.note.clone()
        } else {
            attempt.failure_instances.join("; ")
        };
        let _ = writeln!(
            text,
            "- attempt {}: {class}: {}",
            attempt.n,
            what.chars().take(400).collect::<String>()
        );
    }
    text.push_str("Their changes are still in the tree. Find out why they were not enough.\n");
    if let Some(told) = told {
        let _ = write!(text, "\n# What failed\n{told}");
    }
    Some(note.map_or_else(|| text.clone(), |note| format!("{note}\n{text}")))
}
