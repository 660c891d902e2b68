//! Questions to the user.

use air_contracts::approval::{Approval, ApprovalAnswer, ApprovalDecision, ApprovalState, ApprovalSubject};
use air_contracts::error::codes;
use air_contracts::event::EventBody;
use air_contracts::ids::{ApprovalId, SessionId, TaskId, TurnId};
use air_contracts::permission::GrantScope;
use air_contracts::{AirError, Result};

use crate::Store;
use crate::read::{Columns, payload};

/// A question and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRow {
    pub approval: Approval,
    pub state: ApprovalState,
    pub answer: Option<ApprovalAnswer>,
    /// Of `approval.requested`.
    pub seq: u64,
}

macro_rules! approvals {
    ($tail:literal) => {
        concat!(
            "SELECT a.seq, a.state, s.type, s.version, s.payload, x.type, x.version, x.payload ",
            "FROM approvals AS a JOIN events AS s ON s.seq = a.seq LEFT JOIN events AS x ON x.seq = a.answer_seq ",
            $tail
        )
    };
}

fn approval(row: Columns<'_>) -> Result<ApprovalRow> {
    let answer = match row.maybe_body(5)? {
        Some(EventBody::ApprovalAnswered(body)) => Some(body.answer),
        _ => None,
    };
    Ok(ApprovalRow {
        seq: row.count(0)?,
        state: row.word(1)?,
        approval: payload!(row.body(2)?, ApprovalRequested)?.approval,
        answer,
    })
}

impl Store {
    /// A question. `approval.not_found` where there is none.
    pub async fn approval(&self, id: ApprovalId) -> Result<ApprovalRow> {
        let query = sqlx::query(approvals!("WHERE a.id = ?")).bind(id.as_bytes().to_vec());
        let missing = || AirError::new(codes::APPROVAL_NOT_FOUND, format!("no question {id}"));
        self.row(query, approval).await?.ok_or_else(missing)
    }

    /// Open questions, oldest first.
    pub async fn open_approvals(&self, session: Option<SessionId>) -> Result<Vec<ApprovalRow>> {
        let query =
            sqlx::query(approvals!("WHERE a.state = 'open' AND (?1 IS NULL OR a.session = ?1) ORDER BY a.n"));
        self.rows(query.bind(session.map(|session| session.as_bytes().to_vec())), approval).await
    }

    /// Questions in any state, the newest `limit`, oldest first.
    pub(crate) async fn approvals(&self, session: Option<SessionId>, limit: u32) -> Result<Vec<ApprovalRow>> {
        let query =
            sqlx::query(approvals!("WHERE (?1 IS NULL OR a.session = ?1) ORDER BY a.n DESC LIMIT ?2"));
        let session = session.map(|session| session.as_bytes().to_vec());
        let mut rows = self.rows(query.bind(session).bind(limit), approval).await?;
        rows.reverse();
        Ok(rows)
    }

    /// The newest question that a call of this turn and task asked.
    pub async fn approval_by_call(
        &self,
        turn: TurnId,
        task: Option<TaskId>,
        call_id: &str,
    ) -> Result<Option<ApprovalRow>> {
        let query = sqlx::query(approvals!(
            "WHERE a.turn = ? AND a.call_id = ? AND a.task IS ? ORDER BY a.n DESC LIMIT 1"
        ));
        let query = query.bind(turn.as_bytes().to_vec()).bind(call_id.to_owned());
        self.row(query.bind(task.map(|task| task.as_bytes().to_vec())), approval).await
    }

    /// What was allowed until a session ends: key, what it covers, and the question.
    pub async fn session_grants(&self, session: SessionId) -> Result<Vec<(String, String, ApprovalId)>> {
        let query = sqlx::query(approvals!("WHERE a.session = ? AND a.scope = 'session' ORDER BY a.n"));
        let rows = self.rows(query.bind(session.as_bytes().to_vec()), approval).await?;
        Ok(rows.into_iter().filter_map(grant).collect())
    }
}

fn grant(row: ApprovalRow) -> Option<(String, String, ApprovalId)> {
    let allowed = row.answer.is_some_and(|answer| answer.decision == Some(ApprovalDecision::Allow));
    let ApprovalSubject::ToolCall { scopes, .. } = row.approval.subject else { return None };
    let offer = scopes.into_iter().find(|offer| offer.scope == GrantScope::Session)?;
    allowed.then_some((offer.key, offer.covers, row.approval.id))
}
