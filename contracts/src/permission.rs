//! What a call does, how risky that is, and what is decided about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The class of a command or a path operation, least risky first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Reads project files or harmless system facts.
    Safe,
    /// Writes inside the project in a way that version control or a rebuild can undo.
    ProjectWrite,
    /// Cannot be analysed, or runs code chosen elsewhere.
    Unknown,
    /// Contacts or listens; installs packages; runs downloaded text.
    Network,
    /// Loses work that is not trivially restored.
    Destructive,
    /// Writes outside the project, root, services, start-up files, hooks.
    SystemSensitive,
    /// Reads or prints secrets.
    Credential,
}

/// What is done with a call, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run silently.
    Allow,
    /// Run at once and show it.
    Announce,
    /// Wait for a yes.
    Ask,
    /// Refuse without a prompt.
    Deny,
}

/// How questions are treated in a session or for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApproveMode {
    /// The table of decisions as it is.
    #[default]
    Ask,
    /// Never asks: a fully sandboxed unknown runs, whatever else would ask is denied.
    Safe,
    /// Whatever would ask runs; what is denied stays denied.
    All,
}

/// One thing that a call does to the world.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    pub kind: EffectKind,
    /// A path, a host, a command, a variable: what it acts on.
    pub target: String,
}

/// The kinds of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    Read,
    Write,
    Delete,
    Chmod,
    Network,
    Exec,
    Env,
    Signal,
    Vcs,
    Build,
    Unknown,
}

/// How far an answer reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// This call, byte for byte.
    Once,
    /// Calls with the same key until the session ends.
    Session,
    /// Calls with the same key in this project, kept in `grants.yaml`.
    Project,
}

/// A scope that a question offers, with exactly what it covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeOffer {
    pub scope: GrantScope,
    /// For people: what a yes of this scope covers.
    pub covers: String,
    /// For the engine: the key under which the grant is kept and looked up.
    pub key: String,
}

/// The decision about one call, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDecision {
    pub decision: Decision,
    pub level: RiskLevel,
    /// One sentence: which rule decided.
    pub reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// What a yes may cover; empty where nothing is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<ScopeOffer>,
    /// The grant that turned a question into a yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_by: Option<String>,
}

/// What the kernel holds a command to. The same object drives analysis and sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxPolicy {
    /// Trees that may be written, absolute.
    pub writable: Vec<std::path::PathBuf>,
    /// Whether the network is reachable.
    pub network: bool,
    /// Whether a kernel that cannot enforce this is an error, or only reported.
    pub required: bool,
}
