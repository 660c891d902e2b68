//! Evidence.

use air_contracts::evidence::Evidence;
use air_contracts::ids::{SessionId, TaskId, TurnId};
use air_contracts::{Result, Timestamp};

use crate::Store;
use crate::read::{Columns, payload};

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceRow {
    pub evidence: Evidence,
    pub session_id: SessionId,
    /// Of `evidence.recorded`.
    pub seq: u64,
    pub recorded_at: Timestamp,
}

/// Which evidence: what is given must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EvidenceFilter {
    pub task: Option<TaskId>,
    pub turn: Option<TurnId>,
    pub session: Option<SessionId>,
}

macro_rules! evidence {
    ($tail:literal) => {
        concat!(
            "SELECT r.seq, e.at, e.type, e.version, e.payload FROM evidence_refs AS r ",
            "JOIN events AS e ON e.seq = r.seq ",
            $tail
        )
    };
}

fn evidence(row: Columns<'_>) -> Result<EvidenceRow> {
    let body = payload!(row.body(2)?, EvidenceRecorded)?;
    Ok(EvidenceRow {
        evidence: body.evidence,
        session_id: body.session_id,
        seq: row.count(0)?,
        recorded_at: row.time(1)?,
    })
}

impl Store {
    /// Evidence, oldest first.
    pub async fn evidence(&self, filter: EvidenceFilter) -> Result<Vec<EvidenceRow>> {
        const OF_TASK: &str = evidence!("WHERE r.task = ?1 AND (?3 IS NULL OR r.session = ?3) ORDER BY r.n");
        const OF_TURN: &str = evidence!(
            "WHERE r.task IN (SELECT id FROM tasks WHERE turn = ?2) AND (?3 IS NULL OR r.session = ?3) ORDER BY r.n"
        );
        const ANY: &str = evidence!("WHERE (?3 IS NULL OR r.session = ?3) ORDER BY r.n");
        let sql = match filter {
            EvidenceFilter { task: Some(_), .. } => OF_TASK,
            EvidenceFilter { turn: Some(_), .. } => OF_TURN,
            _ => ANY,
        };
        let query = sqlx::query(sql)
            .bind(filter.task.map(|id| id.as_bytes().to_vec()))
            .bind(filter.turn.map(|id| id.as_bytes().to_vec()))
            .bind(filter.session.map(|id| id.as_bytes().to_vec()));
        self.rows(query, evidence).await
    }
}
