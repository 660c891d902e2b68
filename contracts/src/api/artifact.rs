//! `changes/get`, `artifact/read`, `context/get`, `usage/get`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactRef;
use crate::ids::ProjectId;
use crate::projection::{ContextView, RequestView, UsageRow};
use crate::workspace::FileChange;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesGetParams {
    pub project_id: ProjectId,
    /// What the whole session changed, where neither turn nor task is given.
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub turn: Option<String>,
    #[serde(default)]
    pub task: Option<String>,
    /// Only below these paths.
    #[serde(default)]
    pub paths: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// The tree before, the tree after.
    pub from: String,
    pub to: String,
    pub files: Vec<FileChange>,
    /// A git patch that `git apply` takes; whole.
    pub patch: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReadParams {
    pub project_id: ProjectId,
    /// An id, or at least 6 hexadecimal digits of the hash.
    pub artifact: String,
    #[serde(default)]
    pub offset: u64,
    /// Bytes, at most 1 MiB.
    #[serde(default)]
    pub limit: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReadResult {
    pub artifact: ArtifactRef,
    pub offset: u64,
    /// Standard base64.
    pub data_b64: String,
    /// The offset of the next part; `null` at the end.
    pub next: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextGetParams {
    pub project_id: ProjectId,
    /// Id or short reference; absent: the list of a session's requests.
    #[serde(default)]
    pub request: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextGetResult {
    /// The newest first, at most 100.
    pub requests: Vec<RequestView>,
    pub context: Option<ContextView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageGetParams {
    pub project_id: ProjectId,
    #[serde(default)]
    pub session: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageGetResult {
    pub session: Option<crate::ids::ShortRef>,
    pub total: UsageRow,
    pub by: Vec<UsageRow>,
    pub limit_usd: Option<f64>,
}
