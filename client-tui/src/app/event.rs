//! What can happen, and what is to be done about it. Between them lies [`super::update`], without I/O.

use air_contracts::api::{Changes, InitializeResult, ProjectView, TurnSubmitResult};
use air_contracts::approval::ApprovalDecision;
use air_contracts::ids::{ApprovalId, ShortRef};
use air_contracts::permission::GrantScope;
use air_contracts::projection::{AgentView, EvidenceView, ItemView, ProjectionSnapshot, ToolRunView};
use air_contracts::{AirError, Result};
use serde_json::Value;

use super::overlay::DiffOf;
use super::terminal::keys::Input;
use crate::rpc::Notification;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    Input(Input),
    /// Columns and rows.
    Resize(u16, u16),
    /// A time has come that [`super::state::App::wake`] told.
    Time,
    /// Connected, and the project is open.
    Connected(Box<Connected>),
    ConnectFailed(AirError),
    /// The connection is gone. `stopped`: somebody stopped the daemon.
    Lost {
        stopped: bool,
    },
    Notified(Box<Notification>),
    Answered(Box<Reply>),
    /// `$EDITOR` was closed.
    Edited(Result<String>),
    /// The pager was closed, or there is none.
    Paged(Result<()>),
    /// The window is closed, or somebody ends this client.
    Hangup,
}

/// Who answers, and the project of the folder.
#[derive(Debug)]
pub struct Connected {
    pub server: InitializeResult,
    pub project: ProjectView,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// After so many milliseconds. `start`: the daemon is started where nobody listens.
    Connect {
        after_ms: u64,
        observer: bool,
        start: bool,
    },
    Call(Call),
    /// As the last thing before the end.
    LastCall(Call),
    /// A bell.
    Ring,
    Title(String),
    Mouse(bool),
    /// Draw everything again.
    Redraw,
    /// Stop this process, as ^Z does.
    Suspend,
    Edit(String),
    Page(String),
    Leave,
}

/// A call of the API.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Snapshot { session: Option<String> },
    Subscribe { session: String, after: u64 },
    Older { session: String, before: u64 },
    Submit { session: Option<String>, client_id: String, text: String },
    Interrupt { session: String },
    Continue { session: String, note: Option<String> },
    TakeBack { turn: ShortRef, text: String },
    DraftGet { session: String },
    DraftSet { session: String, text: String },
    UiGet { key: &'static str },
    UiSet { key: &'static str, value: Value },
    Agents { session: String },
    Run { run: ShortRef },
    Evidence { session: String, task: Option<ShortRef> },
    Changes { session: String, of: DiffOf },
    Answer { id: ApprovalId, short: ShortRef, answer: Answer },
    CancelTask { task: ShortRef },
    RetryTask { task: ShortRef },
}

/// The answer to a question, as the person gave it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub decision: Option<ApprovalDecision>,
    pub scope: Option<GrantScope>,
    pub text: Option<String>,
    pub note: Option<String>,
}

/// What a call gave.
#[derive(Debug)]
pub enum Reply {
    Snapshot(ProjectionSnapshot),
    /// The project has no session yet.
    NoSession,
    Subscribed,
    Older {
        before: u64,
        items: Vec<ItemView>,
    },
    Submitted {
        client_id: String,
        result: TurnSubmitResult,
    },
    Interrupted {
        stopped: bool,
    },
    Continued,
    TakenBack {
        text: String,
    },
    Draft {
        text: String,
    },
    Ui {
        key: &'static str,
        value: Value,
    },
    Agents(Vec<AgentView>),
    Run(ToolRunView),
    Evidence {
        task: Option<ShortRef>,
        items: Vec<EvidenceView>,
    },
    Changes {
        of: DiffOf,
        changes: Changes,
    },
    QuestionAnswered(ShortRef),
    /// Done; the change comes by itself.
    Done,
    Failed {
        call: Call,
        error: AirError,
    },
}
