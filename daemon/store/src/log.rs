//! The log: reading events.

use air_contracts::Result;
use air_contracts::event::{EventSource, RuntimeEvent, SourceKind};
use air_contracts::ids::{AgentId, TaskId};

use crate::read::Columns;
use crate::{EventQuery, Store};

const DEFAULT_LIMIT: u32 = 1_000;

pub(crate) const SELECT_EVENTS: &str = "SELECT seq, session_seq, type, version, at, session, id, task, agent, \
    source_kind, source_id, payload FROM events";

impl Store {
    /// Events behind `after_seq`, in their order, at most `limit`. A payload is as it was stored.
    pub async fn events(&self, query: EventQuery) -> Result<Vec<RuntimeEvent>> {
        let limit = if query.limit == 0 { DEFAULT_LIMIT } else { query.limit };
        let mut sql = format!("{SELECT_EVENTS} WHERE seq > ?1");
        if query.session.is_some() {
            sql.push_str(" AND session = ?2");
        }
        if !query.types.is_empty() {
            sql.push_str(" AND type IN (SELECT value FROM json_each(?3))");
        }
        sql.push_str(" ORDER BY seq LIMIT ?4");
        let after = i64::try_from(query.after_seq).unwrap_or(i64::MAX);
        let types = serde_json::to_string(&query.types).unwrap_or_default();
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(after)
            .bind(query.session.map(|session| session.as_bytes().to_vec()))
            .bind(types)
            .bind(limit);
        self.rows(statement, |row| self.event(row)).await
    }

    pub(crate) fn event(&self, row: Columns<'_>) -> Result<RuntimeEvent> {
        let session_id = row.maybe_id(5)?;
        let task: Option<TaskId> = row.maybe_id(7)?;
        let agent: Option<AgentId> = row.maybe_id(8)?;
        let kind: SourceKind = row.word(9)?;
        let source = match row.maybe_text(10)? {
            Some(id) => EventSource { kind, id },
            None => EventSource { kind, id: agent.map(|agent| agent.to_string()).unwrap_or_default() },
        };
        let topics = [
            session_id.map(|_: air_contracts::ids::SessionId| "session".to_owned()),
            task.map(|id| format!("task:{id}")),
            agent.map(|id| format!("agent:{id}")),
        ];
        Ok(RuntimeEvent {
            id: row.id(6)?,
            seq: row.count(0)?,
            session_seq: row.count(1)?,
            kind: row.text(2)?,
            version: row.small(3)?,
            timestamp: row.time(4)?,
            session_id,
            project_id: self.project_id(),
            source,
            route: topics.into_iter().flatten().collect(),
            payload: row.json(11)?,
        })
    }
}
