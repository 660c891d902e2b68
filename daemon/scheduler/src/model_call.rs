//! One call to a model: budget, stream, fold, and what it cost. Workers and the Main Agent share it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::event::{EphemeralEvent, EventSource, NewEvent, ProviderWaiting, UsageRecorded};
use air_contracts::ids::{AgentId, MessageId, SessionId, TaskId, TurnId};
use air_contracts::message::ContentBlock;
use air_contracts::port::ModelGateway;
use air_contracts::provider::{
    Completion, CompletionFold, ModelRequest, ProviderCapabilityMatrix, ProviderError, ProviderStreamEvent,
    TokenUsage,
};
use air_contracts::{AirError, Result, Timestamp};
use air_rt::Clock;
use air_store::Store;
use futures_util::StreamExt as _;
use tokio::time::Instant;

/// How long text may lie before clients see it.
const BATCH: Duration = Duration::from_millis(30);

/// Bytes of text that are shown at once, however young they are.
const BATCH_BYTES: usize = 2 * 1024;

/// Further tries after a stream that was cut or a server that asks to wait.
const RETRIES: u32 = 2;

/// The longest wait that a server's word is taken for.
const MAX_WAIT_MS: u64 = 60 * 60 * 1_000;

/// What a call needs of the daemon.
#[derive(Clone)]
pub struct ModelCallDeps {
    pub store: Store,
    pub gateway: Arc<dyn ModelGateway>,
    pub clock: Clock,
}

/// One call.
pub struct ModelCall<'a> {
    pub request: ModelRequest,
    pub turn_id: TurnId,
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    /// The message that the answer will be: clients show its text under this id as it comes.
    pub item: MessageId,
    pub matrix: &'a ProviderCapabilityMatrix,
    /// US dollars; a request that would start beyond one of them is not made.
    pub max_cost_session: Option<f64>,
    pub max_cost_turn: Option<f64>,
}

/// A whole answer.
#[derive(Debug)]
pub struct ModelAnswer {
    pub completion: Completion,
    /// To be stored together with the message.
    pub usage_event: NewEvent,
    /// `None`: no price is known.
    pub cost_usd: Option<f64>,
}

/// No answer.
#[derive(Debug)]
pub struct ModelFailure {
    /// `provider.*`, `budget.reached`, or a fault of the store.
    pub error: AirError,
    /// What was spent all the same.
    pub usage_event: Option<NewEvent>,
    /// Text that had come before the end, for a draft.
    pub partial_text: String,
}

impl ModelFailure {
    fn before_start(error: AirError) -> Box<Self> {
        Box::new(Self { error, usage_event: None, partial_text: String::new() })
    }
}

/// Streams an answer to its end. A stream that is cut is asked for again, since nothing of it was executed;
/// what clients saw of it is void then. Dropping the future cancels the request.
pub async fn call_model(deps: &ModelCallDeps, call: ModelCall<'_>) -> Result<ModelAnswer, Box<ModelFailure>> {
    within_budget(deps, &call).await.map_err(ModelFailure::before_start)?;
    let mut spent = TokenUsage::default();
    let mut tries = 0;
    loop {
        let mut stream = Streaming::new(deps, &call);
        let ended = stream.run().await;
        let partial_text = stream.fold.partial_text();
        spent.overwrite(stream.fold.usage());
        match ended.and_then(|()| stream.fold.finish()) {
            Ok(mut completion) => {
                completion.usage = fill(completion.usage, spent);
                let cost_usd = call.matrix.price.map(|price| price.cost_usd(&completion.usage));
                let usage_event = usage_event(&call, completion.usage, cost_usd);
                return Ok(ModelAnswer { completion, usage_event, cost_usd });
            }
            Err(failure) => {
                if failure.partial || !partial_text.is_empty() {
                    reset(deps, &call);
                }
                let again = failure.error.retryable && (failure.partial || failure.retry_after_ms.is_some());
                if !again || tries >= RETRIES {
                    let used = spent != TokenUsage::default();
                    let cost = call.matrix.price.map(|price| price.cost_usd(&spent));
                    let usage_event = used.then(|| usage_event(&call, spent, cost));
                    return Err(Box::new(ModelFailure { error: failure.error, usage_event, partial_text }));
                }
                tries += 1;
                wait(deps, &call, &failure, tries).await.map_err(ModelFailure::before_start)?;
            }
        }
    }
}

/// Gives every call of an answer an id that its transcript has not seen: some models count anew in each answer, and
/// a call is known by its id.
pub fn unique_call_ids(completion: &mut Completion, used: &mut BTreeSet<String>) {
    let mut calls = completion.calls.iter_mut();
    for block in &mut completion.message.content {
        let ContentBlock::ToolUse { id, .. } = block else { continue };
        let wanted = if id.is_empty() { "call".to_owned() } else { id.clone() };
        let mut fresh = wanted.clone();
        let mut n = 2;
        while id.is_empty() && fresh == "call" || used.contains(&fresh) {
            fresh = format!("{wanted}_{n}");
            n += 1;
        }
        used.insert(fresh.clone());
        if let Some(call) = calls.next() {
            call.id.clone_from(&fresh);
        }
        *id = fresh;
    }
}

fn fill(usage: TokenUsage, before: TokenUsage) -> TokenUsage {
    let mut whole = before;
    whole.overwrite(usage);
    whole
}

