//! What is started for an attempt, and what it reports.

use std::fmt::Write as _;
use std::sync::Arc;

use air_contracts::AirError;
use air_contracts::event::{AgentEnded, AgentStarted, EventBody, EventSource, NewEvent};
use air_contracts::ids::{AgentId, EvidenceId, RefKind};
use air_contracts::task::{AgentRole, AttemptStatus, FailureClass};
use air_contracts::worker_result::WorkerStatus;
use air_rt::{CancellationToken, OnCancel};
use air_scheduler_core::{Input, ReviewVerdict, TaskNo, Transcript};
use tokio::sync::mpsc;

use super::drive::{Drive, Who};
use super::{Detail, Report};
use crate::attempt::{self, AttemptEnd, Finish, Outcome, Seat, Work};
use crate::scheduler::Scheduler;
use crate::verify::{Judgement, Verdict, Verification, review};

/// Reports the end of a job on every path.
struct Job {
    task: TaskNo,
    n: u32,
    reports: mpsc::UnboundedSender<Report>,
    said: bool,
}

impl Job {
    fn say(mut self, mut report: Report) {
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
    fn new_job(&self, task: TaskNo, n: u32) -> Job {
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
        let scheduler = Arc::clone(self.scheduler());
        let spawned = Arc::clone(self.scheduler());
        spawned.deps.tasks.spawn("attempt", OnCancel::Finish, async move {
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
                () = cancel.cancelled() => Report::default(),
                verdict = verify => verification_report(task, n, verdict),
            };
            job.say(report);
        });
    }

    pub(super) fn start_review(&mut self, task: TaskNo, n: u32) {
        let cancel = self.job(task, n);
        let job = self.new_job(task, n);
        let known = self.known(task);
        let (Some(attempt), Some(verdict)) = (known.seat.clone(), known.verdict.clone()) else { return };
        let summary =
            known.finish.as_ref().map(|finish| finish.claim.claim.summary.clone()).unwrap_or_default();
        let who = Who {
            agent_id: AgentId::from_uuid(self.scheduler().deps.ids.next()),
            attempt_id: attempt.attempt_id,
        };
        let scheduler = Arc::clone(self.scheduler());
        let wanted = attempt.assignment.matrix.model.clone();
        let gateway = Arc::clone(&scheduler.deps.gateway);
        let select = move || {
            gateway
                .select(AgentRole::Reviewer, None)
                .or_else(|_| gateway.select(AgentRole::Reviewer, Some(&wanted)))
        };
        let spawned = Arc::clone(&scheduler);
        spawned.deps.tasks.spawn("review", OnCancel::Finish, async move {
            let report = match select() {
                Ok(assignment) => {
                    let seat =
                        Seat { agent_id: who.agent_id, role: AgentRole::Reviewer, assignment, ..attempt };
                    let extra = Some(review::material(&verdict, &summary));
                    let work = Work { seat, transcript: Transcript::Fresh, failure: None, extra, cancel };
                    run_review(&scheduler, task, n, work, verdict).await
                }
                Err(error) => {
                    let reason = format!("no model can review it: {}", error.message);
                    cannot(task, n, "needs_review", reason)
                }
            };
            job.say(report);
        });
    }
}

