//! Evidence: a claim, and the runs of the runtime that show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactRef;
use crate::ids::{EvidenceId, TaskId, ToolRunId};
use crate::path::WirePath;

/// What kind of showing it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A check ran and passed.
    CheckPassed {
        tool_run: ToolRunId,
        /// The same check before the task: its run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        baseline: Option<ToolRunId>,
    },
    /// What changed, by the runtime's own comparison of trees.
    Diff { paths: Vec<WirePath> },
    /// A reviewer's verdict.
    Review { verdict: String },
}

/// How many tests a check ran, as far as its output tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TestCounts {
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl TestCounts {
    /// Tests that ran.
    pub const fn ran(&self) -> u32 {
        self.passed + self.failed
    }
}

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    pub id: EvidenceId,
    /// The number in `e9`.
    pub n: u64,
    pub task_id: TaskId,
    /// The sentence that it shows: a criterion or a project check.
    pub claim: String,
    #[serde(flatten)]
    pub kind: EvidenceKind,
    /// The git tree id of the workspace when it was made.
    pub tree: String,
    /// The turn's count of writes at that time.
    pub write_seq: u64,
    /// The command that a person can run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// What the baseline run counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_before: Option<TestCounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
    /// Fewer tests ran than at the baseline, or the check's own definition changed.
    #[serde(default)]
    pub weaker: bool,
    /// One line for people: `exit 0, 3 of 3, before 2 of 3`.
    pub note: String,
}
