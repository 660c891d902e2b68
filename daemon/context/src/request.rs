//! One request: the assembled context, the transcript, and the volatile block last.

use air_contracts::event::ContextAssembled;
use air_contracts::ids::{AgentId, MessageId, RequestId, SessionId, TaskId, TurnId};
use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::provider::{CacheMark, Effort, ModelRequest, ProviderCapabilityMatrix};
use air_contracts::task::AgentRole;

use crate::assemble::AssembledContext;
use crate::layers::sha256;
use crate::tokens::{estimate_message, estimate_tokens};

/// Blocks between the two cache marks that move with the end; a provider looks 20 blocks back.
const MARK_DISTANCE: usize = 15;

/// Tokens that an answer may have, where the model allows more.
const MAX_ANSWER_TOKENS: u32 = 32_000;

/// What one request adds to its context.
#[derive(Debug)]
pub struct RequestInput<'a> {
    pub request_id: RequestId,
    /// The number in `c88`.
    pub request_ref: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub task_id: Option<TaskId>,
    pub agent_id: AgentId,
    pub role: AgentRole,
    pub matrix: &'a ProviderCapabilityMatrix,
    /// Results resolved, names rendered: what [`crate::ContextAssembler::resolve_results`] gives.
    pub transcript: &'a [Message],
    /// The first and the last message of the transcript, as the log knows them.
    pub from_message: Option<MessageId>,
    pub through_message: Option<MessageId>,
    /// L9; empty for none.
    pub volatile: String,
    pub effort: Option<Effort>,
}

/// The request, and the event that records it.
pub fn request(context: &AssembledContext, input: RequestInput<'_>) -> (ModelRequest, ContextAssembled) {
    let max_output_tokens = input.matrix.max_output_tokens.min(MAX_ANSWER_TOKENS);
    let mut request = build(Parts {
        context_system: context.system.clone(),
        context_tools: context.tools.clone(),
        head: &context.head,
        transcript: input.transcript,
        volatile: &input.volatile,
    });
    request.request_id = input.request_id;
    request.session_id = input.session_id;
    request.model.clone_from(&input.matrix.model);
    request.role = input.role;
    request.max_output_tokens = max_output_tokens;
    request.effort = input.effort;
    let transcript_tokens: u32 = input.transcript.iter().map(estimate_message).fold(0, u32::saturating_add);
    let identity = format!(
        "{}\n{:?}\n{:?}\n{}\n{}\n{max_output_tokens}\n{:?}",
        context.base.hash,
        input.from_message,
        input.through_message,
        input.volatile,
        request.model,
        input.effort
    );
    let assembled = ContextAssembled {
        request_id: input.request_id,
        n: input.request_ref,
        session_id: input.session_id,
        turn_id: input.turn_id,
        task_id: input.task_id,
        agent_id: input.agent_id,
        role: input.role,
        model: request.model.clone(),
        base: context.base.clone(),
        layers: context.layers.clone(),
        omissions: context.omissions.clone(),
        conflicts: context.conflicts.clone(),
        from_message: input.from_message,
        through_message: input.through_message,
        tokens: context.head_tokens + transcript_tokens + estimate_tokens(&input.volatile),
        volatile: input.volatile,
        max_output_tokens,
        effort: input.effort,
        context_window: input.matrix.context_window,
        hash: sha256(identity.as_bytes()),
    };
    (request, assembled)
}

pub(crate) struct Parts<'a> {
    pub(crate) context_system: Vec<air_contracts::provider::SystemBlock>,
    pub(crate) context_tools: Vec<air_contracts::provider::ToolSpec>,
    pub(crate) head: &'a [Message],
    pub(crate) transcript: &'a [Message],
    pub(crate) volatile: &'a str,
}

/// Joins the parts; ids, model and limits are filled in by the caller.
pub(crate) fn build(parts: Parts<'_>) -> ModelRequest {
    let mut messages: Vec<Message> = Vec::with_capacity(parts.head.len() + parts.transcript.len() + 1);
    for message in parts.head.iter().chain(parts.transcript) {
        match messages.last_mut() {
            // Neighbours of one role are one message on the wire.
            Some(last) if last.role == message.role => last.content.extend(message.content.iter().cloned()),
            _ => messages.push(message.clone()),
        }
    }
    let marks = cache_marks(&messages, parts.head);
    if !parts.volatile.is_empty() {
        let block = ContentBlock::text(parts.volatile);
        match messages.last_mut() {
            Some(last) if last.role == MessageRole::User => last.content.push(block),
            _ => messages.push(Message { role: MessageRole::User, content: vec![block] }),
        }
    }
    ModelRequest {
        request_id: RequestId::from_uuid(uuid_nil()),
        session_id: SessionId::from_uuid(uuid_nil()),
        model: String::new(),
        role: AgentRole::Main,
        system: parts.context_system,
        tools: parts.context_tools,
        messages,
        cache_marks: marks,
        max_output_tokens: 0,
        effort: None,
    }
}

fn uuid_nil() -> uuid::Uuid {
    uuid::Uuid::nil()
}

/// Behind the head, behind the last block before L9, and one some blocks before that. With the one of the system
/// prompt these are four at most.
fn cache_marks(messages: &[Message], head: &[Message]) -> Vec<CacheMark> {
    let flat: Vec<CacheMark> = messages
        .iter()
        .enumerate()
        .flat_map(|(message, content)| {
            (0..content.content.len()).map(move |block| CacheMark { message, block })
        })
        .collect();
    let head_blocks: usize = head.iter().map(|message| message.content.len()).sum();
    let mut places: Vec<usize> = Vec::new();
    if head_blocks > 0 {
        places.push(head_blocks - 1);
    }
    if let Some(last) = flat.len().checked_sub(1) {
        if last >= MARK_DISTANCE {
            places.push(last - MARK_DISTANCE);
        }
        places.push(last);
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter().filter_map(|place| flat.get(place).copied()).collect()
}
