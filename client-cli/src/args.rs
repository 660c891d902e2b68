//! The command line, as clap reads it.

mod result;
mod setup;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use result::*;
pub use setup::*;
pub use work::*;

/// AirCoding runs coding agents on your machine. They go on when you leave.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "air",
    version,
    override_help = crate::help::ROOT,
    override_usage = "air [COMMAND] [OPTIONS]",
    disable_help_subcommand = false,
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Work in this folder, as if air had been started there
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// How data is printed
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", hide_possible_values = false)]
    pub output: Format,
    /// When to use colour; NO_COLOR and CLICOLOR_FORCE count with auto
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// No progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Ids, and what happens behind
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people; may change between versions
    #[default]
    Text,
    /// One object; only grows
    Json,
    /// One object a line
    Jsonl,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// Which session a command is about.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionOf {
    /// A session: its id, s3, or latest
    #[arg(long, value_name = "ID", default_value = "latest")]
    pub session: String,
}

/// What to do.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    Attach(AttachArgs),
    Submit(Box<SubmitArgs>),
    Wait(WaitArgs),
    /// Stop the turn that runs; what was stopped can be continued
    Interrupt(SessionOf),
    Continue(ContinueArgs),
    Cancel(CancelArgs),
    Retry(RetryArgs),
    Approve(ApproveArgs),
    Deny(DenyArgs),
    Answer(AnswerArgs),

    Sessions(SessionsArgs),
    /// Rename or close a session
    #[command(subcommand)]
    Session(SessionCommand),
    Tasks(TasksArgs),
    Agents(AgentsArgs),
    Approvals(ApprovalsArgs),
    Log(LogArgs),
    Usage(UsageArgs),
    Context(ContextArgs),

    Diff(DiffArgs),
    Evidence(EvidenceArgs),
    Artifact(ArtifactArgs),

    Init(InitArgs),
    Trust(TrustArgs),
    /// Check what AirCoding needs on this machine and in this project
    Doctor,
    /// Show providers and models
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// Show the configuration in force, and where each part comes from
    Config,
    /// Start, stop and look at the daemon
    #[command(subcommand)]
    Daemon(DaemonCommand),

    Demo(DemoArgs),

    /// Look at the event log
    #[command(subcommand)]
    Events(EventsCommand),
    Rpc(RpcArgs),
    /// Print the JSON Schema of events, methods, worker messages and errors
    Schema,
    /// Print the command reference as Markdown
    #[command(hide = true)]
    HelpMarkdown,
}

impl Command {
    /// The name by which this client shows up in answers and in the log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Attach(_) => "air attach",
            Self::Submit(_) => "air submit",
            Self::Approve(_) => "air approve",
            Self::Deny(_) => "air deny",
            Self::Answer(_) => "air answer",
            Self::Rpc(_) => "air rpc",
            Self::Demo(_) => "air demo",
            _ => "air",
        }
    }
}
