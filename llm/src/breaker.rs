//! Which models are failing just now, so that a fallback can be chosen in their place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use air_contracts::provider::ProviderStreamEvent;
use tokio::time::Instant;

/// How long a failure speaks against a model. After it the next request is the trial.
const MEMORY: Duration = Duration::from_secs(30);

/// The last transient failure of each model, `<provider>/<model>`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Breaker {
    failed: Arc<Mutex<HashMap<String, Instant>>>,
}

impl Breaker {
    /// Takes notice of an event of an answer: its end, or a failure that survived all retries.
    pub fn observe(&self, model: &str, event: &ProviderStreamEvent) {
        let failed = match event {
            ProviderStreamEvent::Error { error } => error.error.retryable && !error.partial,
            ProviderStreamEvent::Stop { .. } => false,
            _ => return,
        };
        let mut models = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed {
            models.insert(model.to_owned(), Instant::now());
        } else {
            models.remove(model);
        }
    }

    /// Whether a model failed a moment ago.
    pub fn is_open(&self, model: &str) -> bool {
        let models = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        models.get(model).is_some_and(|since| since.elapsed() < MEMORY)
    }
}
