//! One transaction: events get their places, are applied, and all of it goes to SQLite in one round trip.
//!
//! A round trip to the connection's thread costs about as much as the statements of a small batch, so
//! `BEGIN`, every statement that is needed, and `COMMIT` are sent as one text with one list of parameters.

use std::collections::HashMap;
use std::path::Path;

use air_contracts::Result;
use air_contracts::event::SourceKind;
use air_contracts::ids::{EventId, SessionId};
use air_rt::IdSource;
use serde::Serialize;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor as _};

use crate::Committed;
use crate::apply::{Changes, Entry, apply, sql};
use crate::db::database_error;
use crate::writer::Prepared;

/// Payloads come beside the rows, as bytes with offsets, so that they are not wrapped in JSON once more.
const INSERT_EVENTS: &str = "INSERT INTO events (seq, session_seq, type, version, at, session, id, task, agent, \
    source_kind, source_id, payload) SELECT value->>0, value->>1, value->>2, value->>3, value->>4, unhex(value->>5), \
    unhex(value->>6), unhex(value->>7), unhex(value->>8), value->>9, value->>10, \
    CAST(substr(?, value->>11, value->>12) AS TEXT) FROM json_each(?)";

/// Columns of `events` in the order of the statement above, then offset (from 1) and length of the payload.
#[derive(Serialize)]
struct EventColumns<'a>(
    u64,
    u64,
    &'a str,
    u32,
    i64,
    Option<String>,
    String,
    Option<String>,
    Option<String>,
    SourceKind,
    Option<&'a str>,
    usize,
    usize,
);

/// A transaction being put together.
pub(crate) struct Batch<'a> {
    seq: u64,
    at: i64,
    known: &'a HashMap<SessionId, u64>,
    sessions: HashMap<SessionId, u64>,
    rows: Vec<u8>,
    payloads: Vec<u8>,
    changes: Changes,
    failed: Option<serde_json::Error>,
}

impl<'a> Batch<'a> {
    /// Nothing yet, behind `seq`. `known`: the last `session_seq` of every session that occurs.
    pub(crate) fn new(seq: u64, at: i64, known: &'a HashMap<SessionId, u64>) -> Self {
        Self {
            seq,
            at,
            known,
            sessions: HashMap::new(),
            rows: Vec::new(),
            payloads: Vec::new(),
            changes: Changes::new(),
            failed: None,
        }
    }

    /// Adds the events of one call and says where they will be.
    pub(crate) fn call(&mut self, events: &[Prepared], ids: &IdSource) -> Committed {
        let first_seq = self.seq + 1;
        for prepared in events {
            self.event(prepared, EventId::from_uuid(ids.next()));
        }
        Committed { first_seq, last_seq: self.seq }
    }

    fn event(&mut self, prepared: &Prepared, id: EventId) {
        let event = &prepared.event;
        self.seq += 1;
        let session_seq = event.session_id.map_or(0, |session| {
            let known = self.known.get(&session).copied().unwrap_or(0);
            let last = self.sessions.entry(session).or_insert(known);
            *last += 1;
            *last
        });
        let of_agent = event.source.kind == SourceKind::Agent
            && event.agent_id.is_some_and(|agent| event.source.id == agent.to_string());
        let columns = EventColumns(
            self.seq,
            session_seq,
            event.body.kind(),
            event.body.version(),
            self.at,
            event.session_id.map(|session| session.hex()),
            id.hex(),
            event.task_id.map(|task| task.hex()),
            event.agent_id.map(|agent| agent.hex()),
            event.source.kind,
            (!of_agent).then_some(event.source.id.as_str()),
            self.payloads.len() + 1,
            prepared.payload.len(),
        );
        self.rows.push(if self.rows.is_empty() { b'[' } else { b',' });
        if let Err(error) = serde_json::to_writer(&mut self.rows, &columns) {
            self.failed.get_or_insert(error);
        }
        self.payloads.extend_from_slice(prepared.payload.as_bytes());
        let entry = Entry { seq: self.seq, at: self.at, session: event.session_id, body: &event.body };
        apply(entry, &mut self.changes);
    }

    /// Commits. Returns the last place and the last `session_seq` of the sessions that occurred.
    ///
    /// # Errors
    /// Everything is rolled back.
    pub(crate) async fn execute(
        mut self,
        connection: &mut SqliteConnection,
        path: &Path,
    ) -> Result<(u64, HashMap<SessionId, u64>)> {
        if let Some(error) = self.failed {
            return Err(air_contracts::AirError::internal(error.to_string()));
        }
        let parameters = self.changes.finish()?;
        let mut text = String::with_capacity(4_096);
        text.push_str("BEGIN IMMEDIATE;");
        text.push_str(INSERT_EVENTS);
        for (place, _) in &parameters {
            text.push(';');
            text.push_str(sql(*place));
        }
        text.push_str(";COMMIT");
        self.rows.push(b']');
        let rows = String::from_utf8(self.rows)
            .map_err(|error| air_contracts::AirError::internal(error.to_string()))?;
        let mut query = sqlx::query(AssertSqlSafe(text)).bind(self.payloads).bind(rows);
        for (_, rows) in parameters {
            query = query.bind(rows);
        }
        if let Err(error) = query.execute(&mut *connection).await {
            // Some errors have rolled it back already; then there is nothing to roll back.
            let _ = connection.execute("ROLLBACK").await;
            return Err(database_error(path, &error));
        }
        Ok((self.seq, self.sessions))
    }
}
