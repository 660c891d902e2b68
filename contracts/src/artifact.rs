//! Stored bytes and references to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::ArtifactId;

/// A field above this many bytes is stored as an artifact and referred to.
pub const INLINE_LIMIT: usize = 8 * 1024;

/// A reference to stored bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRef {
    pub id: ArtifactId,
    /// SHA-256 of the bytes, 64 hexadecimal digits; its first 8 are what people see.
    pub hash: String,
    /// Length in bytes.
    pub size: u64,
    /// Media type: `text/plain`, `application/json`, …
    pub media_type: String,
    /// What it is: `output of r41`.
    pub name: String,
}

impl ArtifactRef {
    /// The 8 digits that people see.
    pub fn short(&self) -> &str {
        self.hash.get(..8).unwrap_or(&self.hash)
    }
}

/// Text that is either here or in an artifact with its beginning here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stored<T> {
    /// The value itself.
    Inline { value: T },
    /// Its JSON is in this artifact.
    Artifact { artifact: ArtifactRef },
}
