//! Numbers of short references: the next one, and what one names.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use air_contracts::error::codes;
use air_contracts::ids::*;
use air_contracts::{AirError, Result};
use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;

use crate::Store;
use crate::read::Key;

/// The next numbers, by [`RefKind::ALL`].
#[derive(Debug, Default)]
pub(crate) struct Counters([AtomicU64; RefKind::ALL.len()]);

const fn table(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Session => "sessions",
        RefKind::Turn => "turns",
        RefKind::Task => "tasks",
        RefKind::Agent => "agents",
        RefKind::ToolRun => "tool_runs",
        RefKind::Evidence => "evidence_refs",
        RefKind::Approval => "approvals",
        RefKind::Request => "requests",
    }
}

impl Counters {
    /// Counters behind the numbers in the tables, and the last `seq`.
    pub(crate) async fn seed(connection: &mut SqliteConnection) -> sqlx::Result<(Self, u64)> {
        let mut sql = "SELECT (SELECT COALESCE(max(seq), 0) FROM events)".to_owned();
        for kind in RefKind::ALL {
            // Requests are in the order of the log: numbers that were taken at one time lie close together.
            let newest = match kind {
                RefKind::Request => "(SELECT n FROM requests ORDER BY seq DESC LIMIT 1000)",
                other => table(other),
            };
            let _ = write!(sql, ", (SELECT COALESCE(max(n), 0) FROM {newest})");
        }
        let row = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_one(connection).await?;
        let counters = Self::default();
        for (place, counter) in counters.0.iter().enumerate() {
            counter.store(row.try_get::<i64, _>(place + 1)?.unsigned_abs(), Ordering::Relaxed);
        }
        Ok((counters, row.try_get::<i64, _>(0)?.unsigned_abs()))
    }

