//! The input, what is said under it, and the cursor.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::put;
use crate::app::geometry::{Areas, PROMPT};
use crate::app::row::{cut_spans, plain};
use crate::app::state::{App, Away, Focus, Link};
use crate::text::escape::visible_line;
use crate::text::layout::cells;
use crate::text::style::Role;

/// Draws input and hint.
pub fn draw(frame: &mut Frame<'_>, app: &App, areas: &Areas) {
    if app.observer {
        let text = " You watch; nothing you press changes the work.  D drives";
        put(frame, areas.input, 0, &plain(app.theme, Role::Dim, text));
    } else {
        text(frame, app, areas.input);
    }
    let status = status(app);
    let taken = app.editor.rows("").rows.first().map_or(0, |row| cells(&row.text)) + PROMPT;
    let right = status.map(|text| app.theme.span(Role::Warn, text));
    if let Some(right) = right {
        let wide = cells(&right.content);
        let fits = taken + wide + 2 <= usize::from(areas.input.width);
        let row = if fits || areas.hint.height == 0 { areas.input } else { areas.hint };
        let at = usize::from(row.width).saturating_sub(wide + 1);
        let at = Rect { x: u16::try_from(at).unwrap_or(0), width: u16::try_from(wide).unwrap_or(0), ..row };
        put(frame, at, 0, &Line::from(right));
    }
    hint(frame, app, areas.hint);
}

fn text(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let rows = app.editor.rows(app.theme.ellipsis());
    let (at, column) = rows.cursor;
    let height = usize::from(area.height.max(1));
    let top = (at + 1).saturating_sub(height).min(rows.rows.len().saturating_sub(height));
    let focused = app.focus == Focus::Input;
    for (index, row) in rows.rows.iter().skip(top).take(height).enumerate() {
        let head = match (index, focused) {
            (0, true) => app.theme.span(Role::Bold, " > "),
            (0, false) => app.theme.span(Role::Dim, " > "),
            _ => Span::raw("   "),
        };
        let line = Line::from(vec![head, Span::raw(row.text.clone())]);
        put(frame, area, u16::try_from(index).unwrap_or(0), &line);
    }
    if focused {
        let x = area.x.saturating_add(u16::try_from(PROMPT + column).unwrap_or(u16::MAX));
        let y = area.y.saturating_add(u16::try_from(at - top).unwrap_or(0));
        cursor(frame, x.min(area.right().saturating_sub(1)), y);
    }
}

/// Puts the terminal's own cursor where the next character goes.
pub(super) fn cursor(frame: &mut Frame<'_>, x: u16, y: u16) {
    if frame.area().contains(Position::new(x, y)) {
        frame.set_cursor_position(Position::new(x, y));
    }
}

fn status(app: &App) -> Option<String> {
    let Link::Down { since, why, .. } = app.link else { return None };
    let seconds = app.now.millis_since(since) / 1000;
    let word = match why {
        Away::Starting if seconds == 0 => return None,
        Away::Starting => "connecting",
        Away::Broken => "reconnecting",
        Away::Stopped => return Some("aird was stopped; a message starts it".to_owned()),
    };
    Some(format!("{} {word} {seconds} s", app.theme.again()))
}

fn hint(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let width = usize::from(area.width);
    if let Some(notice) = &app.notice {
        let spans = vec![app.theme.span(notice.role, format!("   {}", visible_line(&notice.text)))];
        return put(frame, area, 0, &Line::from(cut_spans(app.theme, spans, width)));
    }
    if app.observer || app.editor.is_empty() || app.focus != Focus::Input {
        return;
    }
    let dot = app.theme.dot();
    let text = if !app.is_up() {
        "   what you type is kept, and sent when aird is back".to_owned()
    } else if app.model.is_working() {
        format!("   Enter sends it after this turn{dot}^J new line")
    } else {
        format!("   Enter sends{dot}^J new line")
    };
    let spans = vec![app.theme.span(Role::Dim, text)];
    put(frame, area, 0, &Line::from(cut_spans(app.theme, spans, width)));
}
