//! The format of `permissions.yaml`.

use air_contracts::permission::Decision;
use serde::{Deserialize, Serialize};

/// A permissions file. Unknown fields are an error: a misspelt rule must not be silently ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionsFile {
    /// Version of the format; only 1 is known.
    pub version: Option<u32>,
    pub commands: Vec<CommandRule>,
    pub paths: Vec<PathRule>,
    pub network: Vec<HostRule>,
}

/// A rule for commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRule {
    /// The first words of a command: `git push`, `docker`.
    #[serde(rename = "match")]
    pub pattern: String,
    pub decision: Decision,
}

/// A rule for paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathRule {
    /// A pattern as of `.gitignore`: absolute, or matched at any depth.
    #[serde(rename = "match")]
    pub pattern: String,
    /// `read`, `write`, `delete`; every one where absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<RuleOp>,
    pub decision: Decision,
}

/// An operation that a rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOp {
    Read,
    Write,
    Delete,
}

/// A rule for hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRule {
    /// A host name, or `*.example.com` for every one below.
    pub host: String,
    pub decision: Decision,
}
