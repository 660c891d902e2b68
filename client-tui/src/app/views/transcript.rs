//! The conversation.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::put;
use crate::app::row::plain;
use crate::app::state::{App, Focus, Link};
use crate::text::layout::cells;
use crate::text::style::Role;

/// Draws the rows that are on the screen.
pub fn draw(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let placed = app.transcript.visible(app.setting());
    if placed.is_empty() && app.model.items.is_empty() {
        empty(frame, app, area);
        return;
    }
    for (index, placed) in placed.iter().enumerate() {
        let row = u16::try_from(index).unwrap_or(u16::MAX);
        put(frame, area, row, &placed.row);
        if placed.head && app.focus == Focus::Transcript && app.transcript.selected == Some(placed.key) {
            let mark = app.theme.span(Role::Bold, ">");
            put(frame, Rect { width: 1, ..area }, row, &Line::from(mark));
        }
    }
    let unseen = app.transcript.unseen(app.setting());
    if unseen > 0 && area.height > 0 {
        let label = format!(" {unseen} new below, F ");
        let wide = u16::try_from(cells(&label)).unwrap_or(0).min(area.width);
        let place = Rect::new(area.right() - wide, area.bottom() - 1, wide, 1);
        put(frame, place, 0, &plain(app.theme, Role::Ask, label));
    }
}

fn empty(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let text = match app.link {
        Link::Up if app.ready => " Say what is to be done. ? after Esc shows the keys.",
        _ => "",
    };
    put(frame, area, 0, &plain(app.theme, Role::Dim, text));
}
