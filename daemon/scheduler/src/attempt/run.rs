//! The life of one worker process: prepared, spoken with, ended.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use air_context::{AssembledContext, WorkerInput};
use air_contracts::Result;
use air_contracts::event::{EphemeralEvent, EventSource, NewEvent};
use air_contracts::ipc::{AgentStart, FinishedClaim, IPC_VERSION, IpcCall, ParentMessage, WorkerMessage};
use air_contracts::message::Message;
use air_contracts::port::CancelScope;
use air_contracts::provider::StopReason;
use air_contracts::task::FailureClass;
use air_contracts::worker_result::{FinishClaim, WorkerStatus};
use air_rt::CancellationToken;
use air_scheduler_core::Transcript;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tracing::debug;

use super::conversation::{Asked, Conversation, Finish};
use super::outcome::{Outcome, failed, of_broken, of_model_failure, result};
use super::progress::Live;
use super::resume::chain;
use super::seat::Seat;
use crate::scheduler::Scheduler;
use crate::worker::WorkerProcess;

/// How long a cancelled call may take to say so.
const CALL_GRACE: Duration = Duration::from_secs(3);

/// What an agent is to work on.
pub(crate) struct Work {
    pub(crate) seat: Seat,
    pub(crate) transcript: Transcript,
    /// The failure that it starts from.
    pub(crate) failure: Option<String>,
    /// What a reviewer judges.
    pub(crate) extra: Option<String>,
    pub(crate) cancel: CancellationToken,
}

/// The end of an agent's work, with what is not on disk yet.
pub(crate) struct AttemptEnd {
    pub(crate) outcome: Outcome,
    pub(crate) events: Vec<NewEvent>,
}

/// Runs an agent to its end. Whatever happens, the transcript that it leaves is valid.
pub(crate) async fn run(scheduler: &Arc<Scheduler>, work: Work) -> AttemptEnd {
    let agent_id = work.seat.agent_id;
    let live = Arc::new(Live::new(work.seat.clone(), Arc::clone(scheduler)));
    scheduler.seat(Arc::clone(&live));
    let ended = at_work(scheduler, live, &work).await;
    scheduler.leave(agent_id);
    ended.unwrap_or_else(|error| AttemptEnd { outcome: failed(error), events: Vec::new() })
}

async fn at_work(scheduler: &Arc<Scheduler>, live: Arc<Live>, work: &Work) -> Result<AttemptEnd> {
    let limits = (scheduler.deps.limits)();
    let started =
        async { tokio::join!(WorkerProcess::start(&scheduler.deps.worker), prepare(scheduler, live, work)) };
    let (worker, prepared) = tokio::select! {
        biased;
        () = work.cancel.cancelled() => {
            stop_calls(scheduler, &work.seat).await;
            return Ok(AttemptEnd { outcome: Outcome::Stopped, events: Vec::new() });
        }
        started = started => started,
    };
    let (mut talk, requests) = prepared?;
    if let Some(finish) = talk.finish.take() {
        return Ok(AttemptEnd { outcome: Outcome::Finished(finish), events: talk.pending });
    }
    let constraint = work.seat.task.spec.constraints.timeout_ms.map(Duration::from_millis);
    let mut session = Session {
        worker: worker?,
        cancel: work.cancel.clone(),
        deadline: Instant::now() + constraint.unwrap_or(limits.attempt_timeout),
        ended: None,
    };
    let max_model_calls = work.seat.settings.limits.max_model_calls.unwrap_or(limits.max_model_calls);
    let outcome = match session
        .worker
        .send(&start_message(&work.seat, work.transcript, max_model_calls, requests))
        .await
    {
        Ok(()) => session.talk(&mut talk).await,
        Err(error) => Outcome::Lost(error.message),
    };
    session.worker.end("the attempt has ended").await;
    if outcome == Outcome::Stopped {
        stop_calls(scheduler, &work.seat).await;
    }
    if !scheduler.stopping() {
        // Calls that were never made get their results now, so that the transcript is whole. When the daemon stops,
        // the next one finds out what became of them.
        talk.close_batch().await;
    }
    Ok(AttemptEnd { outcome, events: talk.pending })
}

/// Ends what still runs for an agent: its baseline, a command that it left. When the daemon stops, the next one looks
/// after that.
async fn stop_calls(scheduler: &Scheduler, seat: &Seat) {
    if !scheduler.stopping() {
        scheduler.deps.executor.cancel(CancelScope::Agent(seat.agent_id), "stopped").await;
    }
}

