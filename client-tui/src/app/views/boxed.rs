//! A box with a title, rows and a line of keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::put;
use crate::app::row::{Row, cut_spans, width_of};
use crate::app::state::{App, Focus};
use crate::text::style::Role;

/// Lines after the right part of a title.
const TAIL: usize = 3;

/// A row in a box, or a line across it.
#[derive(Debug, Clone)]
pub enum Inside {
    Row(Row),
    Rule,
}

/// What is drawn.
#[derive(Debug, Clone, Default)]
pub struct Boxed {
    pub title: Vec<Span<'static>>,
    /// At the right of the title.
    pub right: String,
    /// Keys, at the bottom.
    pub keys: String,
    pub rows: Vec<Inside>,
}

impl Boxed {
    /// Adds a row.
    pub fn row(&mut self, row: impl Into<Row>) {
        self.rows.push(Inside::Row(row.into()));
    }

    /// Adds a line across.
    pub fn rule(&mut self) {
        self.rows.push(Inside::Rule);
    }

    /// Draws it over an area. Rows that do not fit are left out.
    pub fn draw(self, frame: &mut Frame<'_>, app: &App, area: Rect) {
        if area.width < 4 || area.height < 2 {
            return;
        }
        put(frame, area, 0, &self.top(app, usize::from(area.width)));
        for row in 1..area.height - 1 {
            match self.rows.get(usize::from(row) - 1) {
                Some(Inside::Rule) => {
                    let line = edge(app, usize::from(area.width), "├", "┤");
                    put(frame, area, row, &line);
                }
                Some(Inside::Row(line)) => inside(frame, app, area, row, line),
                None => inside(frame, app, area, row, &Line::default()),
            }
        }
        put(frame, area, area.height - 1, &self.bottom(app, usize::from(area.width)));
    }

    fn top(&self, app: &App, width: usize) -> Row {
        let theme = app.theme;
        let dim = |text: String| theme.span(Role::Dim, text);
        let focused = app.focus == Focus::Overlay;
        let mut spans = vec![dim(format!("{} ", theme.joint("┌")))];
        // Corners, the space before, and the tail behind the right part.
        let right = if self.right.is_empty() { 0 } else { crate::text::layout::cells(&self.right) + 1 };
        let room = width.saturating_sub(2 + 1 + TAIL + 1 + right);
        let mut title = cut_spans(theme, self.title.clone(), room);
        if focused {
            for span in &mut title {
                span.style = span.style.add_modifier(ratatui::style::Modifier::BOLD);
            }
        }
        let taken = width_of(&title);
        spans.extend(title);
        if self.right.is_empty() {
            spans.push(dim(format!(" {}", theme.rule().repeat(room.saturating_sub(taken) + TAIL))));
        } else {
            spans.push(Span::raw(" ".repeat(room.saturating_sub(taken) + 1)));
            spans.push(Span::raw(self.right.clone()));
            spans.push(dim(format!(" {}", theme.rule().repeat(TAIL))));
        }
        spans.push(dim(theme.joint("┐").to_owned()));
        Line::from(spans)
    }

    fn bottom(&self, app: &App, width: usize) -> Row {
        let theme = app.theme;
        if self.keys.is_empty() {
            return edge(app, width, "└", "┘");
        }
        let keys = cut_spans(theme, vec![theme.span(Role::Dim, self.keys.clone())], width.saturating_sub(4));
        let rest = width.saturating_sub(4 + width_of(&keys));
        let mut spans = vec![theme.span(Role::Dim, format!("{} ", theme.joint("└")))];
        spans.extend(keys);
        spans.push(theme.span(Role::Dim, format!(" {}{}", theme.rule().repeat(rest), theme.joint("┘"))));
        Line::from(spans)
    }
}

fn edge(app: &App, width: usize, left: &'static str, right: &'static str) -> Row {
    let theme = app.theme;
    let line = theme.rule().repeat(width.saturating_sub(2));
    Line::from(theme.span(Role::Dim, format!("{}{line}{}", theme.joint(left), theme.joint(right))))
}

fn inside(frame: &mut Frame<'_>, app: &App, area: Rect, row: u16, line: &Line<'_>) {
    let bar = Line::from(app.theme.span(Role::Dim, app.theme.bar()));
    put(frame, Rect { width: 1, ..area }, row, &bar);
    put(frame, Rect { x: area.right() - 1, width: 1, ..area }, row, &bar);
    put(frame, Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area }, row, line);
}

/// Cells of a row in a box.
pub fn inner_width(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(4))
}

/// Rows of a box.
pub fn inner_height(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2))
}

/// The first of `length` rows that is shown, so that `at` is among `height` of them.
pub fn first_shown(at: usize, length: usize, height: usize) -> usize {
    let most = length.saturating_sub(height);
    at.saturating_sub(height / 2).min(most)
}

/// A row of a list, marked or not.
pub fn listed(app: &App, marked: bool, mut spans: Vec<Span<'static>>) -> Row {
    let head = if marked { app.theme.span(Role::Bold, "> ") } else { Span::raw("  ") };
    spans.insert(0, head);
    Line::from(spans)
}
