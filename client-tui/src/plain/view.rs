//! What line mode has shown and shows next.

use std::collections::{BTreeMap, HashSet};
use std::io::{IsTerminal as _, Write as _};

use air_contracts::AirError;
use air_contracts::api::ProjectionChanged;
use air_contracts::approval::ApprovalState;
use air_contracts::ids::{ApprovalId, ShortRef, TaskId};
use air_contracts::projection::{
    ApprovalView, ItemBody, ItemView, ProjectionChange, ProjectionSnapshot, SessionView, TaskView,
};

use crate::attach::AttachOptions;
use crate::text::escape::{visible_block, visible_line};
use crate::text::lines::{self, LineStyle};
use crate::text::style::Pen;
use crate::text::{amounts, question, words};

/// Lines are not wrapped by us: a screen reader reads whole sentences.
const WIDTH: usize = 200;

/// Prints to stdout, each thing once.
pub(super) struct PlainView {
    pen: Pen,
    project: String,
    observer: bool,
    seq: u64,
    shown: HashSet<u64>,
    asked: HashSet<ApprovalId>,
    ended: HashSet<TaskId>,
    open: BTreeMap<ShortRef, ApprovalView>,
    tasks: BTreeMap<ShortRef, TaskView>,
    session: Option<SessionView>,
    /// A denial that waits for its reason.
    reason_for: Option<ApprovalView>,
    gone: bool,
}

impl PlainView {
    pub(super) fn new(options: &AttachOptions, project: &str) -> Self {
        Self {
            pen: Pen { colour: options.colour, ascii: options.ascii },
            project: visible_line(project),
            observer: options.observer,
            seq: 0,
            shown: HashSet::new(),
            asked: HashSet::new(),
            ended: HashSet::new(),
            open: BTreeMap::new(),
            tasks: BTreeMap::new(),
            session: None,
            reason_for: None,
            gone: false,
        }
    }

    /// The newest `seq` that was shown.
    pub(super) const fn seq(&self) -> u64 {
        self.seq
    }

    pub(super) const fn reader_is_gone(&self) -> bool {
        self.gone
    }

    pub(super) fn line(&mut self, text: &str) {
        let mut out = std::io::stdout().lock();
        self.gone |= writeln!(out, "{text}").and_then(|()| out.flush()).is_err();
    }

    pub(super) fn error(&mut self, error: &AirError) {
        self.line(&format!("error: {} ({})", error.message, error.code));
        for hint in &error.hints {
            self.line(&format!("  hint  {}", hint.replace('\t', "  ")));
        }
    }

    pub(super) fn help(&mut self) {
        let text = if self.observer {
            "You watch; nothing you type changes the work. /quit leaves."
        } else {
            "Type a message and Enter. /stop /continue /approvals /tasks /help; /quit leaves, the work goes on."
        };
        self.line(text);
    }

    pub(super) fn left(&mut self) {
        let Some(session) = self.session.clone() else { return };
        let (_, state) = words::session_state(session.state);
        self.line(&format!("left {}: {state}{}air attach", session.short, self.pen.dot()));
    }

    pub(super) fn snapshot(&mut self, snapshot: &ProjectionSnapshot, after: Option<u64>) {
        if after.is_none() {
            let (_, state) = words::session_state(snapshot.session.state);
            let (short, title) = (snapshot.session.short, visible_line(&snapshot.session.title));
            let line = format!("{}{}{short} {title}{}{state}", self.project, self.pen.dot(), self.pen.dot());
            self.line(&line);
            for task in &snapshot.tasks {
                if task.status.is_settled() {
                    self.ended.insert(task.id);
                }
            }
        }
        self.session = Some(snapshot.session.clone());
        self.tasks.extend(snapshot.tasks.iter().map(|task| (task.short, task.clone())));
        let last_turn = snapshot.turns.iter().max_by_key(|turn| turn.short).map(|turn| turn.id);
        for item in &snapshot.items {
            let wanted = match after {
                Some(after) => item.seq > after || !self.shown.contains(&item.seq),
                None => Some(item.turn_id) == last_turn,
            };
            if wanted {
                self.item(item);
            } else {
                self.shown.insert(item.seq);
            }
        }
        for approval in &snapshot.approvals {
            self.approval(approval);
        }
        self.seq = self.seq.max(snapshot.seq);
    }

