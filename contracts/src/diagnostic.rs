//! Parsed messages of compilers, linkers, tests and analysers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::DiagnosticId;
use crate::path::WirePath;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Note,
    Warning,
    Error,
    Fatal,
}

/// A parsed message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    pub id: DiagnosticId,
    /// Which program said it: `gcc`, `ctest`.
    pub tool: String,
    pub severity: Severity,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<WirePath>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The kind of failure, equal across runs and compilers.
    pub signature: String,
    /// This failure in this project, equal across runs.
    pub instance: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
