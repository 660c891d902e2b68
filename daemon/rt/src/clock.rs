//! The time, as something that can be handed in.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A source of wall-clock time. For records only: limits use the monotonic clock.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The system's clock.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands until [`Clock::advance`] moves it, for tests.
    pub fn manual(millis: i64) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(millis))))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn millis(&self) -> i64 {
        match &self.0 {
            Source::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            Source::Manual(millis) => millis.load(Ordering::Relaxed),
        }
    }

    /// Moves a manual clock; the system's clock is not moved.
    pub fn advance(&self, by_millis: i64) {
        if let Source::Manual(millis) = &self.0 {
            millis.fetch_add(by_millis, Ordering::Relaxed);
        }
    }
}
