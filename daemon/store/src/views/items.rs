//! A conversation, in the order of the log: one range of `items`, joined with the events that hold the content.

use air_contracts::approval::ApprovalState;
use air_contracts::artifact::Stored;
use air_contracts::event::EventBody;
use air_contracts::ids::{EventId, MessageId, SessionId, TaskId, TurnId};
use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::projection::{ItemBody, ItemView};
use air_contracts::session::TurnStatus;
use air_contracts::{Result, Timestamp};

use super::Refs;
use super::approval::view_approval;
use super::evidence::{Writes, view_evidence};
use crate::apply::ItemKind;
use crate::read::{Columns, mismatch};
use crate::rows::transcript;
use crate::{ApprovalRow, EvidenceRow, Store, ToolRunRow};

/// The event of the item; the event that ended it, for a run and a question; the state of a question; and the
/// turn's submitting event, for a notice that has none of its own.
macro_rules! items {
    ($tail:literal) => {
        concat!(
            "SELECT (SELECT id FROM sessions WHERE n = i.session), s.seq, i.kind, s.at, s.type, s.version, s.payload, x.at, x.type, x.version, x.payload, ",
            "a.state, s.id FROM items AS i JOIN events AS s ON s.seq = i.key & 0xffffffffff ",
            "LEFT JOIN tool_runs AS r ON i.kind = 3 AND r.n = i.object ",
            "LEFT JOIN approvals AS a ON i.kind = 4 AND a.n = i.object ",
            "LEFT JOIN events AS x ON x.seq = COALESCE(r.ended_seq, a.answer_seq) ",
            $tail
        )
    };
}

/// The last word of the assistant in a conversation before `?3`.
const LAST_MESSAGE: &str = transcript!(
    "SELECT e.type, e.version, e.payload FROM messages AS m JOIN events AS e ON e.seq = m.key & 0xffffffffff",
    "AND m.key < (SELECT (n << 40) + ?3 FROM list) AND m.role = 'assistant' ORDER BY m.key DESC LIMIT 1"
);

struct Item {
    session: SessionId,
    seq: u64,
    kind: i64,
    id: EventId,
    at: Timestamp,
    first: EventBody,
    last: Option<(Timestamp, EventBody)>,
    state: Option<ApprovalState>,
}

fn item(row: Columns<'_>) -> Result<Item> {
    let last = match row.maybe_body(8)? {
        Some(body) => Some((row.time(7)?, body)),
        None => None,
    };
    Ok(Item {
        session: row.id(0)?,
        seq: row.count(1)?,
        kind: row.number(2)?,
        id: row.id(12)?,
        at: row.time(3)?,
        first: row.body(4)?,
        last,
        state: row.maybe_word(11)?,
    })
}

/// An item on its way to a view.
enum Part {
    Done { turn: TurnId, body: Box<ItemBody> },
    Message(Box<air_contracts::event::MessageAppended>),
    Run(Box<ToolRunRow>),
    Approval(Box<ApprovalRow>),
    Evidence(Box<EvidenceRow>),
    End { turn: TurnId, status: TurnStatus, answer: String },
}

impl Store {
    /// The newest `limit` items of a session before `before` (a `seq`), oldest first.
    pub async fn items(&self, session: SessionId, before: Option<u64>, limit: u32) -> Result<Vec<ItemView>> {
        const BEFORE: &str = items!(
            "WHERE i.key > (SELECT n << 40 FROM sessions WHERE id = ?1) \
            AND i.key < (SELECT (n << 40) + ?2 FROM sessions WHERE id = ?1) ORDER BY i.key DESC LIMIT ?3"
        );
        let query = sqlx::query(BEFORE);
        let before = before.unwrap_or(u64::MAX).min(1 << 40).cast_signed();
        let query = query.bind(session.as_bytes().to_vec()).bind(before).bind(limit);
        let mut items = self.rows(query, item).await?;
        items.reverse();
        self.view_items(items).await
    }

