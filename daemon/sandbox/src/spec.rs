//! What a run is asked to do, and what is recorded about it.

use std::path::PathBuf;

use air_contracts::Timestamp;
use air_contracts::ids::ToolRunId;
use air_contracts::permission::SandboxPolicy;
use serde::{Deserialize, Serialize};

/// Bytes of output that are kept from the start, and as many from the end: 32 MiB.
pub const DEFAULT_OUTPUT_CAP: u64 = 32 * 1024 * 1024;

/// One command, as its launcher gets it (`spec.json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSpec {
    pub run_id: ToolRunId,
    /// The text for `bash -c`.
    pub command: String,
    /// Where it starts, absolute.
    #[serde(with = "wire_path")]
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// The limit in milliseconds from the start, measured by the launcher; 0 is no limit.
    pub timeout_ms: u64,
    /// Whether the run goes on after the shell has ended, until every descendant has.
    pub background: bool,
    #[serde(with = "wire_policy")]
    pub policy: SandboxPolicy,
    /// Bytes of output kept from the start.
    pub head_cap: u64,
    /// Bytes of output kept from the end.
    pub tail_cap: u64,
}

/// How a run ended (`exit.json`). Written once, by the launcher, by rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub run_id: ToolRunId,
    /// Exit status of the shell; absent when a signal ended it or nothing was started.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell.
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub cancelled: bool,
    /// Descendants that outlived the shell of a foreground run and were ended.
    pub survivors: u32,
    /// True size of the output, kept or not.
    pub output_bytes: u64,
    /// From the start to the end of the last descendant, on the monotonic clock.
    pub wall_ms: u64,
    /// Why nothing was started.
    pub spawn_error: Option<String>,
    /// What kept the output from being stored in full within its caps (a full disk).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_error: Option<String>,
    pub sandbox: SandboxReport,
    pub finished_at: Timestamp,
}

/// How far writing is held to the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesystemLimit {
    /// Not at all.
    #[default]
    None,
    /// By an older Landlock, which lets some kinds of change through.
    Partial,
    /// By Landlock in full.
    Full,
}

/// How far the network is held to the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkLimit {
    /// The policy allows the network.
    #[default]
    Open,
    /// Own network namespace: only its loopback can be reached.
    Namespace,
    /// The policy forbids the network, and nothing enforces that.
    NotEnforced,
}

/// What the kernel really enforced for a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SandboxReport {
    /// Landlock ABI of the kernel, 0 where there is none.
    pub landlock_abi: u32,
    pub filesystem: FilesystemLimit,
    pub network: NetworkLimit,
    pub user_namespace: bool,
    /// Whether an own mount namespace hides credentials and sockets and protects git's and AirCoding's
    /// own files inside the project.
    pub masked: bool,
    pub seccomp: bool,
    /// What is weaker than the policy, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaknesses: Vec<String>,
}

impl SandboxReport {
    /// Whether everything that the policy asks for is enforced.
    pub fn is_full(&self) -> bool {
        self.filesystem == FilesystemLimit::Full && self.network != NetworkLimit::NotEnforced && self.masked
    }
}

/// Which process a launcher is, safe against reuse of its pid (`launcher.json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LauncherId {
    pub pid: u32,
    /// Start time in clock ticks since boot: field 22 of `/proc/PID/stat`, proc(5).
    pub start_time: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: String,
}

/// What is known about a run from its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// No launcher has taken the folder.
    NotStarted,
    /// Its launcher holds the lock.
    Running(LauncherId),
    /// It ended, and this is how.
    Finished(ExitRecord),
    /// Its launcher is gone and left no record: the outcome is unknown.
    Vanished,
}

/// Paths without loss in JSON.
mod wire_path {
    use std::path::{Path, PathBuf};

    use air_contracts::path::WirePath;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        WirePath::new(path).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        WirePath::deserialize(deserializer).map(|path| path.to_path())
    }
}

/// The policy with paths that survive: its own form refuses what is not UTF-8.
mod wire_policy {
    use air_contracts::path::WirePath;
    use air_contracts::permission::SandboxPolicy;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Wire {
        writable: Vec<WirePath>,
        network: bool,
        required: bool,
    }

    pub fn serialize<S: Serializer>(policy: &SandboxPolicy, serializer: S) -> Result<S::Ok, S::Error> {
        let writable = policy.writable.iter().map(|path| WirePath::new(path)).collect();
        Wire { writable, network: policy.network, required: policy.required }.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SandboxPolicy, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let writable = wire.writable.iter().map(WirePath::to_path).collect();
        Ok(SandboxPolicy { writable, network: wire.network, required: wire.required })
    }
}
