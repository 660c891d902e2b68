//! Sessions.

use air_contracts::Timestamp;
use air_contracts::ids::SessionId;
use air_contracts::session::{ForkedFrom, SessionSettings};

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
