//! What goes on now, at most four rows: open questions, tasks that run, messages that wait.

use air_contracts::ids::ShortRef;
use air_contracts::projection::TaskView;
use air_contracts::task::TaskStatus;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::put;
use crate::app::model::Model;
use crate::app::row::{Row, spread};
use crate::app::state::App;
use crate::text::escape::visible_line;
use crate::text::style::{Mark, Role};
use crate::text::{amounts, question, words};

const ROWS: usize = 4;
const NARROW: usize = 60;

/// Draws the rows at the bottom of their area.
pub fn draw(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let rows = rows(app, usize::from(area.width));
    let space = usize::from(area.height).saturating_sub(rows.len());
    for (index, row) in rows.iter().enumerate() {
        put(frame, area, u16::try_from(space + index).unwrap_or(0), row);
    }
}

/// The rows; the most urgent first.
pub fn rows(app: &App, width: usize) -> Vec<Row> {
    let mut rows = questions(app, width);
    let waiting = waiting(app, width);
    let room = ROWS.saturating_sub(rows.len() + waiting.len().min(1));
    let tasks: Vec<&TaskView> = app.model.running_tasks().collect();
    let more = tasks.len().saturating_sub(room);
    rows.extend(
        tasks
            .iter()
            .take(if more > 0 { room.saturating_sub(1) } else { room })
            .map(|task| self::task(app, task, width)),
    );
    if more > 0 {
        let text = format!("   and {} more tasks{}^X t", more + 1, app.theme.dot());
        rows.push(line(app, vec![app.theme.span(Role::Dim, text)], String::new(), width));
    }
    let room = ROWS.saturating_sub(rows.len());
    rows.extend(waiting.into_iter().take(room));
    rows
}

fn line(app: &App, left: Vec<Span<'static>>, right: String, width: usize) -> Row {
    spread(app.theme, left, vec![app.theme.span(Role::Dim, right)], width.saturating_sub(1))
}

fn questions(app: &App, width: usize) -> Vec<Row> {
    let shown = app.open_question();
    let mut open = app.model.approvals.values().filter(|one| Some(one.short) != shown);
    let Some(first) = open.next() else { return Vec::new() };
    let more = open.count();
    let waited = amounts::clock(app.now.millis_since(first.asked_at));
    let right = match (more, width < NARROW) {
        (_, true) => "^X a".to_owned(),
        (0, false) => format!("{waited}  ^X a answers"),
        (more, false) => format!("{waited}  and {more} more  ^X a answers"),
    };
    let left = vec![
        Span::raw(" "),
        app.theme.mark(Mark::Waiting),
        Span::raw(format!(" {} {}", first.short, question::one_line(first))),
    ];
    vec![line(app, left, right, width)]
}

fn task(app: &App, task: &TaskView, width: usize) -> Row {
    let (mark, word) = words::task_status(task.status);
    let (proved, of) = Model::proved(task);
    let left = vec![
        Span::raw(" "),
        app.theme.mark(mark),
        Span::raw(format!(" {} {}", task.short, visible_line(&task.title))),
    ];
    if width < NARROW {
        return line(app, left, format!("proved {proved}/{of}"), width);
    }
    let mut parts = Vec::new();
    match (task.status, task.attempts.last()) {
        (TaskStatus::Running, Some(attempt)) => parts.push(format!("attempt {}", attempt.n)),
        _ => parts.push(word.to_owned()),
    }
    parts.extend(app.model.worker_of(task.short).map(|worker: ShortRef| worker.to_string()));
    parts.push(format!("proved {proved} of {of}"));
    line(app, left, parts.join(app.theme.dot()), width)
}

/// Messages that are queued, and those that the daemon does not have yet.
fn waiting(app: &App, width: usize) -> Vec<Row> {
    let running = app.model.running_turn().is_some();
    let queued = app
        .model
        .queued()
        .filter(|_| running)
        .map(|turn| (format!("{} after this turn", turn.short), &turn.text));
    let word = if app.is_up() { "sending" } else { "kept" };
    let unsent = app.outbox.iter().map(|unsent| (word.to_owned(), &unsent.text));
    let row = |(word, text): (String, &String)| {
        let left = vec![
            Span::raw(" "),
            app.theme.mark(Mark::Pending),
            app.theme.span(Role::Dim, format!(" {word}: {}", visible_line(text))),
        ];
        line(app, left, String::new(), width)
    };
    queued.chain(unsent).map(row).collect()
}
