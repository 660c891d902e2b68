//! Agents.

use air_contracts::error::codes;
use air_contracts::event::AttemptStarted;
use air_contracts::ids::{AgentId, SessionId, TurnId, WorkspaceId};
use air_contracts::projection::Waiting;
use air_contracts::task::AgentRole;
use air_contracts::{AirError, Result, Timestamp};

use crate::Store;
use crate::read::{Columns, payload};

/// An agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRow {
    pub id: AgentId,
    /// The number in `w2`.
    pub n: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub role: AgentRole,
    /// `<provider>/<model>`.
    pub model: String,
    pub workspace_id: WorkspaceId,
    pub attempt: Option<AttemptStarted>,
    /// Of a worker process.
    pub pid: Option<u32>,
    /// `running`, `succeeded`, `failed`, `lost`, `cancelled`, `timed_out`.
    pub state: String,
    /// What it last waited for; over when `until` is past.
    pub waiting: Option<Waiting>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

macro_rules! agents {
    ($tail:literal) => {
        concat!(
            "SELECT a.id, a.n, a.session, a.state, a.waiting_reason, a.waiting_until, a.started_at, a.ended_at, ",
            "e.type, e.version, e.payload FROM agents AS a JOIN events AS e ON e.seq = a.seq ",
            $tail
        )
    };
}

fn agent(row: Columns<'_>) -> Result<AgentRow> {
    let body = payload!(row.body(8)?, AgentStarted)?;
    let until = row.maybe_time(5)?;
    let waiting = row.maybe_text(4)?.map(|reason| Waiting { reason, until });
    Ok(AgentRow {
        id: row.id(0)?,
        n: row.count(1)?,
        session_id: row.id(2)?,
        turn_id: body.turn_id,
        role: body.role,
        model: body.model,
        workspace_id: body.workspace_id,
        attempt: body.attempt,
        pid: body.pid,
        state: row.text(3)?,
        waiting,
        started_at: row.time(6)?,
        ended_at: row.maybe_time(7)?,
    })
}

impl Store {
    /// An agent. `agent.not_found` where there is none.
    pub async fn agent(&self, id: AgentId) -> Result<AgentRow> {
        let query = sqlx::query(agents!("WHERE a.id = ?")).bind(id.as_bytes().to_vec());
        self.row(query, agent)
            .await?
            .ok_or_else(|| AirError::new(codes::AGENT_NOT_FOUND, format!("no agent {id}")))
    }

    /// Agents, oldest first: those that run, or `all`.
    pub async fn agents(&self, session: Option<SessionId>, all: bool) -> Result<Vec<AgentRow>> {
        let query = sqlx::query(agents!(
            "WHERE (?1 IS NULL OR a.session = ?1) AND (?2 OR a.ended_at IS NULL) ORDER BY a.n"
        ));
        self.rows(query.bind(session.map(|session| session.as_bytes().to_vec())).bind(all), agent).await
    }
}