    pub(super) fn changed(&mut self, changed: &ProjectionChanged) {
        for change in &changed.changes {
            match change {
                ProjectionChange::Session { session } => self.session = Some((**session).clone()),
                ProjectionChange::Item { item } => self.item(item),
                ProjectionChange::Task { task } => self.task(task),
                ProjectionChange::Approval { approval } => self.approval(approval),
                ProjectionChange::Turn { .. }
                | ProjectionChange::Agent { .. }
                | ProjectionChange::Hud { .. } => {}
            }
        }
        self.seq = self.seq.max(changed.seq);
    }

    fn item(&mut self, item: &ItemView) {
        if self.shown.contains(&item.seq) {
            return;
        }
        let text = match &item.body {
            ItemBody::UserMessage { text, .. } => Some(format!("you: {}", visible_block(text))),
            ItemBody::AssistantMessage { text, .. } if text.trim().is_empty() => None,
            ItemBody::AssistantMessage { text, .. } => Some(visible_block(text.trim_end())),
            ItemBody::TurnEnded { status, answer } => {
                let (_, word) = words::turn_status(*status);
                let answer = visible_block(answer.trim_end());
                let bell = self.bell();
                Some(if answer.is_empty() {
                    format!("turn {word}{bell}")
                } else {
                    format!("{answer}\nturn {word}{bell}")
                })
            }
            _ => lines::settled(item, LineStyle::Spoken).map(|lines| lines.join("\n")),
        };
        if let Some(text) = text {
            self.shown.insert(item.seq);
            self.line(&text);
        }
    }

    fn task(&mut self, task: &TaskView) {
        self.tasks.insert(task.short, task.clone());
        if !task.status.is_settled() {
            self.ended.remove(&task.id);
        } else if self.ended.insert(task.id) {
            self.line(&lines::settled_task(task, LineStyle::Spoken).join("\n"));
        }
    }

    fn approval(&mut self, approval: &ApprovalView) {
        if approval.state == ApprovalState::Open {
            self.open.insert(approval.short, approval.clone());
            if self.asked.insert(approval.id) {
                self.ask(approval);
            }
            return;
        }
        let was_open = self.open.remove(&approval.short).is_some();
        if was_open && self.reason_for.as_ref().is_some_and(|one| one.id == approval.id) {
            self.reason_for = None;
        }
        match lines::answered(approval, LineStyle::Spoken) {
            Some(lines) if was_open => self.line(&lines.join("\n")),
            None if was_open => self.line(&format!("{} is withdrawn", approval.short)),
            _ => {}
        }
    }

    fn ask(&mut self, approval: &ApprovalView) {
        super::discard_typed();
        let block = question::block(approval, amounts::now(), Pen { colour: false, ..self.pen }, WIDTH);
        let block: Vec<String> = block.iter().map(|line| collapse(line)).collect();
        let bell = self.bell();
        self.line(&format!("{}{bell}", block.join("\n")));
        if !self.observer {
            self.line(&question::menu(approval, self.pen));
        }
    }

    pub(super) fn repeat_questions(&mut self) {
        let open: Vec<ApprovalView> = self.open.values().cloned().collect();
        if open.is_empty() {
            self.line("no question is open");
        }
        for approval in &open {
            self.ask(approval);
        }
    }

    pub(super) fn tasks(&mut self) {
        let lines: Vec<String> = self
            .tasks
            .values()
            .map(|task| {
                format!("{} {}: {}", task.short, words::task_status(task.status).1, visible_line(&task.title))
            })
            .collect();
        self.line(&if lines.is_empty() { "no task yet".to_owned() } else { lines.join("\n") });
    }

    pub(super) fn oldest_question(&self) -> Option<ApprovalView> {
        self.open.values().next().cloned()
    }

    pub(super) fn ask_reason(&mut self, approval: ApprovalView) {
        self.line("why? (Enter alone: no reason)");
        self.reason_for = Some(approval);
    }

    pub(super) fn take_reason(&mut self) -> Option<ApprovalView> {
        self.reason_for.take()
    }

    fn bell(&self) -> &'static str {
        if std::io::stdout().is_terminal() { "\u{7}" } else { "" }
    }
}

/// Runs of spaces are columns; read aloud they are noise.
fn collapse(line: &str) -> String {
    line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}
