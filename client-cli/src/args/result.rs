//! Commands that look: lists, the log, results.

use clap::{Args, Subcommand};

use super::SessionOf;

/// List the sessions of this project
#[derive(Debug, Clone, Args)]
pub struct SessionsArgs {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: u32,
}

/// One session.
#[derive(Debug, Clone, Subcommand)]
pub enum SessionCommand {
    /// Give a session a title
    Rename {
        /// A session: its id, s3, or latest
        id: String,
        /// The title
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// End the processes of a session; it can be resumed
    Close {
        /// A session: its id, s3, or latest
        id: String,
    },
}

/// List the tasks of a session
#[derive(Debug, Clone, Args)]
pub struct TasksArgs {
    #[command(flatten)]
    pub of: SessionOf,
    /// Only of this turn
    #[arg(long, value_name = "ID")]
    pub turn: Option<String>,
    /// Waves, dependencies and evidence of the newest turn
    #[arg(long)]
    pub graph: bool,
}

/// List the agents that run
#[derive(Debug, Clone, Args)]
pub struct AgentsArgs {
    /// Only of this session: its id, s3, or latest
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Ended ones, too
    #[arg(long)]
    pub all: bool,
}

/// List the questions that wait for an answer
#[derive(Debug, Clone, Args)]
pub struct ApprovalsArgs {
    /// Only of this session: its id, s3, or latest
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Answered and withdrawn ones, too
    #[arg(long)]
    pub all: bool,
}

/// Show the event log of this project
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  air log --type tool.completed --output jsonl")]
pub struct LogArgs {
    /// Only of this session: its id, s3, or latest
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Go on with new events; Ctrl-C ends it
    #[arg(short, long)]
    pub follow: bool,
    /// Only events behind this number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub after: u64,
    /// Only this type; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<String>,
    /// Only the last so many
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "follow")]
    pub tail: Option<usize>,
}

/// The log as a whole.
#[derive(Debug, Clone, Subcommand)]
pub enum EventsCommand {
    /// Replay the log into an empty database and compare
    Verify,
}

/// Show tokens and cost
#[derive(Debug, Clone, Args)]
pub struct UsageArgs {
    #[command(flatten)]
    pub of: SessionOf,
}

/// Show what a request to a model held, and why
#[derive(Debug, Clone, Args)]
pub struct ContextArgs {
    /// A request: its id or c88; the list of requests without it
    pub request: Option<String>,
    #[command(flatten)]
    pub of: SessionOf,
    /// The request itself, as it was sent
    #[arg(long)]
    pub body: bool,
}

/// Show what changed
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Not on a terminal the output is a patch:
  air diff | git apply -R")]
pub struct DiffArgs {
    /// Only below these paths
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub of: SessionOf,
    /// What this turn changed
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub turn: Option<String>,
    /// What this task changed
    #[arg(long, value_name = "ID", conflicts_with_all = ["session", "turn"])]
    pub task: Option<String>,
    /// Only names and counts
    #[arg(long)]
    pub stat: bool,
}

/// Show what was proved, by which runs
#[derive(Debug, Clone, Args)]
pub struct EvidenceArgs {
    /// A task: its id or k4; all of the session without it
    pub task: Option<String>,
    #[command(flatten)]
    pub of: SessionOf,
}

/// Print stored bytes
#[derive(Debug, Clone, Args)]
pub struct ArtifactArgs {
    /// An id, or at least 6 digits of the hash
    pub id: String,
}
