//! New ids: UUID version 7 (RFC 9562), strictly rising within one source.

use std::sync::Arc;

use uuid::{ContextV7, Timestamp, Uuid};

/// Makes ids. Clones share one counter.
#[derive(Debug, Clone)]
pub struct IdSource(Arc<std::sync::Mutex<ContextV7>>);

impl Default for IdSource {
    fn default() -> Self {
        Self::new()
    }
}

impl IdSource {
    /// A source of its own.
    pub fn new() -> Self {
        Self(Arc::new(std::sync::Mutex::new(ContextV7::new())))
    }

    /// The next id. Within one source each is greater than the one before, whatever the clock does.
    pub fn next(&self) -> Uuid {
        // A thread that panicked here left nothing half-done: the counter is one word.
        let context = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Uuid::new_v7(Timestamp::now(&*context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise() {
        let ids = IdSource::new();
        let made: Vec<Uuid> = (0..2_000).map(|_| ids.next()).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(made[0].get_version_num(), 7);
    }
}
