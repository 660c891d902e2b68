//! One line for each thing that settled: a tool run, a task, an answer to a question.

use air_contracts::Timestamp;
use air_contracts::projection::{ApprovalView, ItemBody, ItemView, TaskView, ToolRunView};
use air_contracts::task::{CriterionState, TaskStatus};

use super::amounts::{clock, run_time, stamp};
use super::escape::visible_line;
use super::layout::{cells, cut, pad, spread, wrap};
use super::style::{Mark, Pen, Role};
use super::words;

/// Where the lines go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    /// A terminal: marks, columns, durations at the right.
    Terminal { pen: Pen, width: usize },
    /// A dumb terminal or a screen reader: whole lines in plain words, no times.
    Spoken,
    /// A file or a pipe: whole lines that begin with the time.
    Stamped,
}

/// The lines of an item that has settled; `None` for one that runs still, or that is no step of the work
/// (messages, questions, the end of a turn).
pub fn settled(item: &ItemView, style: LineStyle) -> Option<Vec<String>> {
    match &item.body {
        ItemBody::ToolRun { run } => run.status.map(|_| run_lines(run, style)),
        ItemBody::Evidence { evidence } => match style {
            // The final block shows it with its criterion.
            LineStyle::Terminal { .. } => None,
            _ => {
                let text = format!(
                    "{} evidence {} {}",
                    evidence.short,
                    evidence.kind,
                    visible_line(&evidence.criterion)
                );
                Some(vec![plain(style, evidence.recorded_at, &text)])
            }
        },
        ItemBody::Notice { text } => Some(notice(text, item.at, style)),
        ItemBody::UserMessage { .. }
        | ItemBody::AssistantMessage { .. }
        | ItemBody::Approval { .. }
        | ItemBody::TurnEnded { .. } => None,
    }
}

/// A line of the runtime.
pub fn notice(text: &str, at: Timestamp, style: LineStyle) -> Vec<String> {
    let text = visible_line(text);
    match style {
        LineStyle::Terminal { pen, .. } => vec![pen.paint(Role::Dim, &text)],
        _ => vec![plain(style, at, &text)],
    }
}

/// What a run did, with its object: its summary, behind its title where that says no more than how it ended.
///
/// `room`: cells for all of it; the title gives way.
pub(crate) fn what(run: &ToolRunView, pen: Pen, room: usize) -> String {
    let (title, summary) = (visible_line(&run.title), visible_line(&run.summary));
    let named = title.split(' ').next().is_none_or(|word| summary.contains(word));
    match (summary.is_empty(), named) {
        (true, _) => title,
        (false, true) => summary,
        (false, false) => {
            let left = room.saturating_sub(cells(&summary) + cells(pen.dot())).max(16);
            format!("{}{}{summary}", cut(&title, left, pen.ellipsis()), pen.dot())
        }
    }
}

fn run_lines(run: &ToolRunView, style: LineStyle) -> Vec<String> {
    let (mark, word) = words::tool_run(run);
    let LineStyle::Terminal { pen, width } = style else {
        let at = Timestamp::from_millis(
            run.started_at.as_millis() + i64::try_from(run.duration_ms.unwrap_or(0)).unwrap_or(0),
        );
        return vec![plain(
            style,
            at,
            &format!("{} {} {word} {}", run.short, run.tool, what(run, Pen::default(), usize::MAX)),
        )];
    };
    let took = run.duration_ms.map(run_time).unwrap_or_default();
    // Mark, reference, tool and duration take the rest.
    let what = what(run, pen, width.saturating_sub(28));
    let mut lines = vec![columns(mark, &run.short.to_string(), &run.tool, &what, &took, pen, width)];
    if let Some(error) = &run.error {
        let message = visible_line(&error.message);
        if !message.is_empty() && !what.contains(&message) {
            lines.extend(wrap(&message, width.saturating_sub(6)).iter().map(|line| format!("      {line}")));
        }
    }
    lines
}

/// A run that has not ended, for the live part of a terminal. `detail`: its newest output line.
pub fn running(run: &ToolRunView, detail: Option<&str>, now: Timestamp, pen: Pen, width: usize) -> String {
    let text = detail.map_or_else(|| visible_line(&run.title), visible_line);
    let took = run_time(now.millis_since(run.started_at));
    columns(Mark::Running, &run.short.to_string(), &run.tool, &text, &took, pen, width)
}

