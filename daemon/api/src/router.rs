//! The registry of methods: typed at the edge, one table inside.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use air_contracts::api::{ClientRole, Method};
use air_contracts::error::codes;
use air_contracts::port::BoxFuture;
use air_contracts::{AirError, Result};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::caller::Caller;
use crate::suggest::nearest;

type Handler =
    Arc<dyn Fn(Caller, Option<Box<RawValue>>) -> BoxFuture<'static, Result<Box<RawValue>>> + Send + Sync>;

/// A method as the table holds it.
#[derive(Clone)]
pub(crate) struct Entry {
    pub name: &'static str,
    pub read_only: bool,
    handler: Handler,
}

impl Entry {
    /// Runs the handler: parameters are read first, and what does not match is an error.
    pub fn call(
        &self,
        caller: Caller,
        params: Option<Box<RawValue>>,
    ) -> BoxFuture<'static, Result<Box<RawValue>>> {
        (self.handler)(caller, params)
    }
}

/// The methods that a server answers. `initialize` is its own.
#[derive(Clone, Default)]
pub struct Router {
    entries: BTreeMap<&'static str, Entry>,
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

impl Router {
    /// A router without methods.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a method. A second handler for the same method replaces the first.
    #[must_use]
    pub fn register<M, F, Fut>(mut self, handler: F) -> Self
    where
        M: Method,
        F: Fn(Caller, M::Params) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<M::Result>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let erased: Handler = Arc::new(move |caller, params| {
            let handler = Arc::clone(&handler);
            Box::pin(async move {
                let params = read_params::<M::Params>(M::NAME, params.as_deref())?;
                let result = handler(caller, params).await?;
                serde_json::value::to_raw_value(&result).map_err(|error| {
                    AirError::internal(format!("{}: the result cannot be written: {error}", M::NAME))
                })
            })
        });
        self.entries.insert(M::NAME, Entry { name: M::NAME, read_only: M::READ_ONLY, handler: erased });
        self
    }

    /// The names of all methods, sorted.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.entries.keys().copied()
    }

    /// The method of a call, if this role may make it.
    pub(crate) fn find(&self, method: &str, role: ClientRole) -> Result<Entry> {
        let Some(entry) = self.entries.get(method) else {
            let error = AirError::new(codes::RPC_METHOD_NOT_FOUND, format!("no method {method}"));
            return Err(match nearest(method, self.methods()) {
                Some(name) => error.hint(format!("did you mean {name}?")),
                None => error.hint("air schema lists all methods"),
            });
        };
        if role == ClientRole::Observer && !entry.read_only {
            return Err(AirError::new(codes::ROLE_OBSERVER, format!("an observer may not call {method}"))
                .hint("connect as driver"));
        }
        Ok(entry.clone())
    }
}

fn read_params<P: DeserializeOwned>(method: &str, raw: Option<&RawValue>) -> Result<P> {
    let text = raw.map_or("{}", RawValue::get);
    if text.starts_with('[') {
        return Err(AirError::new(
            codes::RPC_INVALID_PARAMS,
            format!("{method}: params must be an object, by name"),
        ));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let what = error.inner().to_string();
        let message = if path == "." { what } else { format!("{path}: {what}") };
        AirError::new(codes::RPC_INVALID_PARAMS, format!("{method}: {message}"))
            .hint(format!("air schema shows the parameters of {method}"))
    })
}
