//! Tool runs, the newest first.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::boxed::{Boxed, Inside, first_shown, inner_height, inner_width, listed};
use crate::app::lists;
use crate::app::overlay::List;
use crate::app::row::{plain, spread};
use crate::app::state::App;
use crate::text::escape::visible_line;
use crate::text::layout::pad;
use crate::text::style::Role;
use crate::text::{amounts, lines, words};

/// Draws the list.
pub fn draw(frame: &mut Frame<'_>, app: &App, list: &List, area: Rect) {
    let runs = lists::runs(app);
    let running = runs.iter().filter(|run| run.status.is_none()).count();
    let mut boxed = Boxed {
        title: vec![Span::raw("runs")],
        right: if running > 0 { format!("{running} running") } else { String::new() },
        keys: "Enter its output  Esc back".to_owned(),
        ..Boxed::default()
    };
    if runs.is_empty() {
        boxed.row(plain(app.theme, Role::Dim, "Nothing has run yet."));
    }
    let width = inner_width(area);
    let top = first_shown(list.at, runs.len(), inner_height(area));
    for (at, run) in runs.iter().enumerate().skip(top).take(inner_height(area)) {
        let (mark, word) = words::tool_run(run);
        let took = run.duration_ms.unwrap_or_else(|| app.now.millis_since(run.started_at));
        let task = run.task.map(|task| task.to_string()).unwrap_or_default();
        let text = lines::what(run, app.theme.pen, width.saturating_sub(42));
        let head =
            format!(" {} {} {text}", pad(&run.short.to_string(), 4), pad(&visible_line(&run.tool), 10));
        let left = vec![app.theme.mark(mark), Span::raw(head)];
        let right = format!("{} {task:<4}{:>7}", pad(word, 9), amounts::run_time(took));
        let row = listed(app, at == list.at, left);
        let row = spread(app.theme, row.spans, vec![app.theme.span(Role::Dim, right)], width);
        boxed.rows.push(Inside::Row(row));
    }
    boxed.draw(frame, app, area);
}
