//! Answering questions while a turn is watched.

use std::collections::VecDeque;
use std::io::IsTerminal as _;

use air_client_tui::plain::{LineReader, discard_typed};
use air_client_tui::text::amounts;
use air_client_tui::text::question::{self, Choice, choice};
use air_contracts::api::ApprovalAnswerParams;
use air_contracts::approval::{ApprovalDecision, ApprovalState};
use air_contracts::ids::{ApprovalId, ProjectId};
use air_contracts::projection::ApprovalView;

use crate::output::Out;

/// What a typed line leads to.
#[derive(Debug)]
pub(super) enum Typed {
    /// Send this answer.
    Answer(Box<ApprovalAnswerParams>),
    /// Show these lines and go on asking.
    Show(Vec<String>),
    /// Nothing.
    Nothing,
}

/// The open questions of a turn, and the one that is asked now.
pub(super) struct Prompt {
    /// Whether a person can answer here.
    interactive: bool,
    waiting: VecDeque<ApprovalView>,
    current: Option<ApprovalView>,
    /// `w` was typed: the next line is the reason.
    wants_reason: bool,
    shown: Vec<ApprovalId>,
    reader: Option<LineReader>,
    out: Out,
}

impl Prompt {
    pub(super) fn new(out: &Out) -> Self {
        let interactive = !out.is_json() && out.err_tty && std::io::stdin().is_terminal();
        Self {
            interactive,
            waiting: VecDeque::new(),
            current: None,
            wants_reason: false,
            shown: Vec::new(),
            reader: None,
            out: out.clone(),
        }
    }

    pub(super) const fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Takes an approval as it is now: the lines to print for one that is new, and whether the one that
    /// was asked has gone.
    pub(super) fn take(&mut self, approval: &ApprovalView) -> (Vec<String>, bool) {
        if approval.state != ApprovalState::Open {
            self.waiting.retain(|one| one.id != approval.id);
            let was_current = self.current.as_ref().is_some_and(|one| one.id == approval.id);
            if was_current {
                self.current = None;
                self.wants_reason = false;
            }
            return (Vec::new(), was_current);
        }
        if self.shown.contains(&approval.id) {
            return (Vec::new(), false);
        }
        self.shown.push(approval.id);
        if self.interactive {
            self.waiting.push_back(approval.clone());
            return (Vec::new(), false);
        }
        (self.block(approval), false)
    }

    fn block(&self, approval: &ApprovalView) -> Vec<String> {
        question::block(approval, amounts::now(), self.out.err_pen, self.out.width())
    }

    /// The lines of the next question, where one waits and none is asked. What was typed before is gone.
    pub(super) fn next(&mut self) -> Option<Vec<String>> {
        if self.current.is_some() {
            return None;
        }
        let approval = self.waiting.pop_front()?;
        let mut lines = self.block(&approval);
        lines.push(question::menu(&approval, self.out.err_pen));
        discard_typed();
        match &mut self.reader {
            Some(reader) => reader.forget(),
            None => self.reader = Some(LineReader::start()),
        }
        self.current = Some(approval);
        Some(lines)
    }

    /// The next typed line; waits for ever where nothing is asked. `None`: stdin has ended.
    pub(super) async fn line(&mut self) -> Option<String> {
        match (&mut self.reader, &self.current) {
            (Some(reader), Some(_)) => reader.next().await,
            _ => std::future::pending().await,
        }
    }

    /// Nobody can answer here any more.
    pub(super) fn give_up(&mut self) {
        self.interactive = false;
        self.current = None;
        self.waiting.clear();
    }

    pub(super) fn typed(&mut self, project_id: ProjectId, line: &str) -> Typed {
        let Some(approval) = self.current.clone() else { return Typed::Nothing };
        let mut params = ApprovalAnswerParams {
            project_id,
            approval: approval.id.to_string(),
            decision: None,
            answer: None,
            scope: None,
            note: None,
        };
        if std::mem::take(&mut self.wants_reason) {
            params.decision = Some(ApprovalDecision::Deny);
            params.note = Some(line.trim().to_owned()).filter(|note| !note.is_empty());
            return Typed::Answer(Box::new(params));
        }
        match choice(&approval, line) {
            Some(Choice::Allow(scope)) => {
                params.decision = Some(ApprovalDecision::Allow);
                params.scope = Some(scope);
            }
            Some(Choice::Deny) => params.decision = Some(ApprovalDecision::Deny),
            Some(Choice::Answer(text)) => params.answer = Some(text),
            Some(Choice::DenyWhy) => {
                self.wants_reason = true;
                return Typed::Show(vec!["why? (Enter alone: no reason)".to_owned()]);
            }
            Some(Choice::View) => {
                return Typed::Show(vec![
                    question::whole(&approval),
                    question::menu(&approval, self.out.err_pen),
                ]);
            }
            None if line.trim().is_empty() => return Typed::Nothing,
            None => return Typed::Show(vec![question::menu(&approval, self.out.err_pen)]),
        }
        Typed::Answer(Box::new(params))
    }
}
