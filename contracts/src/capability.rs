//! What a capability declares about itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A capability: a named group of tools with what they need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityManifestV1 {
    /// `core-filesystem`, `toolchain-cpp`.
    pub id: String,
    pub version: String,
    /// Canonical tool names.
    pub tools: Vec<String>,
    /// Programs that must be found for it to work.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Effects that its tools may have, for people.
    #[serde(default)]
    pub permissions: Vec<String>,
}

/// A capability and whether it works here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityStatus {
    pub manifest: CapabilityManifestV1,
    pub enabled: bool,
    /// Why it is off, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