    /// The item that the event at `seq` made; `None` where it made none.
    pub async fn item_at(&self, seq: u64) -> Result<Option<ItemView>> {
        const AT: &str = items!(
            "WHERE i.key = (SELECT (o.n << 40) | e.seq FROM events AS e JOIN sessions AS o ON o.id = e.session \
            WHERE e.seq = ?1)"
        );
        let query = sqlx::query(AT).bind(i64::try_from(seq).unwrap_or(i64::MAX));
        let found = self.row(query, item).await?;
        Ok(self.view_items(found.into_iter().collect()).await?.pop())
    }

    async fn view_items(&self, items: Vec<Item>) -> Result<Vec<ItemView>> {
        let mut parts = Vec::with_capacity(items.len());
        for item in items {
            let (session, seq, at) = (item.session, item.seq, item.at);
            parts.push((session, seq, at, part(item)?));
        }
        let refs =
            self.numbers(parts.iter().flat_map(|(session, _, _, part)| part.referred(*session))).await?;
        let refs = Refs(refs);
        let writes = self.writes_of(parts.iter().filter_map(|(_, _, _, part)| part.evidence_task())).await?;
        let mut views = Vec::with_capacity(parts.len());
        for (session, seq, at, part) in parts {
            if let Some(view) = self.view_part(session, seq, at, part, &refs, &writes).await? {
                views.push(view);
            }
        }
        Ok(views)
    }

    async fn view_part(
        &self,
        session: SessionId,
        seq: u64,
        at: Timestamp,
        part: Part,
        refs: &Refs,
        writes: &Writes,
    ) -> Result<Option<ItemView>> {
        let view = |turn_id, task: Option<TaskId>, body| {
            Some(ItemView { seq, turn_id, task: task.and_then(|task| refs.task(task)), at, body })
        };
        Ok(match part {
            Part::Done { turn, body } => view(turn, None, *body),
            Part::Message(message) => {
                let (turn, task) = (message.turn_id, message.task_id);
                self.assistant_text(*message).await.and_then(|body| view(turn, task, body))
            }
            Part::Run(row) => {
                let (turn, task) = (row.started.turn_id, row.started.task_id);
                view(turn, task, ItemBody::ToolRun { run: self.short_run(*row, refs).await })
            }
            Part::Approval(row) => {
                let (turn, task) = (row.approval.turn_id, row.approval.task_id);
                view(turn, task, ItemBody::Approval { approval: view_approval(*row, refs) })
            }
            Part::Evidence(row) => {
                let task = row.evidence.task_id;
                let turn = self.turn_of_task(task).await?;
                turn.and_then(|turn| {
                    view(turn, Some(task), ItemBody::Evidence { evidence: view_evidence(*row, refs, writes) })
                })
            }
            Part::End { turn, status, answer } => {
                let said = self.was_said(session, turn, seq, &answer).await?;
                let answer = if said { String::new() } else { answer };
                view(turn, None, ItemBody::TurnEnded { status, answer })
            }
        })
    }

