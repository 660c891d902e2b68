//! The review of a change: an agent beside the attempt, and what its verdict means.

use std::sync::Arc;

use air_contracts::event::{AgentEnded, AgentStarted, EventBody, EventSource, NewEvent};
use air_contracts::ids::{AgentId, EvidenceId, RefKind};
use air_contracts::task::{AgentRole, AttemptStatus, FailureClass};
use air_rt::OnCancel;
use air_scheduler_core::{Input, ReviewVerdict, TaskNo, Transcript};

use super::drive::{Drive, Who};
use super::jobs::cannot;
use super::{Detail, Report};
use crate::attempt::{self, Finish, Outcome, Seat, Work};
use crate::scheduler::Scheduler;
use crate::verify::{Verdict, review};

impl Drive {
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
