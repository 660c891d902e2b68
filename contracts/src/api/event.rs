//! `events/*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::RuntimeEvent;
use crate::ids::ProjectId;

/// The notification that carries [`EventsAppended`].
pub const EVENTS_APPENDED: &str = "events/appended";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsReadParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub after_seq: u64,
    /// At most 1,000.
    #[serde(default)]
    pub limit: Option<u32>,
    /// Only these types; all where empty.
    #[serde(default)]
    pub types: Vec<String>,
    #[serde(default)]
    pub session: Option<String>,
    /// Milliseconds to wait for the first event, at most 30,000.
    #[serde(default)]
    pub wait_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsReadResult {
    pub events: Vec<RuntimeEvent>,
    /// The newest `seq` that was looked at: the next `after_seq`.
    pub seq: u64,
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsFollowParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub after_seq: u64,
    #[serde(default)]
    pub session: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsAppended {
    pub events: Vec<RuntimeEvent>,
}

/// The log, replayed into an empty database and compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsVerifyResult {
    pub equal: bool,
    pub events: u64,
    /// Tables with the number of rows that were compared.
    pub tables: Vec<TableVerdict>,
    /// Gaps in `seq`, payloads that match no schema.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableVerdict {
    pub table: String,
    pub rows: u64,
    pub equal: bool,
    /// The first difference, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}
