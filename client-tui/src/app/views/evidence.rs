//! Evidence: which sentence, what showed it, and whether it still holds.

use air_contracts::projection::EvidenceView;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::boxed::{Boxed, Inside, first_shown, inner_height, inner_width, listed};
use crate::app::overlay::EvidencePane;
use crate::app::row::{Row, plain, spread, wrap};
use crate::app::state::App;
use crate::text::escape::visible_line;
use crate::text::outcome::{proof, short_tree};
use crate::text::style::{Mark, Role};

/// Draws the list, with the marked one below.
pub fn draw(frame: &mut Frame<'_>, app: &App, pane: &EvidencePane, area: Rect) {
    let mut boxed =
        Boxed { title: title(app, pane), keys: "Enter its run  Esc back".to_owned(), ..Boxed::default() };
    let Some(items) = &pane.items else {
        boxed.row(plain(app.theme, Role::Dim, "loading"));
        return boxed.draw(frame, app, area);
    };
    let fresh = items.iter().filter(|one| !one.stale).count();
    boxed.right = format!("{fresh} of {} fresh", items.len());
    if items.is_empty() {
        boxed.row(plain(app.theme, Role::Dim, "Nothing is proved yet."));
        return boxed.draw(frame, app, area);
    }
    let (width, height) = (inner_width(area), inner_height(area));
    let marked = items.get(pane.list.at.min(items.len() - 1));
    let detail = marked.map(|one| self::detail(app, one, width)).unwrap_or_default();
    let room = height.saturating_sub(detail.len() + 1).max(1);
    let top = first_shown(pane.list.at, items.len(), room);
    for (at, one) in items.iter().enumerate().skip(top).take(room) {
        boxed.rows.push(Inside::Row(row(app, one, at == pane.list.at, pane.task.is_none(), width)));
    }
    boxed.rule();
    boxed.rows.extend(detail.into_iter().map(Inside::Row));
    boxed.draw(frame, app, area);
}

fn title(app: &App, pane: &EvidencePane) -> Vec<Span<'static>> {
    let text = match pane.task {
        Some(task) => {
            let title = app.model.tasks.get(&task).map(|task| visible_line(&task.title)).unwrap_or_default();
            format!("evidence  {task} {title}")
        }
        None => {
            let session = app.model.session.as_ref().map(|session| format!("  {}", session.short));
            format!("evidence{}", session.unwrap_or_default())
        }
    };
    vec![Span::raw(text)]
}

fn row(app: &App, one: &EvidenceView, marked: bool, with_task: bool, width: usize) -> Row {
    let mark = if one.stale { Mark::Stale } else { Mark::Done };
    let task = if with_task { format!("{:<4}", one.task.to_string()) } else { String::new() };
    let stale = if one.stale { "stale: " } else { "" };
    let text = format!(" {:<4}{task}{stale}{}", one.short.to_string(), visible_line(&one.criterion));
    let run = one.run.map(|run| format!(" {run}")).unwrap_or_default();
    let right = format!("{}{run}", proof(one));
    let row = listed(app, marked, vec![app.theme.mark(mark), Span::raw(text)]);
    spread(app.theme, row.spans, vec![app.theme.span(Role::Dim, right)], width)
}

fn detail(app: &App, one: &EvidenceView, width: usize) -> Vec<Row> {
    let dot = app.theme.dot();
    let mut parts = vec![visible_line(&one.note)];
    parts.extend(one.exit_code.map(|code| format!("exit {code}")));
    parts.push(format!("tree {}", short_tree(&one.tree)));
    parts.extend(one.baseline.map(|run| format!("before: {run}")));
    parts.push(if one.stale {
        "the tree changed after it".to_owned()
    } else {
        "after the last write".to_owned()
    });
    if one.weaker {
        parts.push("fewer tests ran than before".to_owned());
    }
    parts.retain(|part| !part.is_empty());
    let mut rows: Vec<Row> = wrap(&parts.join(dot), width).into_iter().map(Line::from).collect();
    if let Some(command) = &one.command {
        rows.extend(
            wrap(&visible_line(command), width).into_iter().map(|line| plain(app.theme, Role::Run, line)),
        );
    }
    if let Some(artifact) = &one.artifact {
        rows.push(plain(app.theme, Role::Dim, format!("output  air artifact {}", artifact.short())));
    }
    rows
}
