//! What `.air/shared/project.json` holds, and what a scan of a project finds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of `project.json` that this build reads and writes.
pub const PROJECT_FORMAT: u32 = 1;

/// The committed description of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectFile {
    pub name: String,
    /// See [`PROJECT_FORMAT`]; a newer file is refused untouched.
    pub format: u32,
    #[serde(default)]
    pub profile: ProjectProfile,
    /// The project's own checks. `None`: detected at each scan; empty: the project has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Vec<ProjectCheck>>,
}

/// What a scan found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProjectProfile {
    /// `c++`, `rust`, most files first.
    pub languages: Vec<String>,
    /// `cmake`, `make`, `cargo`, `npm`, …
    pub build_systems: Vec<String>,
    /// Top-level folders with a word on each.
    pub layout: Vec<String>,
}

/// What a check does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    Configure,
    Build,
    Test,
    Lint,
    #[default]
    Other,
}

/// A command whose exit code 0 proves something about the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectCheck {
    /// Short, unique: `build`, `test`.
    pub name: String,
    /// The sentence that it proves: `all tests pass`.
    pub claim: String,
    /// Run by `bash -c` in the workspace root. `$AIR_BUILD_DIR` is a folder of its own outside the tree.
    pub command: String,
    #[serde(default)]
    pub kind: CheckKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Files that define it, as globs: an edit of one needs a review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defined_by: Vec<String>,
}
