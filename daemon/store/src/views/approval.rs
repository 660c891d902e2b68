//! Questions.

use air_contracts::Result;
use air_contracts::ids::{ApprovalId, RefKind, SessionId, ShortRef};
use air_contracts::projection::ApprovalView;

use super::Refs;
use crate::{ApprovalRow, Store};

/// Questions of a list that is not only of open ones.
const LISTED: u32 = 200;

impl Store {
    /// A question.
    pub async fn approval_view(&self, id: ApprovalId) -> Result<ApprovalView> {
        let row = self.approval(id).await?;
        let refs = self.refs_of_approvals(std::slice::from_ref(&row)).await?;
        Ok(view_approval(row, &refs))
    }

    /// Questions, oldest first: open ones, or `all` (the newest 200).
    pub async fn approval_views(&self, session: Option<SessionId>, all: bool) -> Result<Vec<ApprovalView>> {
        let rows =
            if all { self.approvals(session, LISTED).await? } else { self.open_approvals(session).await? };
        let refs = self.refs_of_approvals(&rows).await?;
        Ok(rows.into_iter().map(|row| view_approval(row, &refs)).collect())
    }

    async fn refs_of_approvals(&self, rows: &[ApprovalRow]) -> Result<Refs> {
        let approvals = rows.iter().map(|row| &row.approval);
        let ids = approvals.flat_map(|approval| {
            [Some(approval.session_id.hex()), approval.task_id.map(|task| task.hex())].into_iter().flatten()
        });
        self.numbers(ids).await.map(Refs)
    }
}

pub(super) fn view_approval(row: ApprovalRow, refs: &Refs) -> ApprovalView {
    let approval = row.approval;
    ApprovalView {
        id: approval.id,
        short: ShortRef::new(RefKind::Approval, approval.n),
        session_id: approval.session_id,
        session: refs.session(approval.session_id).unwrap_or(ShortRef::new(RefKind::Session, 0)),
        turn_id: approval.turn_id,
        task: approval.task_id.and_then(|task| refs.task(task)),
        state: row.state,
        asked_at: approval.asked_at,
        subject: approval.subject,
        answer: row.answer,
    }
}
