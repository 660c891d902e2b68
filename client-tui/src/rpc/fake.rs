//! A daemon made of closures, for tests of clients.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use air_contracts::api::{InitializeResult, Method, PROTOCOL_VERSION, ServerInfo};
use air_contracts::error::codes;
use air_contracts::ids::InstanceId;
use air_contracts::{AirError, Result};
use serde_json::Value;
use tokio::sync::mpsc;

use super::notification::QUEUE;
use super::port::{CallFuture, ProjectionClient};
use super::{Notification, Notifications};

type Handler = Box<dyn FnMut(Value) -> Result<Value> + Send>;

/// Answers each method as it was told to, and keeps what was asked.
#[derive(Clone)]
pub struct FakeClient {
    inner: Arc<Inner>,
}

struct Inner {
    server: InitializeResult,
    handlers: Mutex<HashMap<String, Handler>>,
    calls: Mutex<Vec<(String, Value)>>,
    notifications: Mutex<Option<Notifications>>,
    notify: mpsc::Sender<Notification>,
}

/// Sends notifications to the client of a [`FakeClient`].
#[derive(Debug, Clone)]
pub struct FakeNotifier(mpsc::Sender<Notification>);

impl FakeNotifier {
    /// Sends one; `false` when the reader is gone or its queue is full.
    pub fn send(&self, notification: Notification) -> bool {
        self.0.try_send(notification).is_ok()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for FakeClient {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeClient {
    /// A daemon of this version that answers nothing yet.
    pub fn new() -> Self {
        let (notify, receiver) = mpsc::channel(QUEUE);
        let server =
            ServerInfo { name: "aird".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), pid: 1 };
        let instance_id = InstanceId::from_uuid(Default::default());
        Self {
            inner: Arc::new(Inner {
                server: InitializeResult { server, protocol_version: PROTOCOL_VERSION, instance_id },
                handlers: Mutex::default(),
                calls: Mutex::default(),
                notifications: Mutex::new(Some(Notifications::new(receiver))),
                notify,
            }),
        }
    }

    /// From now on `M` is answered by `handler`.
    #[must_use]
    pub fn on<M: Method>(
        self,
        mut handler: impl FnMut(M::Params) -> Result<M::Result> + Send + 'static,
    ) -> Self {
        let wrapped = move |params: Value| {
            let params = serde_json::from_value(params)
                .map_err(|error| AirError::new(codes::RPC_INVALID_PARAMS, error.to_string()))?;
            serde_json::to_value(handler(params)?).map_err(|error| AirError::internal(error.to_string()))
        };
        lock(&self.inner.handlers).insert(M::NAME.to_owned(), Box::new(wrapped));
        self
    }

    /// What was called so far, in order.
    pub fn calls(&self) -> Vec<(String, Value)> {
        lock(&self.inner.calls).clone()
    }

    /// The other end of [`ProjectionClient::take_notifications`].
    pub fn notifier(&self) -> FakeNotifier {
        FakeNotifier(self.inner.notify.clone())
    }

    fn answer(&self, method: &str, params: Value) -> Result<Value> {
        lock(&self.inner.calls).push((method.to_owned(), params.clone()));
        match lock(&self.inner.handlers).get_mut(method) {
            Some(handler) => handler(params),
            None => Err(AirError::new(codes::RPC_METHOD_NOT_FOUND, format!("no method {method}"))),
        }
    }
}

impl ProjectionClient for FakeClient {
    fn call_value<'a>(&'a self, method: &'a str, params: Value) -> CallFuture<'a> {
        Box::pin(async move { self.answer(method, params) })
    }

    fn take_notifications(&self) -> Option<Notifications> {
        lock(&self.inner.notifications).take()
    }

    fn server(&self) -> &InitializeResult {
        &self.inner.server
    }
}
