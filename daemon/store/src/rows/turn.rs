//! Turns.

use air_contracts::error::codes;
use air_contracts::ids::{SessionId, TurnId};
use air_contracts::session::{Attachment, TurnOptions, TurnStatus};
use air_contracts::task::Blocker;
use air_contracts::{AirError, Result, Timestamp};

use crate::Store;
use crate::read::{Columns, payload};

/// A turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRow {
    pub id: TurnId,
    /// The number in `t12`.
    pub n: u64,
    pub session_id: SessionId,
    pub status: TurnStatus,
    pub text: String,
    pub attachments: Vec<Attachment>,
    pub options: TurnOptions,
    pub client_id: Option<String>,
    /// `None` until it has ended.
    pub answer: Option<String>,
    pub error: Option<AirError>,
    pub blockers: Vec<Blocker>,
    /// Calls that wrote so far.
    pub write_seq: u64,
    /// Of `turn.submitted`.
    pub seq: u64,
    pub submitted_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

macro_rules! turns {
    ($tail:literal) => {
        concat!(
            "SELECT t.id, t.n, t.session, t.status, t.write_seq, t.seq, t.submitted_at, t.started_at, t.ended_at, ",
            "s.type, s.version, s.payload, x.type, x.version, x.payload FROM turns AS t ",
            "JOIN events AS s ON s.seq = t.seq LEFT JOIN events AS x ON x.seq = t.ended_seq ",
            $tail
        )
    };
}

fn turn(row: Columns<'_>) -> Result<TurnRow> {
    let status: TurnStatus = row.word(3)?;
    let submitted = payload!(row.body(9)?, TurnSubmitted)?;
    // A turn that goes on has the end of before in its row.
    let end = match row.maybe_body(12)? {
        Some(body) if status.is_ended() => Some(payload!(body, TurnEnded)?),
        _ => None,
    };
    let ended_at = if end.is_some() { row.maybe_time(8)? } else { None };
    let (answer, blockers, error) =
        end.map_or((None, Vec::new(), None), |end| (Some(end.answer), end.blockers, end.error));
    Ok(TurnRow {
        id: row.id(0)?,
        n: row.count(1)?,
        session_id: row.id(2)?,
        status,
        text: submitted.text,
        attachments: submitted.attachments,
        options: submitted.options,
        client_id: submitted.client_id,
        answer,
        error,
        blockers,
        write_seq: row.count(4)?,
        seq: row.count(5)?,
        submitted_at: row.time(6)?,
        started_at: row.maybe_time(7)?,
        ended_at,
    })
}

impl Store {
    /// A turn. `turn.not_found` where there is none.
    pub async fn turn(&self, id: TurnId) -> Result<TurnRow> {
        let query = sqlx::query(turns!("WHERE t.id = ?")).bind(id.as_bytes().to_vec());
        self.row(query, turn)
            .await?
            .ok_or_else(|| AirError::new(codes::TURN_NOT_FOUND, format!("no turn {id}")))
    }

    /// The newest `limit` turns of a session, oldest first.
    pub async fn turns(&self, session: SessionId, limit: u32) -> Result<Vec<TurnRow>> {
        let query = sqlx::query(turns!("WHERE t.session = ? ORDER BY t.n DESC LIMIT ?"));
        let mut turns = self.rows(query.bind(session.as_bytes().to_vec()).bind(limit), turn).await?;
        turns.reverse();
        Ok(turns)
    }

    /// Turns that are queued or running, of all sessions, oldest first.
    pub async fn unfinished_turns(&self) -> Result<Vec<TurnRow>> {
        self.rows(sqlx::query(turns!("WHERE t.status IN ('queued', 'running') ORDER BY t.n")), turn).await
    }

    /// The turn that a client submitted under its own key.
    pub async fn turn_by_client_id(
        &self,
        session: Option<SessionId>,
        client_id: &str,
    ) -> Result<Option<TurnRow>> {
        let query = sqlx::query(turns!(
            "WHERE t.client_id = ?1 AND (?2 IS NULL OR t.session = ?2) ORDER BY t.n LIMIT 1"
        ));
        let session = session.map(|session| session.as_bytes().to_vec());
        self.row(query.bind(client_id.to_owned()).bind(session), turn).await
    }
}
