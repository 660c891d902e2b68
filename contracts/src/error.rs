//! The one error that crosses borders: kind, code, message, hints.
//!
//! `code` is what people, scripts and tests see; `kind` is its class. New codes are added here and
//! nowhere else, so that the list stays the whole list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    InvalidInput,
    NotFound,
    Conflict,
    Denied,
    Unsupported,
    Unavailable,
    Timeout,
    Cancelled,
    Limit,
    Corrupt,
    Provider,
    Tool,
    Internal,
}

/// An error as it is stored, sent and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct AirError {
    /// Its class.
    pub kind: ErrorKind,
    /// What it is, stable: `task.not_found`.
    pub code: String,
    /// One sentence that names the object.
    pub message: String,
    /// What to do next, as commands or facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Whether the same call may succeed later without a change.
    #[serde(default)]
    pub retryable: bool,
}

/// A result with the common error.
pub type Result<T, E = AirError> = std::result::Result<T, E>;

impl AirError {
    /// An error of a registered code; see [`codes`].
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let kind = codes::kind_of(code);
        let retryable = matches!(kind, ErrorKind::Unavailable | ErrorKind::Timeout);
        Self { kind, code: code.to_owned(), message: message.into(), hints: Vec::new(), retryable }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says whether the same call may succeed later.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// A fault of AirCoding itself or of the system under it.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(codes::INTERNAL, message)
    }

    /// An I/O error on a named object.
    pub fn io(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        let code = match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => codes::IO_NO_SPACE,
            std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => codes::IO_DENIED,
            std::io::ErrorKind::NotFound => codes::IO_NOT_FOUND,
            _ => codes::IO,
        };
        Self::new(code, format!("{what}: {error}"))
    }

    /// Whether this error has the given code.
    pub fn is(&self, code: &str) -> bool {
        self.code == code
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal : $kind:ident),* $(,)?) => {
        /// Every code there is, with its class.
        pub mod codes {
            use super::ErrorKind;
            $($(#[$doc])* pub const $name: &str = $code;)*

            /// All codes with their classes, in the order of their groups.
            pub const ALL: &[(&str, ErrorKind)] = &[$(($code, ErrorKind::$kind)),*];

            /// The class of a code; `Internal` for one that is not registered.
            pub fn kind_of(code: &str) -> ErrorKind {
                ALL.iter().find(|(known, _)| *known == code).map_or(ErrorKind::Internal, |(_, kind)| *kind)
            }
        }
    };
}

codes! {
    /// A fault of AirCoding itself.
    INTERNAL = "internal": Internal,
    /// Reading or writing a file failed.
    IO = "io": Internal,
    IO_NO_SPACE = "io.no_space": Limit,
    IO_DENIED = "io.denied": Denied,
    IO_NOT_FOUND = "io.not_found": NotFound,
    USAGE_VALUE = "usage.value": InvalidInput,
    USAGE_COMMAND = "usage.command": InvalidInput,
    USAGE_OPTION = "usage.option": InvalidInput,
    USAGE_MISSING = "usage.missing": InvalidInput,
    /// The person interrupted a client; the work may go on.
    CLIENT_INTERRUPTED = "client.interrupted": Cancelled,
    /// The demo lacks a program of this machine.
    DEMO_MISSING_PROGRAM = "demo.missing_program": Unsupported,
    ID_WRONG_KIND = "id.wrong_kind": InvalidInput,

    RPC_PARSE = "rpc.parse": InvalidInput,
    RPC_INVALID_REQUEST = "rpc.invalid_request": InvalidInput,
    RPC_METHOD_NOT_FOUND = "rpc.method_not_found": NotFound,
    RPC_INVALID_PARAMS = "rpc.invalid_params": InvalidInput,
    RPC_NOT_INITIALIZED = "rpc.not_initialized": InvalidInput,
    RPC_PROTOCOL_VERSION = "rpc.protocol_version": Unsupported,
    RPC_BODY_TOO_LARGE = "rpc.body_too_large": Limit,
    RPC_OVERLOADED = "rpc.overloaded": Unavailable,
    RPC_TIMEOUT = "rpc.timeout": Timeout,
    /// The peer may not call this: another user, an observer, or a command that AirCoding itself runs.
    PEER_REFUSED = "peer.refused": Denied,
    ROLE_OBSERVER = "role.observer": Denied,

    DAEMON_UNREACHABLE = "daemon.unreachable": Unavailable,
    DAEMON_STOPPING = "daemon.stopping": Unavailable,
    DAEMON_ALREADY_RUNNING = "daemon.already_running": Conflict,
    DAEMON_VERSION = "daemon.version": Unsupported,
    SOCKET_PATH_TOO_LONG = "socket.path_too_long": InvalidInput,

    CONFIG_INVALID = "config.invalid": InvalidInput,
    PERMISSIONS_INVALID = "permissions.invalid": InvalidInput,
    PROJECT_NOT_FOUND = "project.not_found": NotFound,
    PROJECT_ROOT_REFUSED = "project.root_refused": InvalidInput,
    PROJECT_INVALID = "project.invalid": InvalidInput,
    SESSION_NOT_FOUND = "session.not_found": NotFound,
    SESSION_CLOSED = "session.closed": Conflict,
    TURN_NOT_FOUND = "turn.not_found": NotFound,
    TURN_NOT_ACTIVE = "turn.not_active": Conflict,
    TURN_EMPTY = "turn.empty": InvalidInput,
    TASK_NOT_FOUND = "task.not_found": NotFound,
    TASK_TERMINAL = "task.terminal": Conflict,
    TASK_INVALID = "task.invalid": InvalidInput,
    AGENT_NOT_FOUND = "agent.not_found": NotFound,
    RUN_NOT_FOUND = "run.not_found": NotFound,
    REQUEST_NOT_FOUND = "request.not_found": NotFound,
    EVIDENCE_NOT_FOUND = "evidence.not_found": NotFound,
    ARTIFACT_NOT_FOUND = "artifact.not_found": NotFound,
    ARTIFACT_CORRUPT = "artifact.corrupt": Corrupt,
    APPROVAL_NOT_FOUND = "approval.not_found": NotFound,
    APPROVAL_ANSWERED = "approval.answered": Conflict,
    APPROVAL_WITHDRAWN = "approval.withdrawn": Conflict,
    BUDGET_REACHED = "budget.reached": Limit,

    STORE_NEWER = "store.newer": Unsupported,
    STORE_CORRUPT = "store.corrupt": Corrupt,
    STORE_FAILED = "store.failed": Unavailable,
    EVENT_INVALID = "event.invalid": InvalidInput,

    PROVIDER_NONE_CONFIGURED = "provider.none_configured": Provider,
    PROVIDER_RATE_LIMITED = "provider.rate_limited": Provider,
    PROVIDER_OVERLOADED = "provider.overloaded": Provider,
    PROVIDER_QUOTA_EXHAUSTED = "provider.quota_exhausted": Provider,
    PROVIDER_SERVER_ERROR = "provider.server_error": Provider,
    PROVIDER_AUTH = "provider.auth": Provider,
    PROVIDER_INVALID_REQUEST = "provider.invalid_request": Provider,
    PROVIDER_UNSUPPORTED_PARAMETER = "provider.unsupported_parameter": Provider,
    PROVIDER_TOOLS_UNSUPPORTED = "provider.tools_unsupported": Provider,
    /// A kind of provider that this build cannot speak to.
    PROVIDER_UNSUPPORTED = "provider.unsupported": Unsupported,
    PROVIDER_CONTEXT_TOO_LONG = "provider.context_too_long": Provider,
    PROVIDER_REQUEST_TOO_LARGE = "provider.request_too_large": Provider,
    PROVIDER_STREAM_INTERRUPTED = "provider.stream_interrupted": Provider,
    PROVIDER_MALFORMED_STREAM = "provider.malformed_stream": Provider,
    PROVIDER_NETWORK = "provider.network": Provider,
    MODEL_NOT_FOUND = "model.not_found": NotFound,

    IPC_PROTOCOL = "ipc.protocol": Internal,
    WORKER_LOST = "worker.lost": Unavailable,
    ATTEMPT_FENCED = "attempt.fenced": Conflict,

    TOOL_UNKNOWN = "unknown_tool": NotFound,
    TOOL_INVALID_INPUT = "invalid_input": InvalidInput,
    TOOL_DENIED = "denied": Denied,
    TOOL_DENIED_BY_USER = "denied_by_user": Denied,
    TOOL_TIMED_OUT = "timed_out": Timeout,
    TOOL_CANCELLED = "cancelled": Cancelled,
    TOOL_INTERRUPTED = "interrupted": Unavailable,
    TOOL_NOT_STARTED = "not_started": Cancelled,
    TOOL_NOT_ACCEPTED = "not_accepted": InvalidInput,
    TOOL_SPAWN_FAILED = "spawn_failed": Tool,

    EDIT_NOT_FOUND = "not_found": NotFound,
    EDIT_AMBIGUOUS_MATCH = "ambiguous_match": InvalidInput,
    EDIT_EMPTY_OLD_STRING = "empty_old_string": InvalidInput,
    EDIT_NO_CHANGE = "no_change": InvalidInput,
    EDIT_OVERLAPPING = "overlapping_edits": InvalidInput,
    EDIT_STALE_FILE = "stale_file": Conflict,
    EDIT_NOT_READ = "not_read": InvalidInput,
    EDIT_NO_SUCH_FILE = "no_such_file": NotFound,
    EDIT_ALREADY_EXISTS = "already_exists": Conflict,
    EDIT_IS_DIRECTORY = "is_directory": InvalidInput,
    EDIT_NOT_A_DIRECTORY = "not_a_directory": InvalidInput,
    EDIT_BINARY_FILE = "binary_file": Unsupported,
    EDIT_UNSUPPORTED_ENCODING = "unsupported_encoding": Unsupported,
    EDIT_TOO_LARGE = "too_large": Limit,
    EDIT_PERMISSION_DENIED = "permission_denied": Denied,
    EDIT_PERMISSION_REQUIRED = "permission_required": Denied,
    EDIT_PATH_ESCAPE = "path_escape": Denied,
    EDIT_PATCH_MALFORMED = "patch_malformed": InvalidInput,
    EDIT_PATCH_CONTEXT_MISMATCH = "patch_context_mismatch": Conflict,
    EDIT_UNSUPPORTED_PATCH = "unsupported_patch": Unsupported,
    EDIT_NO_SPACE = "no_space": Limit,
    READ_OFFSET_OUT_OF_RANGE = "offset_out_of_range": InvalidInput,
    SEARCH_INVALID_PATTERN = "invalid_pattern": InvalidInput,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_know_their_class() {
        let unique: std::collections::HashSet<&str> = codes::ALL.iter().map(|(code, _)| *code).collect();
        assert_eq!(unique.len(), codes::ALL.len());
        assert_eq!(AirError::new(codes::TASK_NOT_FOUND, "no task k9").kind, ErrorKind::NotFound);
        assert_eq!(codes::kind_of("no.such.code"), ErrorKind::Internal);
    }
}
