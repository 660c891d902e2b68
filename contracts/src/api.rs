//! JSON-RPC 2.0 methods: names, parameters, results. One file for each resource.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::error::AirError;

mod approval;
mod artifact;
mod daemon;
mod event;
mod project;
mod projection;
mod session;
mod task;
mod turn;

pub use approval::*;
pub use artifact::*;
pub use daemon::*;
pub use event::*;
pub use project::*;
pub use projection::*;
pub use session::*;
pub use task::*;
pub use turn::*;

/// The version of this API; `initialize` refuses another one.
pub const PROTOCOL_VERSION: u32 = 1;

/// What a client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientRole {
    /// Everything.
    #[default]
    Driver,
    /// Only looks.
    Observer,
}

/// A method of the API.
pub trait Method {
    /// `turn/submit`.
    const NAME: &'static str;
    /// Whether an observer may call it: it changes nothing.
    const READ_ONLY: bool;
    type Params: Serialize + DeserializeOwned + Send + 'static;
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A call or a notification, as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcRequest {
    pub jsonrpc: String,
    /// Absent: a notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    pub method: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
}

/// An answer, as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcResponse {
    pub jsonrpc: String,
    pub id: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

/// An error of a call. `code` is JSON-RPC's; `data` is ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RpcErrorData>,
}

/// What JSON-RPC's own fields cannot say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RpcErrorData {
    pub kind: crate::ErrorKind,
    pub code: String,
    #[serde(default)]
    pub hints: Vec<String>,
    #[serde(default)]
    pub retryable: bool,
}

impl RpcError {
    /// The wire form of an error (JSON-RPC 2.0, section 5.1).
    pub fn new(error: &AirError) -> Self {
        use crate::error::codes;
        let code = match error.code.as_str() {
            codes::RPC_PARSE => -32700,
            codes::RPC_INVALID_REQUEST | codes::RPC_NOT_INITIALIZED => -32600,
            codes::RPC_METHOD_NOT_FOUND => -32601,
            codes::RPC_INVALID_PARAMS => -32602,
            codes::INTERNAL => -32603,
            _ => -32000,
        };
        let data = RpcErrorData {
            kind: error.kind,
            code: error.code.clone(),
            hints: error.hints.clone(),
            retryable: error.retryable,
        };
        Self { code, message: error.message.clone(), data: Some(data) }
    }

    /// The error that a client shows.
    pub fn to_air_error(&self) -> AirError {
        match &self.data {
            Some(data) => AirError {
                kind: data.kind,
                code: data.code.clone(),
                message: self.message.clone(),
                hints: data.hints.clone(),
                retryable: data.retryable,
            },
            None => AirError::internal(format!("{} (JSON-RPC {})", self.message, self.code)),
        }
    }
}

/// A list with its continuation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The cursor of the next page; `null` at the end.
    pub next: Option<u64>,
}

impl<T> Page<T> {
    /// A list that is whole.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}

fn rewrite<T: Serialize + DeserializeOwned>(value: Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<T>(value)?)
}

/// No parameters, or nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $wire:literal, $mode:ident, $params:ty => $result:ty;)*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Method for $name {
            const NAME: &'static str = $wire;
            const READ_ONLY: bool = methods!(@mode $mode);
            type Params = $params;
            type Result = $result;
        })*

        /// Every method: name, whether an observer may call it.
        pub const METHODS: &[(&str, bool)] = &[$(($wire, methods!(@mode $mode))),*];

        /// The JSON Schemas of parameters and result of each method.
        pub fn method_schemas(generator: &mut schemars::SchemaGenerator) -> serde_json::Map<String, Value> {
            let mut all = serde_json::Map::new();
            $(all.insert($wire.to_owned(), serde_json::json!({
                "params": generator.subschema_for::<$params>(),
                "result": generator.subschema_for::<$result>(),
            }));)*
            all
        }

        /// Parameters and result of a method, read into their types and written again; `None` for a
        /// method that there is not. What does not match is an error of serde.
        pub fn reread(method: &str, params: Value, result: Value) -> Option<serde_json::Result<(Value, Value)>> {
            match method {
                $($wire => Some(rewrite::<$params>(params).and_then(|params| Ok((params, rewrite::<$result>(result)?)))),)*
                _ => None,
            }
        }
    };
    (@mode read) => { true };
    (@mode write) => { false };
}

