//! The model gateway: calls of the scheduler and the agents, over the providers of the configuration.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use air_contracts::Result;
use air_contracts::port::{BoxStream, ModelGateway};
use air_contracts::provider::{ModelAssignment, ModelRequest, ProviderError, ProviderStreamEvent};
use air_contracts::task::AgentRole;
use futures_util::StreamExt as _;
use tokio::sync::Notify;

use crate::settings::Settings;

/// Answers that are under way, of all projects.
#[derive(Debug, Default)]
pub struct Flow {
    active: AtomicUsize,
    requests: AtomicU64,
    errors: AtomicU64,
    closing: AtomicBool,
    ended: Notify,
}

impl Flow {
    /// (under way, all so far, failed so far).
    pub fn counts(&self) -> (usize, u64, u64) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (self.active.load(Ordering::Relaxed), load(&self.requests), load(&self.errors))
    }

    /// Lets no new request begin, and waits for those under way, at most `limit`. A request that would begin
    /// now waits until the daemon ends: nothing was executed from it, so the next daemon makes it again.
    pub async fn drain(&self, limit: Duration) {
        self.closing.store(true, Ordering::SeqCst);
        let quiet = async {
            loop {
                let ended = self.ended.notified();
                tokio::pin!(ended);
                ended.as_mut().enable();
                if self.active.load(Ordering::SeqCst) == 0 {
                    return;
                }
                ended.await;
            }
        };
        if tokio::time::timeout(limit, quiet).await.is_err() {
            tracing::info!("answers of models are cut: they took too long to end");
        }
    }
}

/// One answer that is under way.
struct Active(Arc<Flow>);

impl Active {
    fn begin(flow: &Arc<Flow>) -> Self {
        flow.active.fetch_add(1, Ordering::SeqCst);
        flow.requests.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(flow))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}

/// The gateway of one project.
pub struct Gateway {
    settings: Arc<Settings>,
    flow: Arc<Flow>,
}

impl Gateway {
    pub fn new(settings: Arc<Settings>, flow: Arc<Flow>) -> Self {
        Self { settings, flow }
    }
}

impl ModelGateway for Gateway {
    fn select(&self, role: AgentRole, wanted: Option<&str>) -> Result<ModelAssignment> {
        self.settings.in_force().providers?.select(role, wanted)
    }

    fn complete(&self, request: &ModelRequest) -> BoxStream<'static, ProviderStreamEvent> {
        if self.flow.closing.load(Ordering::SeqCst) {
            return Box::pin(futures_util::stream::pending());
        }
        let active = Active::begin(&self.flow);
        let events = match self.settings.in_force().providers {
            Ok(providers) => providers.complete(request),
            Err(error) => {
                let error = ProviderError { error, retry_after_ms: None, partial: false };
                Box::pin(futures_util::stream::iter([ProviderStreamEvent::Error { error }]))
            }
        };
        Box::pin(events.inspect(move |event| {
            if matches!(event, ProviderStreamEvent::Error { .. }) {
                active.0.errors.fetch_add(1, Ordering::Relaxed);
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn draining_waits_for_what_is_under_way() {
        let flow = Arc::new(Flow::default());
        flow.drain(Duration::from_secs(60)).await;
        let active = Active::begin(&flow);
        let drained = flow.drain(Duration::from_secs(60));
        let ends = async { drop(active) };
        tokio::join!(drained, ends);
        assert_eq!(flow.counts(), (0, 1, 0));
    }
}
