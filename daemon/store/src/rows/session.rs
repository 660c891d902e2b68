//! Sessions.

use air_contracts::error::codes;
use air_contracts::ids::SessionId;
use air_contracts::session::{ForkedFrom, SessionSettings};
use air_contracts::{AirError, Result, Timestamp};

use crate::Store;
use crate::read::Columns;

/// A session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    pub id: SessionId,
    /// The number in `s3`.
    pub n: u64,
    pub settings: SessionSettings,
    pub forked_from: Option<ForkedFrom>,
    pub closed: bool,
    pub created_at: Timestamp,
    /// When a turn of it, its settings or its state last changed.
    pub updated_at: Timestamp,
}

macro_rules! sessions {
    ($tail:literal) => {
        concat!("SELECT id, n, settings, forked_from, closed, created_at, updated_at FROM sessions ", $tail)
    };
}

fn session(row: Columns<'_>) -> Result<SessionRow> {
    Ok(SessionRow {
        id: row.id(0)?,
        n: row.count(1)?,
        settings: row.json(2)?,
        forked_from: row.maybe_json(3)?,
        closed: row.number(4)? != 0,
        created_at: row.time(5)?,
        updated_at: row.time(6)?,
    })
}

impl Store {
    /// A session. `session.not_found` where there is none.
    pub async fn session(&self, id: SessionId) -> Result<SessionRow> {
        let query = sqlx::query(sessions!("WHERE id = ?")).bind(id.as_bytes().to_vec());
        let missing = || AirError::new(codes::SESSION_NOT_FOUND, format!("no session {id}"));
        self.row(query, session).await?.ok_or_else(missing)
    }

    /// Sessions, the one that changed last first, at most `limit`.
    pub async fn sessions(&self, limit: u32) -> Result<Vec<SessionRow>> {
        let query = sqlx::query(sessions!("ORDER BY updated_at DESC, n DESC LIMIT ?")).bind(limit);
        self.rows(query, session).await
    }

    /// The session with the newest turn, else the newest. Ephemeral ones do not count.
    pub async fn latest_session(&self) -> Result<Option<SessionRow>> {
        const LATEST: &str = sessions!(
            "WHERE id = COALESCE((SELECT t.session FROM turns AS t JOIN sessions AS s ON s.id = t.session \
            WHERE NOT json_extract(s.settings, '$.ephemeral') ORDER BY t.n DESC LIMIT 1), \
            (SELECT id FROM sessions WHERE NOT json_extract(settings, '$.ephemeral') ORDER BY n DESC LIMIT 1))"
        );
        self.row(sqlx::query(LATEST), session).await
    }
}
