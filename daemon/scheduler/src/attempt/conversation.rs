//! The transcript of an attempt, and its requests to the model.
//!
//! Events wait until the next commit that happens anyway: those of an answer go with the first call that it makes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use air_context::{AssembledContext, RequestInput, VolatileState, render_names, request, volatile_block};
use air_contracts::Result;
use air_contracts::event::{MessageAppended, NewEvent};
use air_contracts::ids::{MessageId, RefKind, RequestId};
use air_contracts::ipc::FinishedClaim;
use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::provider::FoldedCall;
use serde_json::Value;

use super::calls::Answer;
use super::progress::Live;
use super::seat::Seat;
use crate::model_call::{ModelCall, ModelCallDeps, ModelFailure, call_model, unique_call_ids};
use crate::scheduler::Scheduler;

/// An accepted `task.finish`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finish {
    pub(crate) claim: FinishedClaim,
    /// What the role adds: a verdict, a cause.
    pub(crate) result: Value,
}

/// An answer of the model, as the worker needs it.
pub(crate) struct Asked {
    pub(crate) text: String,
    pub(crate) calls: Vec<FoldedCall>,
    pub(crate) stop: air_contracts::provider::StopReason,
}

/// A transcript that grows.
pub(crate) struct Conversation {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) live: Arc<Live>,
    pub(crate) context: AssembledContext,
    pub(crate) transcript: Vec<Message>,
    pub(crate) from: Option<MessageId>,
    pub(crate) through: Option<MessageId>,
    /// Not on disk yet.
    pub(crate) pending: Vec<NewEvent>,
    /// Calls of the last answer, with their results as they come.
    pub(crate) batch: Vec<FoldedCall>,
    pub(crate) answers: BTreeMap<String, Answer>,
    /// Ids of calls that this task has used.
    pub(crate) used: BTreeSet<String>,
    pub(crate) prompt_tokens: u64,
    pub(crate) finish: Option<Finish>,
    pub(crate) requests: u32,
}

impl Conversation {
    pub(crate) fn seat(&self) -> &Seat {
        &self.live.seat
    }

    /// Asks the model, with the results of the calls before.
    pub(crate) async fn ask(&mut self, reminder: Option<String>) -> Result<Asked, Box<ModelFailure>> {
        self.close_batch().await;
        let volatile = self.volatile(reminder).await;
        let scheduler = Arc::clone(&self.scheduler);
        let live = Arc::clone(&self.live);
        let (deps, seat) = (&scheduler.deps, &live.seat);
        let request_id = RequestId::from_uuid(deps.ids.next());
        let item = MessageId::from_uuid(deps.ids.next());
        let input = RequestInput {
            request_id,
            request_ref: deps.store.next_ref(RefKind::Request),
            session_id: seat.task.session_id,
            turn_id: seat.task.turn_id,
            task_id: Some(seat.task.id),
            agent_id: seat.agent_id,
            role: seat.role,
            matrix: &seat.assignment.matrix,
            transcript: &self.transcript,
            from_message: self.from,
            through_message: self.through,
            volatile,
            effort: seat.effort(),
        };
        let (request, assembled) = request(&self.context, input);
        self.pending.push(seat.event(assembled));
        let call = ModelCall {
            request,
            turn_id: seat.task.turn_id,
            task_id: Some(seat.task.id),
            agent_id: seat.agent_id,
            item,
            matrix: &seat.assignment.matrix,
            max_cost_session: seat.settings.limits.max_cost_usd,
            max_cost_turn: seat.turn.options.max_cost_usd,
        };
        let model = ModelCallDeps {
            store: deps.store.clone(),
            gateway: deps.gateway.clone(),
            clock: deps.clock.clone(),
        };
        self.requests += 1;
        let mut answer = match call_model(&model, call).await {
            Ok(answer) => answer,
            Err(mut failure) => {
                self.pending.extend(failure.usage_event.take());
                return Err(failure);
            }
        };
        unique_call_ids(&mut answer.completion, &mut self.used);
        self.prompt_tokens =
            answer.completion.usage.prompt_tokens() + answer.completion.usage.output_tokens.unwrap_or(0);
        let text = answer.completion.message.plain_text();
        let content = answer.completion.message.content;
        if !content.is_empty() {
            self.append(item, MessageRole::Assistant, content.clone(), content, Some(request_id)).await;
        }
        self.pending.push(answer.usage_event);
        self.batch.clone_from(&answer.completion.calls);
        live.progress().batch = self.batch.iter().map(|call| call.name.clone()).collect();
        Ok(Asked { text, calls: answer.completion.calls, stop: answer.completion.stop })
    }