fn cannot(task: TaskNo, n: u32, kind: &'static str, reason: String) -> Report {
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

async fn run_review(
    scheduler: &Arc<Scheduler>,
    task: TaskNo,
    n: u32,
    work: Work,
    verdict: Verdict,
) -> Report {
    let seat = work.seat.clone();
    let deps = &scheduler.deps;
    let started = AgentStarted {
        session_id: seat.task.session_id,
        turn_id: seat.task.turn_id,
        agent_id: seat.agent_id,
        n: deps.store.next_ref(RefKind::Agent),
        role: AgentRole::Reviewer,
        model: seat.assignment.matrix.model.clone(),
        workspace_id: deps.workspace.id,
        attempt: None,
        pid: None,
    };
    if let Err(error) = deps.store.ingest(vec![seat.event(started)]).await {
        return cannot(task, n, "needs_review", error.message);
    }
    let end = attempt::run(scheduler, work).await;
    let stopped = matches!(end.outcome, Outcome::Stopped);
    if stopped && scheduler.stopping() {
        return Report { events: end.events, ..Report::default() };
    }
    let (status, said) = match end.outcome {
        Outcome::Finished(finish) => (AttemptStatus::Succeeded, Ok(finish)),
        Outcome::Failed { class, note, .. } => (AttemptStatus::Failed, Err((class, note))),
        Outcome::Lost(why) => (AttemptStatus::Lost, Err((FailureClass::LostWorker, why))),
        Outcome::TimedOut => {
            (AttemptStatus::TimedOut, Err((FailureClass::Timeout, "its time was over".to_owned())))
        }
        Outcome::Stopped => {
            (AttemptStatus::Cancelled, Err((FailureClass::Tool, "it was stopped".to_owned())))
        }
    };
    let ended = AgentEnded {
        agent_id: seat.agent_id,
        attempt_id: None,
        status,
        failure_class: said.as_ref().err().map(|(class, _)| *class),
        note: said.as_ref().err().map(|(_, note)| note.clone()).unwrap_or_default(),
        failure_instances: Vec::new(),
    };
    let mut report = match said {
        _ if stopped => Report::default(),
        Ok(finish) => reviewed(scheduler, task, n, &seat, &finish, verdict),
        Err((FailureClass::Budget, note)) => cannot(task, n, "budget", note),
        Err((_, note)) => {
            cannot(task, n, "needs_review", format!("the review did not come to an end: {note}"))
        }
    };
    let own = NewEvent::new(seat.task.session_id, EventSource::scheduler(), ended).agent(seat.agent_id);
    report.events = end.events.into_iter().chain(report.events).chain([own]).collect();
    report
}

fn reviewed(
    scheduler: &Arc<Scheduler>,
    task: TaskNo,
    n: u32,
    seat: &Seat,
    finish: &Finish,
    verdict: Verdict,
) -> Report {
    let said = review::verdict_of(&finish.result);
    let (word, failure) = match &said {
        ReviewVerdict::Accept => ("accept", None),
        ReviewVerdict::Changes { findings } => {
            ("changes", Some(format!("A reviewer wants these changes:\n- {}", findings.join("\n- "))))
        }
        ReviewVerdict::CannotTell { .. } => ("cannot_tell", None),
    };
    let (tree, write_seq) = place_of(&verdict);
    let evidence = review::evidence(&scheduler.deps, &seat.task, word, tree, write_seq);
    let id: Option<EvidenceId> = match &evidence.body {
        EventBody::EvidenceRecorded(recorded) => Some(recorded.evidence.id),
        _ => None,
    };
    let criteria = match (&said, id) {
        (ReviewVerdict::Accept, Some(id)) => Some(review::accepted(verdict.criteria, id)),
        _ => None,
    };
    let reason = match &said {
        ReviewVerdict::CannotTell { .. } => Some(finish.claim.claim.summary.clone()),
        _ => None,
    };
    let detail = Detail {
        task: Some(task),
        criteria,
        failure,
        reason,
        evidence: id.into_iter().collect(),
        ..Detail::default()
    };
    let input = Some(Input::ReviewDone { task, n, verdict: said });
    Report { input, over: None, events: vec![evidence], detail }
}

/// Tree and count of writes of a verification: those of its evidence, or of its checkpoint.
fn place_of(verdict: &Verdict) -> (String, u64) {
    let place = verdict.events.iter().find_map(|event| match &event.body {
        EventBody::EvidenceRecorded(recorded) => {
            Some((recorded.evidence.tree.clone(), recorded.evidence.write_seq))
        }
        _ => None,
    });
    place.unwrap_or_default()
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