async fn within_budget(deps: &ModelCallDeps, call: &ModelCall<'_>) -> Result<()> {
    if let Some(limit) = call.max_cost_session {
        let spent = deps.store.session_cost(call.request.session_id).await?;
        over(spent, limit, "this session")?;
    }
    if let Some(limit) = call.max_cost_turn {
        let spent = deps.store.turn_cost(call.turn_id).await?;
        over(spent, limit, "this turn")?;
    }
    Ok(())
}

fn over(spent: f64, limit: f64, of: &str) -> Result<()> {
    if spent < limit {
        return Ok(());
    }
    let message = format!("the limit of ${limit:.2} for {of} is reached (${spent:.2})");
    Err(AirError::new(codes::BUDGET_REACHED, message).hint("air continue --max-cost raises it and goes on"))
}

fn usage_event(call: &ModelCall<'_>, usage: TokenUsage, cost_usd: Option<f64>) -> NewEvent {
    let recorded = UsageRecorded {
        request_id: call.request.request_id,
        session_id: call.request.session_id,
        turn_id: call.turn_id,
        task_id: call.task_id,
        agent_id: call.agent_id,
        role: call.request.role,
        model: call.matrix.model.clone(),
        usage,
        cost_usd,
    };
    NewEvent::new(call.request.session_id, EventSource::agent(call.agent_id), recorded)
        .task(call.task_id)
        .agent(call.agent_id)
}

fn reset(deps: &ModelCallDeps, call: &ModelCall<'_>) {
    let (session_id, turn_id, item) = (call.request.session_id, call.turn_id, call.item);
    deps.store.ingest_ephemeral(EphemeralEvent::TextReset { session_id, turn_id, item });
}

/// Waits visibly, as long as the server asks for, or a moment.
async fn wait(deps: &ModelCallDeps, call: &ModelCall<'_>, failure: &ProviderError, tries: u32) -> Result<()> {
    let ms = failure.retry_after_ms.unwrap_or(250 << tries.min(8)).min(MAX_WAIT_MS);
    if failure.retry_after_ms.is_some() {
        let until =
            Timestamp::from_millis(deps.clock.millis().saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        let waiting = ProviderWaiting {
            session_id: call.request.session_id,
            turn_id: call.turn_id,
            agent_id: call.agent_id,
            model: call.matrix.model.clone(),
            error: failure.error.clone(),
            until,
        };
        let source = EventSource::agent(call.agent_id);
        let event =
            NewEvent::new(call.request.session_id, source, waiting).task(call.task_id).agent(call.agent_id);
        deps.store.ingest(vec![event]).await?;
    }
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(())
}

/// A stream on its way into a message and onto the bus.
struct Streaming<'a> {
    deps: &'a ModelCallDeps,
    request: &'a ModelRequest,
    show: Shown,
    fold: CompletionFold,
}

impl<'a> Streaming<'a> {
    fn new(deps: &'a ModelCallDeps, call: &'a ModelCall<'_>) -> Self {
        let show = Shown {
            session_id: call.request.session_id,
            turn_id: call.turn_id,
            task_id: call.task_id,
            agent_id: call.agent_id,
            item: call.item,
            text: String::new(),
            thinking: false,
            since: None,
        };
        Self { deps, request: &call.request, show, fold: CompletionFold::default() }
    }

    async fn run(&mut self) -> Result<(), ProviderError> {
        let mut stream = self.deps.gateway.complete(self.request);
        loop {
            let next = match self.show.since {
                None => stream.next().await,
                Some(since) => match tokio::time::timeout_at(since + BATCH, stream.next()).await {
                    Ok(next) => next,
                    Err(_) => {
                        self.show.flush(&self.deps.store);
                        continue;
                    }
                },
            };
            let Some(event) = next else { break };
            match &event {
                ProviderStreamEvent::TextDelta { text, .. } => self.show.add(text, false, &self.deps.store),
                ProviderStreamEvent::ThinkingDelta { text, .. } => {
                    self.show.add(text, true, &self.deps.store)
                }
                _ => {}
            }
            self.fold.push(&event);
        }
        self.show.flush(&self.deps.store);
        Ok(())
    }
}

/// Text that clients have not seen yet.
struct Shown {
    session_id: SessionId,
    turn_id: TurnId,
    task_id: Option<TaskId>,
    agent_id: AgentId,
    item: MessageId,
    text: String,
    thinking: bool,
    since: Option<Instant>,
}

impl Shown {
    fn add(&mut self, text: &str, thinking: bool, store: &Store) {
        if thinking != self.thinking {
            self.flush(store);
            self.thinking = thinking;
        }
        self.text.push_str(text);
        self.since.get_or_insert_with(Instant::now);
        if self.text.len() >= BATCH_BYTES {
            self.flush(store);
        }
    }

    fn flush(&mut self, store: &Store) {
        self.since = None;
        if self.text.is_empty() {
            return;
        }
        store.ingest_ephemeral(EphemeralEvent::TextDelta {
            session_id: self.session_id,
            turn_id: self.turn_id,
            task_id: self.task_id,
            agent_id: self.agent_id,
            item: self.item,
            text: std::mem::take(&mut self.text),
            thinking: self.thinking,
        });
    }
}