    fn next(&self, kind: RefKind) -> u64 {
        RefKind::ALL
            .iter()
            .zip(&self.0)
            .find(|(known, _)| **known == kind)
            .map_or(0, |(_, counter)| counter.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

macro_rules! resolvers {
    ($($(#[$doc:meta])* $name:ident -> $id:ident, $kind:ident, $code:ident, $command:literal;)*) => {
        impl Store {
            $($(#[$doc])*
            ///
            /// # Errors
            /// Not found (of the kind's own code), or `id.wrong_kind` for a reference of another kind.
            pub async fn $name(&self, text: &str) -> Result<$id> {
                let missing = || {
                    AirError::new(codes::$code, format!("no {} {text}", RefKind::$kind.word())).hint($command)
                };
                let found = match text.parse::<$id>() {
                    Ok(id) => self.known(RefKind::$kind, Name::Id(id.as_bytes().to_vec())).await?,
                    Err(_) => self.named(RefKind::$kind, text).await?,
                };
                found.and_then(|bytes| $id::from_slice(&bytes)).ok_or_else(missing)
            })*
        }
    };
}

resolvers! {
    /// A session by id, short reference, or `latest`: the one with the newest turn.
    resolve_session -> SessionId, Session, SESSION_NOT_FOUND, "air sessions";
    /// A turn by id, short reference, or `latest`.
    resolve_turn -> TurnId, Turn, TURN_NOT_FOUND, "air log";
    /// A task by id or short reference.
    resolve_task -> TaskId, Task, TASK_NOT_FOUND, "air tasks";
    /// A tool run by id or short reference.
    resolve_run -> ToolRunId, ToolRun, RUN_NOT_FOUND, "air log";
    /// A question by id or short reference.
    resolve_approval -> ApprovalId, Approval, APPROVAL_NOT_FOUND, "air approvals";
    /// A request to a model by id or short reference.
    resolve_request -> RequestId, Request, REQUEST_NOT_FOUND, "air context";
    /// An agent by id or short reference.
    resolve_agent -> AgentId, Agent, AGENT_NOT_FOUND, "air agents";
    /// A piece of evidence by id or short reference.
    resolve_evidence -> EvidenceId, Evidence, EVIDENCE_NOT_FOUND, "air evidence";
}

enum Name {
    Id(Vec<u8>),
    Number(i64),
}

/// Anything that is 16 bytes.
struct Bytes(Vec<u8>);

impl Key for Bytes {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.to_vec()))
    }
}

impl Store {
    /// The next number of a kind. One that is never used leaves a gap, which harms nothing.
    pub fn next_ref(&self, kind: RefKind) -> u64 {
        self.inner.counters.next(kind)
    }

    async fn known(&self, kind: RefKind, name: Name) -> Result<Option<Vec<u8>>> {
        let table = table(kind);
        let query = match name {
            Name::Id(id) => {
                sqlx::query(sqlx::AssertSqlSafe(format!("SELECT id FROM {table} WHERE id = ?"))).bind(id)
            }
            Name::Number(n) => {
                sqlx::query(sqlx::AssertSqlSafe(format!("SELECT id FROM {table} WHERE n = ?"))).bind(n)
            }
        };
        Ok(self.row(query, |row| row.id::<Bytes>(0)).await?.map(|bytes| bytes.0))
    }

    /// What a short reference or `latest` names.
    async fn named(&self, kind: RefKind, text: &str) -> Result<Option<Vec<u8>>> {
        if text == "latest" {
            return self.latest(kind).await;
        }
        if let Ok(short) = text.parse::<ShortRef>() {
            if short.kind == kind {
                return self.known(kind, Name::Number(i64::try_from(short.n).unwrap_or(i64::MAX))).await;
            }
            return Err(wrong_kind(text, short.kind, kind));
        }
        match wire_kind(text) {
            Some(other) if other != kind => Err(wrong_kind(text, other, kind)),
            _ => Ok(None),
        }
    }

    async fn latest(&self, kind: RefKind) -> Result<Option<Vec<u8>>> {
        let sql = match kind {
            RefKind::Turn => "SELECT id FROM turns ORDER BY n DESC LIMIT 1",
            RefKind::Session => LATEST_SESSION,
            _ => return Ok(None),
        };
        Ok(self.row(sqlx::query(sql), |row| row.id::<Bytes>(0)).await?.map(|bytes| bytes.0))
    }

    /// The numbers of objects of any kinds, by the bytes of their ids; unknown ones are left out.
    pub(crate) async fn numbers(
        &self,
        ids: impl IntoIterator<Item = String>,
    ) -> Result<HashMap<[u8; 16], u64>> {
        let mut wanted: Vec<String> = ids.into_iter().collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let wanted = serde_json::to_string(&wanted).unwrap_or_default();
        let rows = self
            .rows(sqlx::query(NUMBERS).bind(wanted), |row| {
                Ok((row.id::<SessionId>(0)?.uuid().into_bytes(), row.count(1)?))
            })
            .await?;
        Ok(rows.into_iter().collect())
    }
}

/// The session with the newest turn, else the newest.
const LATEST_SESSION: &str = "SELECT COALESCE( \
    (SELECT t.session FROM turns AS t JOIN sessions AS s ON s.id = t.session \
    WHERE NOT json_extract(s.settings, '$.ephemeral') ORDER BY t.n DESC LIMIT 1), \
    (SELECT id FROM sessions WHERE NOT json_extract(settings, '$.ephemeral') ORDER BY n DESC LIMIT 1)) AS id \
    WHERE id IS NOT NULL";

/// Ids are unique over all kinds. `MATERIALIZED`: the list is read once.
const NUMBERS: &str = "WITH wanted(id) AS MATERIALIZED (SELECT unhex(value) FROM json_each(?1)) \
    SELECT t.id, t.n FROM wanted CROSS JOIN tasks AS t ON t.id = wanted.id \
    UNION ALL SELECT t.id, t.n FROM wanted CROSS JOIN agents AS t ON t.id = wanted.id \
    UNION ALL SELECT t.id, t.n FROM wanted CROSS JOIN tool_runs AS t ON t.id = wanted.id \
    UNION ALL SELECT t.id, t.n FROM wanted CROSS JOIN sessions AS t ON t.id = wanted.id";

/// The kind of an id in its wire form.
fn wire_kind(text: &str) -> Option<RefKind> {
    let (prefix, _) = text.split_once('_')?;
    let known = [
        (SessionId::PREFIX, RefKind::Session),
        (TurnId::PREFIX, RefKind::Turn),
        (TaskId::PREFIX, RefKind::Task),
        (AgentId::PREFIX, RefKind::Agent),
        (ToolRunId::PREFIX, RefKind::ToolRun),
        (EvidenceId::PREFIX, RefKind::Evidence),
        (ApprovalId::PREFIX, RefKind::Approval),
        (RequestId::PREFIX, RefKind::Request),
    ];
    known.into_iter().find(|(name, _)| *name == prefix).map(|(_, kind)| kind)
}

fn wrong_kind(text: &str, is: RefKind, wanted: RefKind) -> AirError {
    AirError::new(codes::ID_WRONG_KIND, format!("{text} is a {}, not a {}", is.word(), wanted.word()))
        .hint(format!("a {} looks like {}1", wanted.word(), wanted.letter()))
}
