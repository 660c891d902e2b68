//! One tool run with its output.

use air_contracts::projection::ToolRunView;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::boxed::{Boxed, Inside, inner_height, inner_width};
use crate::app::overlay::RunPane;
use crate::app::row::{Row, plain, wrap};
use crate::app::state::App;
use crate::text::escape::{visible_block, visible_line};
use crate::text::style::Role;
use crate::text::{amounts, words};

/// Draws it.
pub fn draw(frame: &mut Frame<'_>, app: &App, pane: &RunPane, area: Rect) {
    let Some(run) = known(app, pane) else {
        let mut boxed = Boxed { title: vec![Span::raw(pane.short.to_string())], ..Boxed::default() };
        boxed.row(plain(app.theme, Role::Dim, "loading"));
        return boxed.draw(frame, app, area);
    };
    let (mark, word) = words::tool_run(run);
    let exit = run.exit_code.map_or_else(|| word.to_owned(), |code| format!("exit {code}"));
    let took = run.duration_ms.unwrap_or_else(|| app.now.millis_since(run.started_at));
    let mut boxed = Boxed {
        title: vec![Span::raw(format!("{}  {}", run.short, visible_line(&run.tool)))],
        right: format!("{} {exit}  {}", mark.symbol(app.theme.pen.ascii), amounts::run_time(took)),
        keys: "j k move  g G ends  f follow  Esc back".to_owned(),
        ..Boxed::default()
    };
    let width = inner_width(area);
    let head = head(app, run, width);
    let output = output(app, run, width);
    let room = inner_height(area).saturating_sub(head.len() + 1).max(1);
    let last = output.len().saturating_sub(room);
    let top = pane.top.unwrap_or(last).min(last);
    boxed.rows.extend(head.into_iter().map(Inside::Row));
    boxed.rule();
    boxed.rows.extend(output.into_iter().skip(top).take(room).map(Inside::Row));
    boxed.draw(frame, app, area);
}

/// With its whole output where that came, else as the conversation has it.
fn known<'a>(app: &'a App, pane: &'a RunPane) -> Option<&'a ToolRunView> {
    let shown = app.model.run(pane.short);
    match (&pane.whole, shown) {
        // It ended since it was asked for.
        (Some(whole), Some(shown)) if whole.status.is_none() && shown.status.is_some() => Some(shown),
        (Some(whole), _) => Some(whole),
        (None, shown) => shown,
    }
}

/// The last row that can be at the top.
pub fn last_top(app: &App, pane: &RunPane) -> usize {
    let area = app.areas().over;
    let Some(run) = known(app, pane) else { return 0 };
    let width = inner_width(area);
    let room = inner_height(area).saturating_sub(head(app, run, width).len() + 1).max(1);
    output(app, run, width).len().saturating_sub(room)
}

/// Rows of the command.
const COMMAND: usize = 4;

fn head(app: &App, run: &ToolRunView, width: usize) -> Vec<Row> {
    let mut rows: Vec<Row> =
        wrap(&visible_block(&run.title), width).into_iter().take(COMMAND).map(Line::from).collect();
    let mut parts = Vec::new();
    parts.extend(run.agent.map(|agent| format!("started by {agent}")));
    parts.extend(run.task.map(|task| format!("for {task}")));
    parts.push(format!("at {}", amounts::time_of_day(run.started_at, &app.zone)));
    parts.extend(run.written.iter().map(|path| format!("wrote {}", visible_line(&path.display()))));
    parts.extend(
        run.artifacts
            .iter()
            .map(|artifact| format!("air artifact {}, {}", artifact.short(), amounts::bytes(artifact.size))),
    );
    if !run.reconciled.is_empty() {
        parts.push(visible_line(&run.reconciled));
    }
    rows.extend(
        wrap(&parts.join(app.theme.dot()), width).into_iter().map(|line| plain(app.theme, Role::Dim, line)),
    );
    if let Some(error) = &run.error {
        let lines = wrap(&visible_block(&error.message), width);
        rows.extend(lines.into_iter().take(COMMAND).map(|line| plain(app.theme, Role::Bad, line)));
    }
    rows
}

fn output(app: &App, run: &ToolRunView, width: usize) -> Vec<Row> {
    let live = app.model.outputs.get(&run.id).map(String::as_str).filter(|_| run.status.is_none());
    let text = visible_block(live.unwrap_or(&run.content).trim_end());
    if text.is_empty() {
        return Vec::new();
    }
    wrap(&text, width).into_iter().map(Line::from).collect()
}
