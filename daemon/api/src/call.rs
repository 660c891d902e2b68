//! One call, from its text to the text of its answer.

use std::sync::Arc;
use std::time::Duration;

use air_contracts::api::{ClientInfo, ClientRole, InitializeParams};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use air_rt::OnCancel;
use futures_util::future::join_all;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::caller::{Caller, Peer};
use crate::connection::Connection;
use crate::counters::Counters;
use crate::rpc::{self, Call, Incoming, Parsed};
use crate::server::{INITIALIZE, Shared};

/// Where calls come from.
#[derive(Clone)]
pub(crate) struct Origin {
    pub role: ClientRole,
    pub peer: Peer,
    pub client: Option<Arc<ClientInfo>>,
    pub connection: Option<Arc<Connection>>,
    /// Time for one call; calls of a WebSocket have none.
    pub limit: Option<Duration>,
}

/// The answer to one text.
pub(crate) struct Answered {
    /// `None` where only notifications came.
    pub text: Option<String>,
    replied: Vec<Arc<Notify>>,
}

impl Answered {
    /// An answer that no stream waits for.
    pub fn plain(text: String) -> Self {
        Self { text: Some(text), replied: Vec::new() }
    }

    /// Lets the streams begin that these calls started.
    pub fn sent(&self) {
        for replied in &self.replied {
            replied.notify_one();
        }
    }
}

/// Makes all calls of a text, side by side.
pub(crate) async fn answer(shared: Arc<Shared>, origin: Origin, incoming: Incoming) -> Answered {
    match incoming {
        Incoming::One(parsed) => {
            let (text, replied) = one(&shared, &origin, parsed).await;
            Answered { text, replied: vec![replied] }
        }
        Incoming::Batch(all) => {
            let answers = join_all(all.into_iter().map(|parsed| one(&shared, &origin, parsed))).await;
            let (texts, replied): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
            let texts: Vec<String> = texts.into_iter().flatten().collect();
            Answered { text: (!texts.is_empty()).then(|| rpc::batch(&texts)), replied }
        }
    }
}

async fn one(shared: &Arc<Shared>, origin: &Origin, parsed: Parsed) -> (Option<String>, Arc<Notify>) {
    let replied = Arc::new(Notify::new());
    let (id, result) = match parsed {
        Err((id, error)) => (Some(id), Err(error)),
        Ok(call) => {
            let (id, result) = (call.id.clone(), make(shared, origin, call, &replied).await);
            (id.map(Some), result)
        }
    };
    Counters::add(&shared.counters.calls);
    if result.is_err() {
        Counters::add(&shared.counters.errors);
    }
    (id.map(|id| rpc::answer(id.as_deref(), &result)), replied)
}

async fn make(
    shared: &Arc<Shared>,
    origin: &Origin,
    call: Call,
    replied: &Arc<Notify>,
) -> Result<Box<RawValue>> {
    if call.method == INITIALIZE && origin.connection.is_none() {
        return initialize(shared, call.params.as_deref()).map(|(_, answer)| answer);
    }
    let entry = shared.router.find(&call.method, origin.role)?;
    let caller = Caller {
        role: origin.role,
        peer: origin.peer,
        client: origin.client.clone(),
        request_id: shared.next_request(),
        connection: origin.connection.clone(),
        replied: Arc::clone(replied),
    };
    let request_id = caller.request_id;
    tracing::debug!(method = entry.name, request_id, caller = %caller.name(), "call");
    // A call that changes something is carried to its end, also when nobody waits for the answer any more.
    let on_cancel = if entry.read_only { OnCancel::Abort } else { OnCancel::Finish };
    let task = shared.calls.spawn(entry.name, on_cancel, entry.call(caller, call.params));
    let _end = entry.read_only.then(|| EndOnDrop(task.abort_handle()));
    let ended = match origin.limit {
        None => task.await,
        Some(limit) => match tokio::time::timeout(limit, task).await {
            Ok(ended) => ended,
            Err(_) => return Err(too_long(entry.name, limit)),
        },
    };
    match ended {
        Ok(Some(result)) => {
            if let Err(error) = &result {
                tracing::debug!(method = entry.name, request_id, code = error.code, %error, "call failed");
            }
            result
        }
        Ok(None) => Err(AirError::new(codes::DAEMON_STOPPING, format!("aird stops; {} was cut", entry.name))),
        Err(panic) => {
            tracing::error!(method = entry.name, request_id, %panic, "a handler panicked");
            Err(AirError::internal(format!("{} failed inside aird", entry.name))
                .hint("air daemon logs shows why"))
        }
    }
}

fn too_long(method: &str, limit: Duration) -> AirError {
    AirError::new(codes::RPC_TIMEOUT, format!("{method} took longer than {} s", limit.as_secs()))
        .hint("a WebSocket has no such limit; long waits take a timeout_ms of 30000 at most and are repeated")
}

/// Reads the parameters of `initialize` and answers it.
pub(crate) fn initialize(
    shared: &Shared,
    params: Option<&RawValue>,
) -> Result<(InitializeParams, Box<RawValue>)> {
    let text = params.map_or("{}", RawValue::get);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let params: InitializeParams = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| AirError::new(codes::RPC_INVALID_PARAMS, format!("{INITIALIZE}: {error}")))?;
    let result = shared.initialize(&params)?;
    let raw =
        serde_json::value::to_raw_value(&result).map_err(|error| AirError::internal(error.to_string()))?;
    Ok((params, raw))
}

struct EndOnDrop(AbortHandle);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