    /// Text and thinking of a message; `None` where it holds no text.
    async fn assistant_text(&self, message: air_contracts::event::MessageAppended) -> Option<ItemBody> {
        let id = message.message_id;
        let content = match message.content {
            Stored::Inline { value } => value,
            stored => match self.load_value(&stored).await {
                Ok(value) => value,
                // The conversation is shown all the same, with what is wrong with this message.
                Err(error) => vec![ContentBlock::text(error.message)],
            },
        };
        let thinking: Vec<&str> = content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Thinking { thinking, .. } => Some(thinking.as_str()),
                _ => None,
            })
            .collect();
        let thinking = thinking.join("\n\n");
        let text = Message { role: MessageRole::Assistant, content }.plain_text();
        (!text.trim().is_empty()).then_some(ItemBody::AssistantMessage { id, text, thinking })
    }

    /// Whether the last message of the conversation before `seq` is this answer.
    async fn was_said(&self, session: SessionId, turn: TurnId, seq: u64, answer: &str) -> Result<bool> {
        if answer.is_empty() {
            return Ok(true);
        }
        let query = sqlx::query(LAST_MESSAGE).bind(session.as_bytes().to_vec());
        let query = query.bind(None::<Vec<u8>>).bind(i64::try_from(seq).unwrap_or(i64::MAX));
        let Some(EventBody::MessageAppended(message)) = self.row(query, |row| row.body(0)).await? else {
            return Ok(false);
        };
        if message.turn_id != turn {
            return Ok(false);
        }
        let said = self.assistant_text(message).await;
        Ok(matches!(said, Some(ItemBody::AssistantMessage { text, .. }) if text.trim() == answer.trim()))
    }

    async fn turn_of_task(&self, task: TaskId) -> Result<Option<TurnId>> {
        let query = sqlx::query("SELECT turn FROM tasks WHERE id = ?").bind(task.as_bytes().to_vec());
        self.row(query, |row| row.id(0)).await
    }
}

impl Part {
    /// The objects that it names, as hex.
    fn referred(&self, session: SessionId) -> Vec<String> {
        match self {
            Self::Done { .. } | Self::End { .. } => Vec::new(),
            Self::Message(message) => message.task_id.iter().map(|task| task.hex()).collect(),
            Self::Run(row) => super::tool_run::referred(row),
            Self::Approval(row) => {
                row.approval.task_id.iter().map(|task| task.hex()).chain([session.hex()]).collect()
            }
            Self::Evidence(row) => super::evidence::referred(row),
        }
    }

    fn evidence_task(&self) -> Option<TaskId> {
        match self {
            Self::Evidence(row) => Some(row.evidence.task_id),
            _ => None,
        }
    }
}

/// The typed content of an item.
fn part(item: Item) -> Result<Part> {
    let known = |kind: ItemKind| kind as i64 == item.kind;
    Ok(match item.first {
        EventBody::TurnSubmitted(body) => {
            user(body.turn_id, MessageId::from_uuid(body.turn_id.uuid()), body.text)
        }
        EventBody::MessageAppended(body) => Part::Message(Box::new(body)),
        EventBody::ApprovalRequested(body) => Part::Approval(Box::new(ApprovalRow {
            approval: body.approval,
            state: item.state.unwrap_or(ApprovalState::Open),
            answer: match item.last {
                Some((_, EventBody::ApprovalAnswered(answered))) => Some(answered.answer),
                _ => None,
            },
            seq: item.seq,
        })),
        EventBody::EvidenceRecorded(body) => Part::Evidence(Box::new(EvidenceRow {
            evidence: body.evidence,
            session_id: body.session_id,
            seq: item.seq,
            recorded_at: item.at,
        })),
        EventBody::TurnEnded(body) => {
            Part::End { turn: body.turn_id, status: body.status, answer: body.answer }
        }
        EventBody::ProviderWaiting(body) => Part::Done {
            turn: body.turn_id,
            body: Box::new(ItemBody::Notice {
                text: format!("waits for {} until {}: {}", body.model, body.until, body.error.message),
            }),
        },
        EventBody::TurnResumed(body) => {
            user(body.turn_id, MessageId::from_uuid(item.id.uuid()), body.note.unwrap_or_default())
        }
        EventBody::RequirementChanged(body) => {
            user(body.turn_id, MessageId::from_uuid(item.id.uuid()), body.text)
        }
        first if known(ItemKind::ToolRun) => {
            Part::Run(Box::new(ToolRunRow::new(item.seq, (item.at, first), item.last)?))
        }
        other => return Err(mismatch("an item", &other)),
    })
}

fn user(turn: TurnId, id: MessageId, text: String) -> Part {
    Part::Done { turn, body: Box::new(ItemBody::UserMessage { id, text }) }
}
