//! One item as rows.

use air_contracts::Timestamp;
use air_contracts::approval::ApprovalState;
use air_contracts::ids::ShortRef;
use air_contracts::projection::{ApprovalView, EvidenceView, ItemBody, ItemView};
use ratatui::text::{Line, Span};

use super::{Setting, run};
use crate::app::model::LiveText;
use crate::app::row::{Row, plain, spread, wrap};
use crate::text::escape::{visible_block, visible_line};
use crate::text::outcome::proof;
use crate::text::style::{Mark, Role};
use crate::text::{amounts, words};

/// Prose is never wider.
const PROSE: usize = 100;

/// Whether it looks different as time goes on.
pub(super) fn is_moving(item: &ItemView) -> bool {
    match &item.body {
        ItemBody::ToolRun { run } => run.status.is_none(),
        _ => false,
    }
}

pub(super) fn rows(item: &ItemView, open: bool, at: Setting<'_>) -> Vec<Row> {
    match &item.body {
        // Shown under the conversation until it begins.
        ItemBody::UserMessage { .. } if at.model.is_unsaid(item.turn_id) => Vec::new(),
        ItemBody::UserMessage { text, .. } => user(text, item.at, at),
        ItemBody::AssistantMessage { text, thinking, .. } => {
            let mut rows = thought(thinking, open, at);
            rows.extend(prose(text, item.task, at));
            rows
        }
        ItemBody::ToolRun { run } => run::rows(run, open, at),
        // An open one stands under the conversation.
        ItemBody::Approval { approval } if approval.state == ApprovalState::Open => Vec::new(),
        ItemBody::Approval { approval } => self::question(approval, at),
        ItemBody::Evidence { evidence } => vec![self::evidence(evidence, at)],
        ItemBody::TurnEnded { status, answer } => {
            let mut rows = if answer.trim().is_empty() { Vec::new() } else { prose(answer, None, at) };
            if !rows.is_empty() {
                rows.push(Row::default());
            }
            let (mark, word) = words::turn_status(*status);
            let turn = at.model.turns.values().find(|turn| turn.id == item.turn_id);
            let name = turn.map_or_else(|| "turn".to_owned(), |turn| turn.short.to_string());
            let took = turn.map(|turn| amounts::total_time(item.at.millis_since(turn.submitted_at)));
            let left = vec![
                Span::raw(" "),
                at.theme.mark(mark),
                at.theme.span(Role::Dim, format!(" {name} {word}")),
            ];
            rows.push(row(left, at.theme.span(Role::Dim, took.unwrap_or_default()), at));
            let error = turn.and_then(|turn| turn.error.as_ref());
            if let Some(error) = error {
                rows.extend(failure(&error.message, &error.hints, at));
            }
            rows
        }
        ItemBody::Notice { text } => {
            let lines = wrap(&visible_line(text), text_width(at));
            lines.into_iter().map(|line| plain(at.theme, Role::Dim, format!(" {line}"))).collect()
        }
    }
}

/// A message that is being written.
pub(super) fn live(text: &LiveText, at: Setting<'_>) -> Vec<Row> {
    let task = text.task.and_then(|task| at.model.task_ref(task));
    let mut rows = Vec::new();
    if !at.model.items.is_empty() || at.model.live.first() != Some(text) {
        rows.push(Row::default());
    }
    if text.text.is_empty() {
        let last = text.thinking.trim_end().lines().next_back().unwrap_or("");
        let head = task.map(|task| format!("{task} ")).unwrap_or_default();
        let line = format!(" {head}thinking{}{}", at.theme.dot(), visible_line(last));
        rows.push(row(vec![at.theme.span(Role::Dim, line)], Span::raw(""), at));
        return rows;
    }
    rows.extend(prose(&text.text, task, at));
    if let Some(last) = rows.last_mut() {
        last.spans.push(at.theme.span(Role::Run, at.theme.writing()));
    }
    rows
}

/// `left`, and `right` at the margin.
pub(super) fn row(left: Vec<Span<'static>>, right: Span<'static>, at: Setting<'_>) -> Row {
    spread(at.theme, left, vec![right], at.width.saturating_sub(1))
}

fn text_width(at: Setting<'_>) -> usize {
    at.width.saturating_sub(4).clamp(1, PROSE)
}

