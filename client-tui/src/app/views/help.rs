//! All keys that there are.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::boxed::{Boxed, Inside, inner_height};
use crate::app::overlay::List;
use crate::app::state::App;
use crate::text::style::Role;

/// A line that is empty stands for a line across.
const KEYS: &[&str] = &[
    "GO                      LOOK                   DO",
    "j k  item   [ ] turn    t tasks  w workers     z fold     Z fold all",
    "g G  ends   Space page  r runs   d diff        Enter open",
    "F    follow i  type     e proof  a questions   v all of it in the pager",
    "Tab  next pane          ? these keys           Esc back   q leave",
    "",
    "While typing: ^X and the same letter  ^X Enter queue  ^X ^E open $EDITOR",
    "Enter send  ^J Alt-Enter \\ Enter new line  Up Down history  PgUp PgDn scroll",
    "^A ^E ^B ^F ^K ^U ^W ^Y Alt-B/F/D ^_ as in readline  ^L redraw  ^Z suspend",
    "",
    "question  y once  s session  p project  n deny  w deny, say why  v all of it",
    "tasks     Enter evidence  d its diff  X cancel  r retry",
    "diff      [ ] hunk  { } file  n p turn  z fold",
    "",
    "/stop /continue NOTE /approve a1 SCOPE /deny a1 WHY /answer a1 TEXT /quit",
    "/retry k1 /cancel k1 /tasks /workers /runs /evidence /diff /mouse on|off",
    "Esc Esc stops the turn.  ^C clears the input, closes, stops, asks to leave.",
];

/// Rows that can be scrolled.
pub const ROWS: usize = KEYS.len();

/// Draws it.
pub fn draw(frame: &mut Frame<'_>, app: &App, list: &List, area: Rect) {
    let mut boxed = Boxed {
        title: vec![Span::raw("keys")],
        keys: "^C stop the turn   q leave (work goes on)   ? closes".to_owned(),
        ..Boxed::default()
    };
    let top = list.at.min(ROWS.saturating_sub(inner_height(area)));
    for (at, text) in KEYS.iter().enumerate().skip(top) {
        boxed.rows.push(match *text {
            "" => Inside::Rule,
            text if at == 0 => Inside::Row(Line::from(app.theme.span(Role::Bold, text))),
            text => Inside::Row(Line::from(text)),
        });
    }
    boxed.draw(frame, app, area);
}
