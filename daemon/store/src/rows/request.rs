//! Requests to models.

use air_contracts::Timestamp;
use air_contracts::event::ContextAssembled;

/// A request as it was assembled.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRow {
    pub assembled: ContextAssembled,
    /// Of `context.assembled`.
    pub seq: u64,
    pub at: Timestamp,
}
