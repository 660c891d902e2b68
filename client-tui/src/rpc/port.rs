//! The one trait that clients are written against: calls and notifications of a daemon.

use std::future::Future;
use std::pin::Pin;

use air_contracts::api::{InitializeResult, Method};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use serde_json::Value;

use super::Notifications;

/// The answer of a call, to come.
pub type CallFuture<'a> = Pin<Box<dyn Future<Output = Result<Value>> + Send + 'a>>;

/// A daemon as a client sees it: over its socket, or a fake in a test.
pub trait ProjectionClient: Send + Sync {
    /// Calls a method with JSON. A connection that is gone is `daemon.unreachable`, or
    /// `daemon.stopping` where the daemon said goodbye.
    fn call_value<'a>(&'a self, method: &'a str, params: Value) -> CallFuture<'a>;

    /// The notifications of this connection; `Some` once, for one reader.
    fn take_notifications(&self) -> Option<Notifications>;

    /// Who answers: version, pid, instance.
    fn server(&self) -> &InitializeResult;

    /// Whether the daemon ended this connection in order: somebody stopped it.
    fn said_goodbye(&self) -> bool {
        false
    }
}

/// Typed calls on every [`ProjectionClient`].
pub trait ProjectionClientExt {
    /// Calls `M`. An answer that does not match the contracts is `daemon.version`.
    fn call<M: Method>(&self, params: M::Params) -> impl Future<Output = Result<M::Result>> + Send;
}

impl<C: ProjectionClient + ?Sized> ProjectionClientExt for C {
    async fn call<M: Method>(&self, params: M::Params) -> Result<M::Result> {
        let params = serde_json::to_value(params)
            .map_err(|error| AirError::new(codes::RPC_INVALID_PARAMS, format!("{}: {error}", M::NAME)))?;
        let result = self.call_value(M::NAME, params).await?;
        serde_json::from_value(result).map_err(|error| {
            let message =
                format!("aird {} answers {} in another form: {error}", self.server().server.version, M::NAME);
            AirError::new(codes::DAEMON_VERSION, message).hint("air daemon restart")
        })
    }
}
