//! What the machine under the daemon can do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts that the doctor shows and the sandbox needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Platform {
    /// `linux` or `macos`.
    pub os: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// The kernel's own release text.
    pub kernel: String,
    /// Landlock ABI version, 0 where there is none.
    pub landlock_abi: u32,
    /// Whether unprivileged user namespaces can be made.
    pub user_namespaces: bool,
    /// `git --version` as three numbers, where git was found.
    pub git: Option<[u32; 3]>,
}
