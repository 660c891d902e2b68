//! `initialize`, `daemon/*`, `doctor/run`, `config/get`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ClientRole;
use crate::ids::InstanceId;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitializeParams {
    pub client: ClientInfo,
    pub protocol_version: u32,
    #[serde(default)]
    pub role: ClientRole,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientInfo {
    /// `air attach`, `air approve`.
    pub name: String,
    pub version: String,
    /// Where it runs, for the record of answers: `pts/3`.
    #[serde(default)]
    pub place: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitializeResult {
    pub server: ServerInfo,
    pub protocol_version: u32,
    pub instance_id: InstanceId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    pub name: String,
    pub version: String,
    pub pid: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStatus {
    pub version: String,
    pub pid: u32,
    pub instance_id: InstanceId,
    pub started_at: Timestamp,
    pub socket: String,
    pub air_home: String,
    pub rss_bytes: u64,
    pub projects: u32,
    pub sessions: u32,
    pub turns_running: u32,
    pub approvals_open: u32,
    pub clients: u32,
    pub workers: u32,
    /// `on demand`, `systemd`, `foreground`.
    pub started_by: String,
    pub draining: bool,
}

/// What happens to running commands when the daemon stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandsAtStop {
    End,
    /// They go on; the next daemon adopts them.
    #[default]
    Leave,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShutdownParams {
    /// Whether model answers that are under way may end first.
    pub drain: bool,
    pub commands: CommandsAtStop,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DoctorRunParams {
    /// A folder of the project to look at.
    pub path: Option<String>,
}

/// The state of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoctorStatus {
    Ok,
    Missing,
    Broken,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    pub name: String,
    pub status: DoctorStatus,
    pub detail: String,
    /// A command that mends it.
    #[serde(default)]
    pub fix: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// Whether all that is needed works.
    pub ok: bool,
    pub checks: Vec<DoctorCheck>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConfigGetParams {
    pub path: Option<String>,
}

/// The configuration in force, secrets left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigGetResult {
    pub config: Value,
    /// Where each top-level key comes from.
    pub sources: Value,
    pub warnings: Vec<String>,
}
