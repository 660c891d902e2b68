//! Questions to the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::{Approval, ApprovalAnswer};
use crate::ids::ApprovalId;

/// A question was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequested {
    pub approval: Approval,
}

/// It was answered. The first answer wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswered {
    pub approval_id: ApprovalId,
    pub answer: ApprovalAnswer,
}

/// Nobody needs an answer any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalWithdrawn {
    pub approval_id: ApprovalId,
    pub reason: String,
}