    /// Turns the results of the last answer's calls into the next message. A call that was never made is answered too.
    pub(crate) async fn close_batch(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.live.progress().batch.clear();
        if batch.is_empty() {
            return;
        }
        let (mut stored, mut sent) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for call in batch {
            let answer = match self.answers.remove(&call.id) {
                Some(answer) => answer,
                None => match self.left_behind(&call).await {
                    Some(answer) => answer,
                    None => self.not_started(&call),
                },
            };
            stored.push(ContentBlock::ToolResultRef { tool_use_id: call.id.clone(), run: answer.run });
            sent.push(ContentBlock::ToolResult {
                tool_use_id: call.id,
                content: answer.text,
                is_error: answer.is_error,
            });
        }
        self.answers.clear();
        let id = MessageId::from_uuid(self.scheduler.deps.ids.next());
        self.append(id, MessageRole::User, stored, sent, None).await;
    }

    /// Adds a message: its stored form to the log, the form that is sent to the transcript.
    pub(crate) async fn append(
        &mut self,
        id: MessageId,
        role: MessageRole,
        stored: Vec<ContentBlock>,
        sent: Vec<ContentBlock>,
        request_id: Option<RequestId>,
    ) {
        let store = &self.scheduler.deps.store;
        let seat = &self.live.seat;
        let inline = stored.clone();
        let (content, artifact) = match store.store_value(stored, "message").await {
            Ok(stored) => stored,
            Err(error) => {
                // The artifact could not be written; the log can hold the message itself.
                tracing::warn!(%error, "a message is kept in the log itself");
                (air_contracts::artifact::Stored::Inline { value: inline }, None)
            }
        };
        let source = air_contracts::event::EventSource::agent(seat.agent_id);
        self.pending.extend(
            artifact
                .map(|artifact| store.artifact_event(&artifact, Some(seat.task.session_id), None, source)),
        );
        self.pending.push(seat.event(MessageAppended {
            message_id: id,
            session_id: seat.task.session_id,
            turn_id: seat.task.turn_id,
            task_id: Some(seat.task.id),
            agent_id: Some(seat.agent_id),
            request_id,
            role,
            content,
        }));
        self.from.get_or_insert(id);
        self.through = Some(id);
        self.transcript.push(Message { role, content: sent });
    }

    /// Writes what waits.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        let events = std::mem::take(&mut self.pending);
        self.scheduler.deps.store.ingest(events).await.map(drop)
    }

    async fn volatile(&self, reminder: Option<String>) -> String {
        let seat = self.seat();
        let window = seat.assignment.matrix.context_window.max(1);
        let dangling = self.transcript.last().is_some_and(|message| message.role == MessageRole::Assistant);
        let reminder = reminder.or_else(|| dangling.then(|| "go on".to_owned()));
        let reminder = reminder.map(|text| render_names(&text, &self.context.tools).into_owned());
        let budget_left = self.budget_left().await;
        let progress = self.live.progress();
        let started = progress.last_write.is_some() || !progress.checks.is_empty();
        let criteria = seat.task.spec.acceptance_criteria.iter();
        let state = VolatileState {
            task: Some((format!("k{}", seat.task.n), seat.n)),
            criteria: match started {
                true => criteria.map(|one| progress.criterion(one.check.as_deref())).collect(),
                false => Vec::new(),
            },
            new_failures: progress.new_failures(),
            background: progress.background.iter().map(|(run, what)| format!("r{run} {what}")).collect(),
            #[expect(clippy::cast_precision_loss, reason = "a share for people")]
            context_used: self.prompt_tokens as f32 / window as f32,
            budget_left,
            foreign_files: Vec::new(),
            reminder,
        };
        volatile_block(&state)
    }

    /// Told when less than a fifth is left.
    async fn budget_left(&self) -> Option<String> {
        let seat = self.seat();
        let store = &self.scheduler.deps.store;
        let (limit, spent) = match (seat.turn.options.max_cost_usd, seat.settings.limits.max_cost_usd) {
            (Some(limit), _) => (limit, store.turn_cost(seat.task.turn_id).await.ok()?),
            (None, Some(limit)) => (limit, store.session_cost(seat.task.session_id).await.ok()?),
            (None, None) => return None,
        };
        let left = limit - spent;
        (left < limit / 5.0).then(|| format!("${left:.2} of ${limit:.2} left"))
    }
}
