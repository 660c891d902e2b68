//! The task graph of the newest turn: waves, states, what is proved; below, the marked task.

use air_contracts::projection::TaskView;
use air_contracts::task::CriterionOutcome;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::boxed::{Boxed, Inside, first_shown, inner_height, inner_width, listed};
use crate::app::lists;
use crate::app::model::Model;
use crate::app::overlay::{Confirm, List};
use crate::app::row::{Row, plain, spread, wrap};
use crate::app::state::App;
use crate::text::escape::visible_line;
use crate::text::layout::{cut, pad};
use crate::text::style::Role;
use crate::text::{amounts, words};

/// Rows about the marked task, at most.
const DETAIL: usize = 9;

/// Draws the list.
pub fn draw(frame: &mut Frame<'_>, app: &App, list: &List, area: Rect) {
    let tasks = lists::tasks(app);
    let mut boxed = Boxed { title: title(app, &tasks), right: summary(app, &tasks), ..Boxed::default() };
    boxed.keys = match list.confirm {
        Some(Confirm::CancelTask(task)) => format!("cancel {task}? y does it, any other key does not"),
        None if app.observer => "Enter evidence  d its diff  Esc back".to_owned(),
        None => "Enter evidence  d its diff  X cancel  r retry  Esc back".to_owned(),
    };
    if tasks.is_empty() {
        boxed.row(plain(app.theme, Role::Dim, "No tasks yet."));
        return boxed.draw(frame, app, area);
    }
    let (width, height) = (inner_width(area), inner_height(area));
    let marked = tasks.get(list.at.min(tasks.len() - 1));
    let mut detail = marked.map(|task| self::detail(app, task, width)).unwrap_or_default();
    let mut rows = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        let first = at == 0 || tasks.get(at - 1).is_none_or(|before| before.wave != task.wave);
        rows.push(row(app, task, first, at == list.at, width));
    }
    detail.truncate(DETAIL.min(height.saturating_sub(3)));
    let room = height.saturating_sub(detail.len() + 1).max(1);
    let top = first_shown(list.at, rows.len(), room);
    let shown: Vec<Row> = rows.into_iter().skip(top).take(room).collect();
    boxed.rows.extend(shown.into_iter().map(Inside::Row));
    boxed.rule();
    boxed.rows.extend(detail.into_iter().map(Inside::Row));
    boxed.draw(frame, app, area);
}

fn title(app: &App, tasks: &[&TaskView]) -> Vec<Span<'static>> {
    let turn = tasks.first().and_then(|task| app.model.turns.values().find(|turn| turn.id == task.turn_id));
    let mut text = "tasks".to_owned();
    if let Some(session) = &app.model.session {
        text.push_str(&format!("  {} {}", session.short, visible_line(&session.title)));
    }
    if let Some(turn) = turn {
        text.push_str(&format!("{}{}", app.theme.dot(), turn.short));
    }
    vec![Span::raw(text)]
}

fn summary(app: &App, tasks: &[&TaskView]) -> String {
    let done = tasks.iter().filter(|task| task.status == air_contracts::task::TaskStatus::Completed).count();
    let cost = app.model.session.as_ref().map_or(0.0, |session| session.cost_usd);
    format!("{done} of {} done  {}", tasks.len(), amounts::cost(cost))
}

fn row(app: &App, task: &TaskView, first: bool, marked: bool, width: usize) -> Row {
    let (mark, word) = words::task_status(task.status);
    let wave = if first { format!("wave {}", task.wave) } else { String::new() };
    let by = app.model.worker_of(task.short).map(|worker| worker.to_string()).unwrap_or_default();
    let evidence: Vec<String> = app.model.evidence_of(task.short).iter().map(ToString::to_string).collect();
    let right = format!("{} {} {}", pad(word, 10), pad(&by, 3), evidence.join(" "));
    let title_room = width.saturating_sub(36).max(8);
    let left = vec![
        Span::raw(pad(&wave, 8)),
        app.theme.mark(mark),
        Span::raw(format!(
            " {} {}",
            pad(&task.short.to_string(), 3),
            cut(&visible_line(&task.title), title_room, app.theme.ellipsis())
        )),
    ];
    let row = listed(app, marked, left);
    let room = width.saturating_sub(24);
    let used = row.width().max(room);
    let head = spread(app.theme, row.spans, Vec::new(), used);
    let gap = room.saturating_sub(head.width());
    let mut spans = head.spans;
    spans.push(Span::raw(" ".repeat(gap + 1)));
    spans.push(Span::raw(right));
    Line::from(crate::app::row::cut_spans(app.theme, spans, width))
}

/// What is proved, what stops it, what it changed.
fn detail(app: &App, task: &TaskView, width: usize) -> Vec<Row> {
    let dot = app.theme.dot();
    let (proved, of) = Model::proved(task);
    let mut parts = vec![task.short.to_string()];
    parts.extend(task.attempts.last().map(|attempt| format!("attempt {}", attempt.n)));
    parts.push(format!("proved {proved} of {of}"));
    parts.push(amounts::clock(task.updated_at.max(app.now).millis_since(task.created_at)));
    let after: Vec<String> = task.after.iter().map(ToString::to_string).collect();
    if !after.is_empty() {
        parts.push(format!("after {}", after.join(" ")));
    }
    let mut rows = vec![Line::from(parts.join(dot))];
    rows.extend(task.criteria.iter().map(|criterion| self::criterion(app, criterion, width)));
    if let Some(blocker) = &task.blocker {
        rows.extend(labelled(app, "stops it", &visible_line(&blocker.summary), width));
        rows.extend(
            blocker.options.iter().flat_map(|option| labelled(app, "next", &visible_line(option), width)),
        );
    } else if !task.reason.is_empty() {
        rows.extend(labelled(app, "why", &visible_line(&task.reason), width));
    }
    let files: Vec<String> = task.changed_files.iter().map(|path| visible_line(&path.display())).collect();
    if !files.is_empty() {
        rows.extend(labelled(app, "changed", &files.join(dot), width));
    }
    rows
}

fn criterion(app: &App, criterion: &CriterionOutcome, width: usize) -> Row {
    let (mark, word) = words::criterion_state(criterion.state);
    let note = if criterion.note.is_empty() {
        word.to_owned()
    } else {
        format!("{word}: {}", visible_line(&criterion.note))
    };
    let left = vec![app.theme.mark(mark), Span::raw(format!(" {}", visible_line(&criterion.text)))];
    let note = cut(&note, width / 2, app.theme.ellipsis());
    spread(app.theme, left, vec![app.theme.span(Role::Dim, note)], width)
}

fn labelled(app: &App, label: &str, text: &str, width: usize) -> Vec<Row> {
    let lines = wrap(text, width.saturating_sub(10));
    let row = |(at, line): (usize, String)| {
        let head = if at == 0 { label } else { "" };
        Line::from(vec![app.theme.span(Role::Dim, format!("{head:<10}")), Span::raw(line)])
    };
    lines.into_iter().enumerate().map(row).collect()
}
