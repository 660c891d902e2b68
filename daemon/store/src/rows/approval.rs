//! Questions to the user.

use air_contracts::approval::{Approval, ApprovalAnswer, ApprovalState};

/// A question and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRow {
    pub approval: Approval,
    pub state: ApprovalState,
    pub answer: Option<ApprovalAnswer>,
    /// Of `approval.requested`.
    pub seq: u64,
}
