//! Messages of transcripts.

use air_contracts::Result;
use air_contracts::event::MessageAppended;
use air_contracts::ids::{AgentId, MessageId, RequestId, SessionId, TaskId, TurnId};
use air_contracts::message::{ContentBlock, MessageRole};

use crate::Store;
use crate::read::payload;

/// A message. Content that lay in an artifact is loaded; results of tools are still references.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageRow {
    pub id: MessageId,
    /// Of `message.appended`.
    pub seq: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub task_id: Option<TaskId>,
    pub agent_id: Option<AgentId>,
    pub request_id: Option<RequestId>,
    pub role: MessageRole,
    pub content: Vec<ContentBlock>,
}

/// The range of keys of a transcript: `?1` the session, `?2` the task or null.
macro_rules! transcript {
    ($head:literal, $tail:literal) => {
        concat!(
            "WITH list(n) AS (SELECT CASE WHEN ?2 IS NULL THEN (SELECT n FROM sessions WHERE id = ?1) * 2 ",
            "ELSE (SELECT n FROM tasks WHERE id = ?2) * 2 + 1 END) ",
            $head,
            " WHERE m.key > (SELECT n << 40 FROM list) AND m.key < (SELECT (n + 1) << 40 FROM list) ",
            $tail
        )
    };
}
pub(crate) use transcript;

impl Store {
    /// The transcript of a task, or the conversation of a session, in its order.
    pub async fn messages(&self, session: SessionId, task: Option<TaskId>) -> Result<Vec<MessageRow>> {
        const TRANSCRIPT: &str = transcript!(
            "SELECT e.seq, e.type, e.version, e.payload FROM messages AS m \
            JOIN events AS e ON e.seq = m.key & 0xffffffffff",
            "ORDER BY m.key"
        );
        let query = sqlx::query(TRANSCRIPT).bind(session.as_bytes().to_vec());
        let query = query.bind(task.map(|task| task.as_bytes().to_vec()));
        let stored =
            self.rows(query, |row| Ok((row.count(0)?, payload!(row.body(1)?, MessageAppended)?))).await?;
        let mut messages = Vec::with_capacity(stored.len());
        for (seq, body) in stored {
            messages.push(self.message(seq, body).await?);
        }
        Ok(messages)
    }

    async fn message(&self, seq: u64, body: MessageAppended) -> Result<MessageRow> {
        let content = self.load_value(&body.content).await?;
        Ok(MessageRow {
            id: body.message_id,
            seq,
            session_id: body.session_id,
            turn_id: body.turn_id,
            task_id: body.task_id,
            agent_id: body.agent_id,
            request_id: body.request_id,
            role: body.role,
            content,
        })
    }

    /// How many messages such a transcript has.
    pub async fn message_count(&self, session: SessionId, task: Option<TaskId>) -> Result<u64> {
        const COUNT: &str = transcript!("SELECT count(*) FROM messages AS m", "");
        let query = sqlx::query(COUNT).bind(session.as_bytes().to_vec());
        let query = query.bind(task.map(|task| task.as_bytes().to_vec()));
        Ok(self.row(query, |row| row.count(0)).await?.unwrap_or(0))
    }
}
