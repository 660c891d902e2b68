//! Where everything is on a screen of a size. The question mark and the state never go.

use ratatui::layout::Rect;

use super::state::App;
use super::views::live;

/// Cells before the text of the input.
pub const PROMPT: usize = 3;
/// From so many columns on there is a sidebar.
const WIDE: u16 = 100;
/// From so many rows on there are a hint and a second line.
const TALL: u16 = 20;
/// Rows of the input, at most.
const INPUT: u16 = 8;
/// Below so many columns or rows there is one line.
const TINY: (u16, u16) = (20, 6);

/// The parts of the screen. An empty part is not drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Areas {
    pub title: Rect,
    /// The line under the title, all over.
    pub upper: Rect,
    /// The conversation.
    pub body: Rect,
    /// What goes on now, under the conversation.
    pub live: Rect,
    pub sidebar: Rect,
    /// The line above the input.
    pub middle: Rect,
    pub input: Rect,
    pub hint: Rect,
    /// The line above the HUD.
    pub lower: Rect,
    pub hud: Rect,
    /// Where overlays lie.
    pub over: Rect,
    /// One line is all there is.
    pub tiny: bool,
}

/// Whether there is a sidebar.
pub const fn has_sidebar(size: (u16, u16)) -> bool {
    size.0 >= WIDE && size.1 >= TALL
}

/// The parts for the state.
pub fn areas(app: &App) -> Areas {
    let (width, height) = app.size;
    if width < TINY.0 || height < TINY.1 {
        return Areas { title: Rect::new(0, 0, width, height.min(1)), tiny: true, ..Areas::default() };
    }
    let tall = height >= TALL;
    let rows = if tall { app.editor.rows("").rows.len() } else { 1 };
    let most = INPUT.min(height / 3).max(1);
    let input = u16::try_from(rows).unwrap_or(most).clamp(1, most);
    let fixed = 2 + 1 + input + if tall { 2 } else { 0 } + 1;
    let middle = height.saturating_sub(fixed);
    let side = if has_sidebar(app.size) { width * 32 / 100 } else { 0 };
    let left = if side > 0 { width - side - 1 } else { width };
    let below = live_rows(app, left, middle);
    let body = middle - below;
    let row = |y: u16, height: u16| Rect::new(0, y, width, height);
    let under = 2 + middle;
    Areas {
        title: row(0, 1),
        upper: row(1, 1),
        body: Rect::new(0, 2, left, body),
        live: Rect::new(0, 2 + body, left, below),
        sidebar: if side > 0 { Rect::new(left, 2, side + 1, middle) } else { Rect::default() },
        middle: row(under, 1),
        input: row(under + 1, input),
        hint: if tall { row(under + 1 + input, 1) } else { Rect::default() },
        lower: if tall { row(under + 2 + input, 1) } else { Rect::default() },
        hud: row(height - 1, 1),
        over: row(1, under),
        tiny: false,
    }
}

/// At most a third of the conversation, and what it needs; with a blank row above where there is room.
fn live_rows(app: &App, width: u16, room: u16) -> u16 {
    let wanted = live::rows(app, usize::from(width)).len();
    let most = (room / 3).max(1).min(room.saturating_sub(1));
    let rows = u16::try_from(wanted).unwrap_or(most).min(most);
    if rows > 0 && room >= 12 { rows + 1 } else { rows }
}