/// A task that has not settled, for the live part of a terminal.
pub fn live_task(task: &TaskView, cost_usd: Option<f64>, now: Timestamp, pen: Pen, width: usize) -> String {
    let (mark, word) = words::task_status(task.status);
    let mut right: Vec<String> = Vec::new();
    match task.attempts.last() {
        Some(attempt) if task.status == TaskStatus::Running => right.push(format!("attempt {}", attempt.n)),
        _ => right.push(word.to_owned()),
    }
    right.push(clock(now.millis_since(task.created_at)));
    right.extend(cost_usd.map(super::amounts::cost));
    let left = format!("{} {}", pad(&task.short.to_string(), 3), visible_line(&task.title));
    let line = spread(&left, &right.join(pen.dot()), width.saturating_sub(2), pen.ellipsis());
    format!("{} {line}", pen.mark(mark))
}

/// The end of a task.
pub fn settled_task(task: &TaskView, style: LineStyle) -> Vec<String> {
    let (mark, word) = words::task_status(task.status);
    let proved = task.criteria.iter().filter(|one| one.state == CriterionState::Proved).count();
    let title = visible_line(&task.title);
    let LineStyle::Terminal { pen, width } = style else {
        let why =
            if task.reason.is_empty() { String::new() } else { format!(": {}", visible_line(&task.reason)) };
        return vec![plain(style, task.updated_at, &format!("{} task {word} {title}{why}", task.short))];
    };
    let (text, right) = match task.status {
        TaskStatus::Completed => (title, format!("proved {proved} of {}", task.criteria.len())),
        _ if task.reason.is_empty() => (format!("{word}: {title}"), String::new()),
        _ => (format!("{word}: {}", visible_line(&task.reason)), String::new()),
    };
    let left = format!("{} {text}", pad(&task.short.to_string(), 3));
    vec![format!("{} {}", pen.mark(mark), spread(&left, &right, width.saturating_sub(2), pen.ellipsis()))]
}

/// A further attempt at a task; `None` for the first one.
pub fn attempt(task: &TaskView, style: LineStyle) -> Option<Vec<String>> {
    let last = task.attempts.last().filter(|attempt| attempt.n > 1)?;
    let note = task.attempts.iter().rev().nth(1).map(|before| visible_line(&before.note)).unwrap_or_default();
    let LineStyle::Terminal { pen, width } = style else {
        let note = if note.is_empty() { note } else { format!(": {note}") };
        return Some(vec![plain(
            style,
            task.updated_at,
            &format!("{} attempt {}{note}", task.short, last.n),
        )]);
    };
    let note = if note.is_empty() { note } else { format!("{}{note}", pen.dot()) };
    let text = format!("{} attempt {}{note}", pad(&task.short.to_string(), 3), last.n);
    Some(vec![format!("{} {}", pen.mark(Mark::Running), cut(&text, width.saturating_sub(2), pen.ellipsis()))])
}

/// `✓ a7 allowed once, by air attach on pts/3 · 0:41`; `None` while it is open.
pub fn answered(approval: &ApprovalView, style: LineStyle) -> Option<Vec<String>> {
    let answer = approval.answer.as_ref()?;
    let said = words::answer(answer);
    let waited = clock(answer.at.millis_since(approval.asked_at));
    let by = visible_line(&answer.by);
    let LineStyle::Terminal { pen, .. } = style else {
        return Some(vec![plain(style, answer.at, &format!("{} {said}, by {by}", approval.short))]);
    };
    let mark = if said == "denied" { Mark::Failed } else { Mark::Done };
    Some(vec![format!("{} {} {said}, by {by}{}{waited}", pen.mark(mark), approval.short, pen.dot())])
}

fn columns(mark: Mark, short: &str, tool: &str, text: &str, right: &str, pen: Pen, width: usize) -> String {
    let left = format!("{} {}  {text}", pad(short, 3), pad(tool, 10));
    format!("{} {}", pen.mark(mark), spread(&left, right, width.saturating_sub(2), pen.ellipsis()))
}

/// A whole line without columns.
pub fn plain(style: LineStyle, at: Timestamp, text: &str) -> String {
    if style == LineStyle::Stamped { format!("{} {text}", stamp(at)) } else { text.to_owned() }
}
