//! What lies over the conversation, and where one is in it.

use air_contracts::Timestamp;
use air_contracts::ids::{ApprovalId, ShortRef};
use air_contracts::projection::{EvidenceView, ToolRunView};

use super::diff::Diff;
use super::editor::Editor;

/// How long keys are ignored after a question got the focus, in milliseconds.
pub const GUARD_MS: i64 = 300;

/// One overlay.
#[derive(Debug)]
pub enum Overlay {
    Help(List),
    Tasks(List),
    Workers(List),
    Questions(List),
    Question(Box<QuestionPane>),
    Runs(List),
    Run(Box<RunPane>),
    Evidence(EvidencePane),
    Diff(Box<DiffPane>),
}

/// A marked row of a list, or how far something is scrolled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct List {
    pub at: usize,
    /// A question of ours: `y` does it, anything else does not.
    pub confirm: Option<Confirm>,
}

/// What is asked before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirm {
    CancelTask(ShortRef),
}

/// A question to the person.
#[derive(Debug)]
pub struct QuestionPane {
    pub id: ApprovalId,
    pub short: ShortRef,
    /// Keys before this are not for it.
    pub guard: Timestamp,
    /// The choice that was marked by hand.
    pub marked: Option<usize>,
    /// Everything about it is shown (`v`).
    pub whole: bool,
    pub top: usize,
    /// A reason, or an answer, that is being typed.
    pub typing: Option<Editor>,
    /// Whether the answer is on its way.
    pub sent: bool,
}

impl QuestionPane {
    /// Nothing is marked, and keys on their way are not taken.
    pub fn new(id: ApprovalId, short: ShortRef, now: Timestamp) -> Self {
        let mut pane =
            Self { id, short, guard: now, marked: None, whole: false, top: 0, typing: None, sent: false };
        pane.focus(now);
        pane
    }

    /// It got the focus.
    pub fn focus(&mut self, now: Timestamp) {
        self.guard = Timestamp::from_millis(now.as_millis() + GUARD_MS);
    }
}

/// One tool run with its output.
#[derive(Debug)]
pub struct RunPane {
    pub short: ShortRef,
    /// With its whole output, when it came.
    pub whole: Option<ToolRunView>,
    /// The first row on the screen; `None`: the end is followed.
    pub top: Option<usize>,
}

/// Evidence of a task, or of the session.
#[derive(Debug, Default)]
pub struct EvidencePane {
    pub task: Option<ShortRef>,
    /// `None` until it came.
    pub items: Option<Vec<EvidenceView>>,
    pub list: List,
}

/// What changed.
#[derive(Debug)]
pub struct DiffPane {
    pub of: DiffOf,
    /// `None` until it came.
    pub diff: Option<Diff>,
    /// The first row on the screen.
    pub top: usize,
}

/// Whose changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffOf {
    Session,
    Turn(ShortRef),
    Task(ShortRef),
}

impl Overlay {
    /// The list that Up and Down move in, where it is one.
    pub const fn list(&mut self) -> Option<&mut List> {
        match self {
            Self::Help(list)
            | Self::Tasks(list)
            | Self::Workers(list)
            | Self::Questions(list)
            | Self::Runs(list) => Some(list),
            Self::Evidence(pane) => Some(&mut pane.list),
            Self::Question(_) | Self::Run(_) | Self::Diff(_) => None,
        }
    }
}