fn start_message(
    seat: &Seat,
    transcript: Transcript,
    max_model_calls: u32,
    model_calls: u32,
) -> ParentMessage {
    let start = Box::new(AgentStart {
        ipc_version: IPC_VERSION,
        session_id: seat.task.session_id,
        turn_id: seat.task.turn_id,
        agent_id: seat.agent_id,
        attempt_id: seat.attempt_id,
        role: seat.role,
        task: seat.task.spec.clone(),
        max_model_calls,
    });
    match transcript {
        Transcript::Fresh => ParentMessage::AgentStart(start),
        Transcript::Continue => ParentMessage::AgentResume { start, model_calls },
    }
}

/// Assembles the context; loads the transcript where there is one.
async fn prepare(scheduler: &Arc<Scheduler>, live: Arc<Live>, work: &Work) -> Result<(Conversation, u32)> {
    let (deps, seat) = (&scheduler.deps, &work.seat);
    let begin = async {
        match seat.is_reviewer() {
            true => Ok(None),
            false => scheduler.begin_task(seat).await,
        }
    };
    let (first, context) = tokio::join!(begin, assemble(scheduler, work));
    let (first, context) = (first?, context?);
    let source = EventSource::agent(seat.agent_id);
    let base = deps.store.artifact_event(&context.base, Some(seat.task.session_id), None, source);
    let mut talk = Conversation {
        scheduler: Arc::clone(scheduler),
        live,
        context,
        transcript: Vec::new(),
        from: None,
        through: None,
        pending: first.into_iter().chain([base]).collect(),
        batch: Vec::new(),
        answers: std::collections::BTreeMap::new(),
        used: std::collections::BTreeSet::new(),
        prompt_tokens: 0,
        finish: None,
        requests: 0,
    };
    let mut requests = 0;
    if seat.n > 1 || seat.is_reviewer() {
        let rows = deps.store.messages(seat.task.session_id, Some(seat.task.id)).await?;
        talk.used = rows
            .iter()
            .flat_map(|row| {
                Message { role: row.role, content: row.content.clone() }
                    .tool_uses()
                    .map(|use_| use_.0.to_owned())
                    .collect::<Vec<_>>()
            })
            .collect();
        if work.transcript == Transcript::Continue {
            let agents = chain(&deps.store.attempts(seat.task.id).await?, seat.n);
            requests = talk.resume(&rows, &agents).await?;
        }
    }
    Ok((talk, requests))
}

async fn assemble(scheduler: &Scheduler, work: &Work) -> Result<AssembledContext> {
    let (deps, seat) = (&scheduler.deps, &work.seat);
    let checks = deps.executor.project_checks(&seat.workspace).await?;
    let input = WorkerInput {
        role: seat.role,
        session_id: seat.task.session_id,
        turn_id: seat.task.turn_id,
        task: &seat.task.spec,
        task_ref: seat.task.n,
        tools: deps.executor.visible(seat.role, &seat.assignment.matrix.family),
        matrix: &seat.assignment.matrix,
        project_facts: (deps.project_facts)(),
        checks: &checks,
        failure: work.failure.clone(),
        extra: work.extra.clone(),
    };
    deps.context.assemble_worker(input).await
}

/// A worker and the limits of its attempt.
struct Session {
    worker: WorkerProcess,
    cancel: CancellationToken,
    deadline: Instant,
    /// Why it must end, found out while a call was running.
    ended: Option<Outcome>,
}

/// What came of something that was waited for.
enum Waited<T> {
    Came(T),
    Over(Outcome),
}

impl Session {
    async fn talk(&mut self, talk: &mut Conversation) -> Outcome {
        loop {
            if let Some(ended) = self.ended.take() {
                return ended;
            }
            let message = match self.message().await {
                Waited::Came(message) => message,
                Waited::Over(outcome) => return outcome,
            };
            let next = match message {
                WorkerMessage::LlmRequest { reminder, .. } => self.model_turn(talk, reminder).await,
                WorkerMessage::ToolCall { call_id } => self.tool_turn(talk, &call_id).await,
                WorkerMessage::WorkerResult { status, claim, error, .. } => {
                    return result(talk, status, claim, error);
                }
                other => {
                    note(&talk.live, other);
                    continue;
                }
            };
            match next {
                Waited::Over(outcome) => return outcome,
                Waited::Came(reply) => {
                    if let Err(error) = self.worker.send(&reply).await {
                        return Outcome::Lost(error.message);
                    }
                }
            }
        }
    }

