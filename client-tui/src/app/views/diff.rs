//! What changed, with line numbers.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::boxed::{Boxed, Inside, inner_height, inner_width};
use crate::app::diff::{Diff, DiffFile, DiffKind, DiffRow, Listed};
use crate::app::overlay::{DiffOf, DiffPane};
use crate::app::row::{Row, cut_spans, plain, spread, untab};
use crate::app::state::App;
use crate::text::escape::{visible_block, visible_line};
use crate::text::style::Role;
use crate::text::words;

/// Whether it begins a hunk.
pub fn is_hunk(row: &DiffRow) -> bool {
    row.kind == DiffKind::Hunk
}

/// Draws it.
pub fn draw(frame: &mut Frame<'_>, app: &App, pane: &DiffPane, area: Rect) {
    let of = match pane.of {
        DiffOf::Session => {
            app.model.session.as_ref().map_or_else(String::new, |session| session.short.to_string())
        }
        DiffOf::Turn(short) | DiffOf::Task(short) => short.to_string(),
    };
    let keys = "[ ] hunk  { } file  n/p turn  z fold  Esc back";
    let mut boxed =
        Boxed { title: vec![Span::raw(format!("diff  {of}"))], keys: keys.to_owned(), ..Boxed::default() };
    let Some(diff) = &pane.diff else {
        boxed.row(plain(app.theme, Role::Dim, "loading"));
        return boxed.draw(frame, app, area);
    };
    let (added, removed) = diff.totals();
    boxed.right = format!("{}  +{added} -{removed}", words::count(diff.files.len() as u64, "file", "files"));
    if diff.files.is_empty() {
        boxed.row(plain(app.theme, Role::Dim, "Nothing changed."));
    }
    let width = inner_width(area);
    for listed in diff.listed().into_iter().skip(pane.top).take(inner_height(area)) {
        let row = match listed {
            Listed::File(at) => diff.files.get(at).map(|file| head(app, file, width)),
            Listed::Row(file, at) => {
                diff.files.get(file).and_then(|file| file.rows.get(at)).map(|row| line(app, diff, row, width))
            }
        };
        boxed.rows.extend(row.map(Inside::Row));
    }
    boxed.draw(frame, app, area);
}

fn head(app: &App, file: &DiffFile, width: usize) -> Row {
    let counts = match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!("+{added} -{removed}"),
        _ => "binary".to_owned(),
    };
    let status = if file.status == "modified" { String::new() } else { format!("  {}", file.status) };
    let text = format!("{} {}", app.theme.fold(!file.folded), visible_line(&file.path));
    spread(
        app.theme,
        vec![app.theme.span(Role::Bold, text)],
        vec![Span::raw(format!("{counts}{status}"))],
        width,
    )
}

fn line(app: &App, diff: &Diff, row: &DiffRow, width: usize) -> Row {
    let (role, sign) = match row.kind {
        DiffKind::Added => (Role::Ok, '+'),
        DiffKind::Removed => (Role::Bad, '-'),
        DiffKind::Context => (Role::Text, ' '),
        DiffKind::Hunk => (Role::Run, ' '),
        DiffKind::Note => (Role::Dim, ' '),
    };
    let number = row.number.map(|number| number.to_string()).unwrap_or_default();
    let text = untab(&visible_block(diff.text(row)));
    let spans = vec![
        app.theme.span(Role::Dim, format!("{number:>5} ")),
        app.theme.span(role, format!("{sign}{text}")),
    ];
    Line::from(cut_spans(app.theme, spans, width))
}
