//! The conversation of a session as the Main Agent sends it: always valid, and small enough for its model.

use std::collections::BTreeSet;

use air_context::{AssembledContext, ContextAssembler, estimate_message};
use air_contracts::Result;
use air_contracts::artifact::Stored;
use air_contracts::event::{MessageAppended, NewEvent};
use air_contracts::ids::{AgentId, MessageId, RequestId};
use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::port::ToolExecutor;
use air_contracts::tool::CallContext;
use air_store::{MessageRow, Store, TurnRow};

/// What a call gets that an interrupt or a crash kept from starting.
const NOT_STARTED: &str = "error not_started: the turn was stopped before this call began. Nothing was done.";

/// The part of a conversation that is sent, and where it lies in the log.
pub(crate) struct Conversation {
    pub(crate) messages: Vec<Message>,
    pub(crate) from: Option<MessageId>,
    pub(crate) through: Option<MessageId>,
    /// Every id that a call of it has; a later answer must not use one again.
    pub(crate) call_ids: BTreeSet<String>,
}

impl Conversation {
    /// Loads it; calls that a crash or an interrupt left open are answered first.
    pub(crate) async fn load(
        store: &Store,
        assembler: &ContextAssembler,
        context: &AssembledContext,
        window: u32,
        turn: &TurnRow,
        answer: OpenCalls<'_>,
    ) -> Result<Self> {
        let mut rows = store.messages(turn.session_id, None).await?;
        if let Some(event) = answer.answer(&rows, turn).await? {
            store.ingest(vec![event]).await?;
            rows = store.messages(turn.session_id, None).await?;
        }
        let messages = assembler.resolve_results(&rows, &context.tools).await?;
        let start = first_that_fits(&rows, &messages, window.saturating_sub(context.head_tokens));
        let call_ids = messages.iter().flat_map(Message::tool_uses).map(|(id, _, _)| id.to_owned()).collect();
        Ok(Self {
            call_ids,
            from: rows.get(start).map(|row| row.id),
            through: rows.last().map(|row| row.id),
            messages: messages.into_iter().skip(start).collect(),
        })
    }

    /// Takes over a message that the log will hold under this id.
    pub(crate) fn push(&mut self, id: MessageId, message: Message) {
        self.from.get_or_insert(id);
        self.through = Some(id);
        self.messages.push(message);
    }
}

/// The first message of the newest part that takes at most 70 % of the room and begins with the user's own words.
fn first_that_fits(rows: &[MessageRow], messages: &[Message], room: u32) -> usize {
    let limit = u64::from(room) * 7 / 10;
    let mut used = 0u64;
    let mut start = messages.len().saturating_sub(1);
    for index in (0..messages.len()).rev() {
        used += u64::from(estimate_message(&messages[index]));
        if used > limit && index + 1 < messages.len() {
            break;
        }
        let own_words = rows[index].role == MessageRole::User
            && rows[index]
                .content
                .iter()
                .all(|block| matches!(block, ContentBlock::Text { .. } | ContentBlock::Image { .. }));
        if own_words {
            start = index;
        }
    }
    start
}

/// Finds out what became of calls without a result.
pub(crate) struct OpenCalls<'a> {
    pub(crate) executor: &'a dyn ToolExecutor,
    pub(crate) context: CallContext,
    pub(crate) message_id: MessageId,
}

impl OpenCalls<'_> {
    /// The message with their results; `None` when none is open.
    async fn answer(self, rows: &[MessageRow], turn: &TurnRow) -> Result<Option<NewEvent>> {
        let mut open: Vec<String> = Vec::new();
        for row in rows {
            for block in &row.content {
                match block {
                    ContentBlock::ToolUse { id, .. } => open.push(id.clone()),
                    ContentBlock::ToolResultRef { tool_use_id, .. }
                    | ContentBlock::ToolResult { tool_use_id, .. } => {
                        open.retain(|id| id != tool_use_id);
                    }
                    _ => {}
                }
            }
        }
        if open.is_empty() {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(open.len());
        for tool_use_id in open {
            content.push(match self.executor.recover(self.context.clone(), &tool_use_id).await {
                Some(result) => ContentBlock::ToolResultRef { tool_use_id, run: result.run_id },
                None => {
                    ContentBlock::ToolResult { tool_use_id, content: NOT_STARTED.to_owned(), is_error: true }
                }
            });
        }
        let agent = self.context.agent_id;
        Ok(Some(appended(
            self.message_id,
            turn,
            Some(agent),
            None,
            MessageRole::User,
            Stored::Inline { value: content },
        )))
    }
}

/// `message.appended` of the conversation.
pub(crate) fn appended(
    message_id: MessageId,
    turn: &TurnRow,
    agent_id: Option<AgentId>,
    request_id: Option<RequestId>,
    role: MessageRole,
    content: Stored<Vec<ContentBlock>>,
) -> NewEvent {
    let body = MessageAppended {
        message_id,
        session_id: turn.session_id,
        turn_id: turn.id,
        task_id: None,
        agent_id,
        request_id,
        role,
        content,
    };
    let source = agent_id
        .map_or_else(air_contracts::event::EventSource::daemon, air_contracts::event::EventSource::agent);
    NewEvent::new(turn.session_id, source, body)
}