    /// The next message, within all limits.
    async fn message(&mut self) -> Waited<WorkerMessage> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Waited::Over(Outcome::Stopped),
            message = self.worker.next() => match message {
                Ok(message) => Waited::Came(message),
                Err(broken) => Waited::Over(of_broken(broken)),
            },
            () = tokio::time::sleep_until(self.deadline) => Waited::Over(Outcome::TimedOut),
        }
    }

    async fn model_turn(
        &mut self,
        talk: &mut Conversation,
        reminder: Option<String>,
    ) -> Waited<ParentMessage> {
        // A model that ends in text although everything is proved has simply not called `task.finish`.
        let asked = match self.wait(talk.live.clone(), talk.ask(reminder), false).await {
            Waited::Came(Ok(asked)) => asked,
            Waited::Came(Err(failure)) => return Waited::Over(of_model_failure(failure.error)),
            Waited::Over(outcome) => return Waited::Over(outcome),
        };
        if asked.calls.is_empty() {
            if let Err(error) = talk.flush().await {
                return Waited::Over(failed(error));
            }
            if asked.stop == StopReason::EndTurn && talk.scheduler.all_green(&talk.live).await {
                let claim = FinishClaim { summary: asked.text, ..FinishClaim::default() };
                let claim = FinishedClaim { status: WorkerStatus::Done, claim };
                return Waited::Over(Outcome::Finished(Finish { claim, result: Value::Null }));
            }
        }
        Waited::Came(done_message(asked))
    }

    async fn tool_turn(&mut self, talk: &mut Conversation, call_id: &str) -> Waited<ParentMessage> {
        let begun = Instant::now();
        let live = Arc::clone(&talk.live);
        let reply = match self.wait(live, talk.call(call_id), true).await {
            Waited::Came(Ok(reply)) => reply,
            Waited::Came(Err(error)) => return Waited::Over(failed(error)),
            Waited::Over(outcome) => return Waited::Over(outcome),
        };
        // What lay between the call and its run was waiting for a person, or for the baseline.
        let waited =
            begun.elapsed().saturating_sub(Duration::from_millis(talk.live.progress().last_duration_ms));
        self.deadline += waited;
        Waited::Came(reply)
    }

    /// Waits for a call while the worker is watched. A call that is running is ended in order; a request to a model is
    /// dropped.
    async fn wait<T>(&mut self, live: Arc<Live>, future: impl Future<Output = T>, runs: bool) -> Waited<T> {
        tokio::pin!(future);
        let scheduler = Arc::clone(live.scheduler());
        let mut deadline = self.deadline;
        loop {
            let over = tokio::select! {
                biased;
                () = self.cancel.cancelled() => Outcome::Stopped,
                value = &mut future => return Waited::Came(value),
                message = self.worker.next(), if self.ended.is_none() => match message {
                    Ok(message @ (WorkerMessage::Heartbeat { .. } | WorkerMessage::Event { .. } | WorkerMessage::Checkpoint { .. })) => {
                        note(&live, message);
                        continue;
                    }
                    Ok(_) => Outcome::Failed { class: FailureClass::Tool, note: "the worker spoke out of turn".to_owned(), retryable: true },
                    Err(broken) => of_broken(broken),
                },
                () = tokio::time::sleep_until(deadline) => {
                    if runs && scheduler.waits_for_person(&live.seat).await {
                        deadline = Instant::now() + Duration::from_secs(5);
                        continue;
                    }
                    Outcome::TimedOut
                }
            };
            if runs && matches!(over, Outcome::Lost(_) | Outcome::Failed { .. }) {
                // The call goes on: its result belongs to the transcript that the next attempt continues.
                self.ended = Some(over);
                continue;
            }
            if runs && !scheduler.stopping() {
                let reason =
                    if over == Outcome::TimedOut { "the time of the attempt is over" } else { "stopped" };
                let cancel = scheduler.deps.executor.cancel(CancelScope::Agent(live.seat.agent_id), reason);
                // The result of the cancelled call is taken over by the future itself.
                let _ = tokio::join!(cancel, timeout(CALL_GRACE, &mut future));
            }
            return Waited::Over(over);
        }
    }
}

fn note(live: &Live, message: WorkerMessage) {
    match message {
        WorkerMessage::Heartbeat { rss_bytes } => {
            let (session_id, agent_id) = (live.seat.task.session_id, live.seat.agent_id);
            let beat = EphemeralEvent::Heartbeat { session_id, agent_id, rss_bytes };
            live.scheduler().deps.store.ingest_ephemeral(beat);
        }
        WorkerMessage::Event { level, text } => debug!(agent = %live.seat.agent_id, level, text, "worker"),
        other => debug!(agent = %live.seat.agent_id, ?other, "worker"),
    }
}

fn done_message(asked: Asked) -> ParentMessage {
    let call = |call: air_contracts::provider::FoldedCall| IpcCall {
        call_id: call.id,
        name: call.name,
        // The worker needs to know only that there is one: the input stays here.
        input: call.input.is_ok().then(|| json!({})),
    };
    let calls = asked.calls.into_iter().map(call).collect();
    ParentMessage::LlmDone { text: asked.text, calls, stop: asked.stop, error: None }
}
