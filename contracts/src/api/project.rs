//! `project/*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::ProjectId;
use crate::project::{ProjectCheck, ProjectProfile};

/// A folder, as an absolute path; the project is the one that it lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectOpenParams {
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectInitParams {
    pub path: String,
    /// Re-creates missing parts.
    #[serde(default)]
    pub force: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectInitResult {
    pub project: ProjectView,
    /// Relative to the root.
    pub created: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRefParams {
    pub project_id: ProjectId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectTrustParams {
    pub project_id: ProjectId,
    pub trusted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectView {
    pub id: ProjectId,
    pub name: String,
    pub root: String,
    pub trusted: bool,
    pub profile: ProjectProfile,
    pub verify: Vec<ProjectCheck>,
    /// Whether this call made `.air/`.
    pub created: bool,
    pub rules: Vec<String>,
    pub warnings: Vec<String>,
}
