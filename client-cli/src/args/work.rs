//! Commands that send work, answer questions, stop and go on.

use std::path::PathBuf;

use air_contracts::permission::{ApproveMode, GrantScope};
use clap::{Args, ValueEnum};

use super::SessionOf;

/// Attach to this project's latest session, or start one
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "Leaving changes nothing: the work goes on. `air` alone does the same.")]
pub struct AttachArgs {
    /// A session: its id or s3; the latest one without it
    pub session: Option<String>,
    /// Only look
    #[arg(long)]
    pub observer: bool,
    /// Line by line, for screen readers and dumb terminals
    #[arg(long)]
    pub plain: bool,
}

/// Send a message; prints the turn id
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Exit codes (with --wait): 0 answered, and no task failed or is blocked · 1 failed · 2 usage
  3 blocked, or only an approval can advance it · 4 no daemon · 5 budget reached · 130 interrupted

Examples:
  air submit --wait \"why does stats.percentile fail? fix it\"
  git diff main | air submit --wait - --file REVIEW.md
  air submit --wait --output json --approve safe \"add a test for an empty input\"")]
pub struct SubmitArgs {
    /// The message; - reads it from stdin; without it, a terminal opens $EDITOR
    #[arg(value_name = "TEXT|-")]
    pub text: Vec<String>,
    /// Stay until the turn has ended, or only an approval can advance it
    #[arg(long)]
    pub wait: bool,
    /// A session: its id, s3, latest, or new
    #[arg(long, value_name = "ID", default_value = "latest")]
    pub session: String,
    /// A new session that is not kept in lists
    #[arg(long, conflicts_with = "session")]
    pub ephemeral: bool,
    /// How questions are treated
    #[arg(long, value_name = "MODE")]
    pub approve: Option<Approve>,
    /// With --wait: how long an open question may wait for an answer from elsewhere (30m, 2h)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub hold: Option<u64>,
    /// The model, as <provider>/<model>
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// US dollars that the turn may cost
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// A text file that goes with the message; may be repeated
    #[arg(long = "file", value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// A key of your own: the same one again is the same turn
    #[arg(long, value_name = "KEY")]
    pub client_id: Option<String>,
}

/// How questions are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Approve {
    /// Ask a person
    Ask,
    /// Never ask: what is fully sandboxed runs, the rest is denied
    Safe,
    /// Run all that is not denied
    All,
}

impl From<Approve> for ApproveMode {
    fn from(approve: Approve) -> Self {
        match approve {
            Approve::Ask => Self::Ask,
            Approve::Safe => Self::Safe,
            Approve::All => Self::All,
        }
    }
}

/// Wait until a turn has ended, or only an approval can advance it
#[derive(Debug, Clone, Args)]
#[command(after_help = "Ctrl-C stops only the waiting. Exit codes are those of `air submit --wait`.")]
pub struct WaitArgs {
    /// A turn: its id, t12, or latest
    #[arg(default_value = "latest")]
    pub turn: String,
    /// How long an open question may wait for an answer from elsewhere (30m, 2h)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub hold: Option<u64>,
}

/// Go on after an interruption or a reached budget
#[derive(Debug, Clone, Args)]
pub struct ContinueArgs {
    #[command(flatten)]
    pub of: SessionOf,
    /// What to change
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// A higher limit in US dollars
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// Stay until the turn has ended
    #[arg(long)]
    pub wait: bool,
}

/// Cancel a task with its dependants, or a turn that is queued
#[derive(Debug, Clone, Args)]
pub struct CancelArgs {
    /// A task or a queued turn: its id, k4, t12
    #[arg(value_name = "TASK")]
    pub id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Try a failed or blocked task again
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  air retry k1 --note \"interpolate over n - 1\"")]
pub struct RetryArgs {
    /// A task: its id or k4
    pub task: String,
    /// What to do differently
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Another model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Stay until the turn has ended
    #[arg(long)]
    pub wait: bool,
}

/// Allow what a question asks for
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  air approve a7 --scope session")]
pub struct ApproveArgs {
    /// A question: its id or a7
    pub id: String,
    /// How far the yes reaches; the question says what each covers
    #[arg(long, value_name = "SCOPE", default_value = "once")]
    pub scope: Scope,
}

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    Once,
    Session,
    Project,
}

impl From<Scope> for GrantScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Once => Self::Once,
            Scope::Session => Self::Session,
            Scope::Project => Self::Project,
        }
    }
}

/// Refuse what a question asks for
#[derive(Debug, Clone, Args)]
pub struct DenyArgs {
    /// A question: its id or a7
    pub id: String,
    /// Why; the agent reads it
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

/// Answer a question of an agent
#[derive(Debug, Clone, Args)]
pub struct AnswerArgs {
    /// A question: its id or a7
    pub id: String,
    /// The answer
    #[arg(required = true)]
    pub text: Vec<String>,
}

/// Milliseconds from `30m`, `2h`, `90s`.
fn duration(text: &str) -> Result<u64, String> {
    air_client_tui::text::amounts::parse_duration(text)
        .ok_or_else(|| "not a duration like 90s, 30m, 2h".to_owned())
}