methods! {
    /// The first call on a WebSocket.
    Initialize = "initialize", read, InitializeParams => InitializeResult;
    DaemonStatusMethod = "daemon/status", read, Empty => DaemonStatus;
    DaemonShutdown = "daemon/shutdown", write, ShutdownParams => Empty;

    /// Opens the project of a folder, and makes `.air/` where there is none.
    ProjectOpen = "project/open", write, ProjectOpenParams => ProjectView;
    ProjectInit = "project/init", write, ProjectInitParams => ProjectInitResult;
    ProjectList = "project/list", read, Empty => Page<ProjectView>;
    ProjectClose = "project/close", write, ProjectRefParams => Empty;
    ProjectTrust = "project/trust", write, ProjectTrustParams => ProjectView;

    SessionCreate = "session/create", write, SessionCreateParams => crate::projection::SessionView;
    SessionList = "session/list", read, SessionListParams => Page<crate::projection::SessionView>;
    SessionGet = "session/get", read, SessionRefParams => crate::projection::SessionView;
    SessionConfigure = "session/configure", write, SessionConfigureParams => crate::projection::SessionView;
    SessionClose = "session/close", write, SessionRefParams => Empty;

    TurnSubmit = "turn/submit", write, TurnSubmitParams => TurnSubmitResult;
    TurnInterrupt = "turn/interrupt", write, SessionRefParams => TurnInterruptResult;
    TurnContinue = "turn/continue", write, TurnContinueParams => TurnSubmitResult;
    /// Removes a queued turn.
    TurnCancel = "turn/cancel", write, TurnRefParams => Empty;
    /// Returns when the turn has ended, nothing but an approval can advance it, or the time is up.
    TurnWait = "turn/wait", read, TurnWaitParams => TurnOutcome;
    TurnList = "turn/list", read, TurnListParams => Page<crate::projection::TurnView>;
    DraftGet = "draft/get", read, SessionRefParams => Draft;
    DraftSet = "draft/set", write, DraftSetParams => Empty;
    UiStateGet = "ui_state/get", read, UiStateGetParams => UiState;
    UiStateSet = "ui_state/set", write, UiStateSetParams => Empty;

    ProjectionSnapshotMethod = "projection/snapshot", read, SessionRefParams => crate::projection::ProjectionSnapshot;
    /// From now on `projection/changed`, `stream/delta` and `stream/resync` come on this WebSocket.
    ProjectionSubscribe = "projection/subscribe", read, SubscribeParams => SubscribeResult;
    ItemList = "item/list", read, ItemListParams => Page<crate::projection::ItemView>;
    ToolRunList = "tool_run/list", read, ToolRunListParams => Page<crate::projection::ToolRunView>;

    EventsRead = "events/read", read, EventsReadParams => EventsReadResult;
    /// From now on `events/appended` comes on this WebSocket.
    EventsFollow = "events/follow", read, EventsFollowParams => SubscribeResult;
    EventsVerify = "events/verify", read, ProjectRefParams => EventsVerifyResult;

    TaskList = "task/list", read, TaskListParams => Page<crate::projection::TaskView>;
    TaskGet = "task/get", read, TaskRefParams => crate::projection::TaskView;
    TaskCancel = "task/cancel", write, TaskCancelParams => crate::projection::TaskView;
    TaskRetry = "task/retry", write, TaskRetryParams => crate::projection::TaskView;
    AgentList = "agent/list", read, AgentListParams => Page<crate::projection::AgentView>;

    ApprovalList = "approval/list", read, ApprovalListParams => Page<crate::projection::ApprovalView>;
    ApprovalAnswerMethod = "approval/answer", write, ApprovalAnswerParams => crate::projection::ApprovalView;

    ChangesGet = "changes/get", read, ChangesGetParams => Changes;
    ArtifactRead = "artifact/read", read, ArtifactReadParams => ArtifactReadResult;
    EvidenceList = "evidence/list", read, EvidenceListParams => Page<crate::projection::EvidenceView>;
    ContextGet = "context/get", read, ContextGetParams => ContextGetResult;
    UsageGet = "usage/get", read, UsageGetParams => UsageGetResult;

    ToolList = "tool/list", read, Empty => Page<crate::tool::ToolDefinition>;
    DoctorRun = "doctor/run", read, DoctorRunParams => DoctorReport;
    ConfigGet = "config/get", read, ConfigGetParams => ConfigGetResult;
    ProviderList = "provider/list", read, Empty => Page<crate::provider::ProviderStatus>;
}