fn user(text: &str, time: Timestamp, at: Setting<'_>) -> Vec<Row> {
    const HEAD: &str = " you  ";
    let text = if text.trim().is_empty() { "(continue)" } else { text.trim_end() };
    let clock = local_time(time, at);
    let room = at.width.saturating_sub(HEAD.len() + clock.len() + 3).clamp(8, PROSE);
    let mut rows = Vec::new();
    for line in wrap(&visible_block(text), room) {
        if rows.is_empty() {
            let left = vec![at.theme.span(Role::Run, HEAD), Span::raw(line)];
            rows.push(row(left, at.theme.span(Role::Dim, clock.clone()), at));
        } else {
            rows.push(Line::from(format!("      {line}")));
        }
    }
    rows
}

/// The time of day, without seconds.
fn local_time(time: Timestamp, at: Setting<'_>) -> String {
    amounts::time_of_day(time, at.zone).chars().take(5).collect()
}

/// Text of a model. That of a worker begins with its task.
fn prose(text: &str, task: Option<ShortRef>, at: Setting<'_>) -> Vec<Row> {
    let head = task.map(|task| format!("{task}  ")).unwrap_or_default();
    let text = visible_block(text.trim_end());
    let lines = wrap(&format!("{head}{text}"), text_width(at));
    let mut rows = Vec::with_capacity(lines.len());
    for line in lines {
        match line.strip_prefix(&head).filter(|_| rows.is_empty() && !head.is_empty()) {
            Some(rest) => rows.push(Line::from(vec![
                Span::raw(" "),
                at.theme.span(Role::Dim, head.clone()),
                Span::raw(rest.to_owned()),
            ])),
            None => rows.push(Line::from(format!(" {line}"))),
        }
    }
    rows
}

/// Thinking is one line, unless it is unfolded.
fn thought(text: &str, open: bool, at: Setting<'_>) -> Vec<Row> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let head = format!(" {} thought", at.theme.fold(open));
    if !open {
        let line = format!("{head}{}{}", at.theme.dot(), visible_line(text));
        return vec![row(vec![at.theme.span(Role::Dim, line)], Span::raw(""), at)];
    }
    let lines = wrap(&visible_block(text), text_width(at).saturating_sub(2));
    let body = lines.into_iter().map(|line| plain(at.theme, Role::Dim, format!("   {line}")));
    std::iter::once(plain(at.theme, Role::Dim, head)).chain(body).collect()
}

fn question(approval: &ApprovalView, at: Setting<'_>) -> Vec<Row> {
    let short = approval.short.to_string();
    let (mark, text, right) = match &approval.answer {
        Some(answer) => {
            let said = words::answer(answer);
            let mark = if said == "denied" { Mark::Failed } else { Mark::Done };
            let waited = amounts::clock(answer.at.millis_since(approval.asked_at));
            (mark, format!("{said}, by {}", visible_line(&answer.by)), waited)
        }
        None => (Mark::Cancelled, "withdrawn".to_owned(), String::new()),
    };
    let left = vec![Span::raw(" "), at.theme.mark(mark), Span::raw(format!(" {short:<3} {text}"))];
    vec![row(left, at.theme.span(Role::Dim, right), at)]
}

/// Evidence is the one thing that says `proved`.
fn evidence(evidence: &EvidenceView, at: Setting<'_>) -> Row {
    let mark = if evidence.stale { Mark::Stale } else { Mark::Done };
    let word = if evidence.stale { "stale" } else { "proved" };
    let text = format!(
        " {:<3} {} {word}: {}",
        evidence.short.to_string(),
        evidence.task,
        visible_line(&evidence.criterion)
    );
    let note = if evidence.note.is_empty() { proof(evidence) } else { visible_line(&evidence.note) };
    row(vec![Span::raw(" "), at.theme.mark(mark), Span::raw(text)], at.theme.span(Role::Dim, note), at)
}

fn failure(message: &str, hints: &[String], at: Setting<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = wrap(&visible_block(message), text_width(at).saturating_sub(2))
        .into_iter()
        .map(|line| plain(at.theme, Role::Bad, format!("   {line}")))
        .collect();
    for hint in hints {
        let line = format!("   hint  {}", visible_line(hint));
        rows.push(row(vec![at.theme.span(Role::Dim, line)], Span::raw(""), at));
    }
    rows
}
