//! Turns.

use air_contracts::ids::{SessionId, TurnId};
use air_contracts::session::{Attachment, TurnOptions, TurnStatus};
use air_contracts::task::Blocker;
use air_contracts::{AirError, Timestamp};

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
