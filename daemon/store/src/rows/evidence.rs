//! Evidence.

use air_contracts::Timestamp;
use air_contracts::evidence::Evidence;
use air_contracts::ids::{SessionId, TaskId, TurnId};

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
