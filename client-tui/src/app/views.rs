//! Frames. Everything is drawn from the state; nothing here changes it.

pub mod boxed;
pub mod diff;
pub mod evidence;
pub mod help;
pub mod hud;
pub mod input;
pub mod live;
pub mod question;
pub mod questions;
pub mod run;
pub mod runs;
pub mod sidebar;
pub mod tasks;
pub mod title;
pub mod transcript;
pub mod workers;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::overlay::Overlay;
use super::state::App;
use super::theme::Theme;
use crate::text::style::Role;

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, app: &App) {
    let areas = app.areas();
    if areas.tiny {
        put(frame, areas.title, 0, &title::tiny(app, usize::from(areas.title.width)));
        return;
    }
    put(frame, areas.title, 0, &title::row(app, usize::from(areas.title.width)));
    rule(frame, app.theme, areas.upper);
    transcript::draw(frame, app, areas.body);
    live::draw(frame, app, areas.live);
    if areas.sidebar.width > 0 {
        sidebar::draw(frame, app, &areas);
    }
    match app.overlays.last() {
        Some(top) => overlay(frame, app, top, areas.over),
        None => {
            rule(frame, app.theme, areas.middle);
            if areas.sidebar.width > 0 {
                sidebar::joints(frame, app, &areas);
            }
        }
    }
    input::draw(frame, app, &areas);
    if areas.lower.height > 0 {
        rule(frame, app.theme, areas.lower);
    }
    put(frame, areas.hud, 0, &hud::row(app, usize::from(areas.hud.width)));
}

fn overlay(frame: &mut Frame<'_>, app: &App, top: &Overlay, area: Rect) {
    clear(frame, area);
    match top {
        Overlay::Help(list) => help::draw(frame, app, list, area),
        Overlay::Tasks(list) => tasks::draw(frame, app, list, area),
        Overlay::Workers(list) => workers::draw(frame, app, list, area),
        Overlay::Questions(list) => questions::draw(frame, app, list, area),
        Overlay::Question(pane) => question::draw(frame, app, pane, area),
        Overlay::Runs(list) => runs::draw(frame, app, list, area),
        Overlay::Run(pane) => run::draw(frame, app, pane, area),
        Overlay::Evidence(pane) => evidence::draw(frame, app, pane, area),
        Overlay::Diff(pane) => diff::draw(frame, app, pane, area),
    }
}

/// Draws a row of an area; what lies outside of the screen is left out.
pub(super) fn put(frame: &mut Frame<'_>, area: Rect, row: u16, line: &Line<'_>) {
    let place = Rect::new(area.x, area.y.saturating_add(row), area.width, 1).intersection(frame.area());
    if row < area.height && !place.is_empty() {
        frame.buffer_mut().set_line(place.x, place.y, line, place.width);
    }
}

/// A line from edge to edge.
fn rule(frame: &mut Frame<'_>, theme: Theme, area: Rect) {
    let line = theme.span(Role::Dim, theme.rule().repeat(usize::from(area.width)));
    put(frame, area, 0, &Line::from(line));
}

fn clear(frame: &mut Frame<'_>, area: Rect) {
    let blank = Line::from(" ".repeat(usize::from(area.width)));
    let area = area.intersection(frame.area());
    for row in 0..area.height {
        for x in area.left()..area.right() {
            frame.buffer_mut()[(x, area.y + row)].reset();
        }
        put(frame, area, row, &blank);
    }
}
