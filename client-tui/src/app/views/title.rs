//! The first row: where one is, what is wanted, what goes on.

use air_contracts::projection::SessionState;
use ratatui::text::Span;

use crate::app::row::{Row, spread, width_of};
use crate::app::state::App;
use crate::text::escape::visible_line;
use crate::text::style::{Mark, Role};
use crate::text::{amounts, words};

/// Below this the project's name and long words go.
const NARROW: usize = 60;
const WIDE: usize = 100;

/// The row for a screen that shows more than one.
pub fn row(app: &App, width: usize) -> Row {
    let mut right = right(app, width);
    if !right.is_empty() && width_of(&right) < width {
        right.push(Span::raw(" "));
    }
    spread(app.theme, left(app, width), right, width)
}

/// All that a very small screen shows.
pub fn tiny(app: &App, width: usize) -> Row {
    let mut spans = right(app, 0);
    if let Some(session) = &app.model.session {
        let head = if spans.is_empty() { "" } else { " " };
        spans.push(Span::raw(format!("{head}{}", session.short)));
    }
    if spans.is_empty() {
        spans.push(Span::raw(visible_line(&app.place)));
    }
    let spans = crate::app::row::cut_spans(app.theme, spans, width);
    Row::from(spans)
}

fn left(app: &App, width: usize) -> Vec<Span<'static>> {
    let place = app.project.as_ref().map_or(&app.place, |project| &project.name);
    let mut text = " ".to_owned();
    if width >= NARROW || app.model.session.is_none() {
        text.push_str(&visible_line(place));
    }
    if let Some(session) = &app.model.session {
        if width >= NARROW {
            text.push_str(app.theme.dot());
        }
        text.push_str(&format!("{} {}", session.short, visible_line(&session.title)));
    }
    vec![app.theme.span(Role::Bold, text)]
}

/// Questions and state, which are always there.
fn right(app: &App, width: usize) -> Vec<Span<'static>> {
    let theme = app.theme;
    let gap = match width {
        0 => " ",
        _ if width < NARROW => "  ",
        _ if width < WIDE => "   ",
        _ => "    ",
    };
    let mut parts: Vec<Vec<Span<'static>>> = Vec::new();
    if app.observer && width > 0 {
        parts.push(vec![theme.span(Role::Warn, "OBSERVER")]);
    }
    let open = app.model.approvals.len();
    if open > 0 {
        let words = if width >= WIDE { " waiting for you" } else { "" };
        parts.push(vec![theme.span(Role::Ask, format!("? {open}{words}"))]);
    }
    match &app.banner {
        Some((text, _)) if width >= NARROW => parts.push(vec![theme.span(Role::Ok, text.clone())]),
        _ => parts.extend(state(app, width)),
    }
    let mut spans = Vec::new();
    for part in parts {
        if !spans.is_empty() {
            spans.push(Span::raw(gap));
        }
        spans.extend(part);
    }
    spans
}

fn state(app: &App, width: usize) -> Option<Vec<Span<'static>>> {
    let theme = app.theme;
    if let Some(turn) = app.model.running_turn() {
        let clock = amounts::clock(app.now.millis_since(turn.submitted_at));
        let words = if width >= NARROW { format!(" working {clock}") } else { format!(" {clock}") };
        return Some(vec![theme.mark(Mark::Running), theme.span(Role::Run, words)]);
    }
    let session = app.model.session.as_ref()?;
    if matches!(session.state, SessionState::WaitingForYou | SessionState::New) {
        return None;
    }
    let (mark, word) = words::session_state(session.state);
    Some(vec![theme.mark(mark), theme.span(mark.role(), format!(" {word}"))])
}
