//! Open questions.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::boxed::{Boxed, Inside, first_shown, inner_height, inner_width, listed};
use crate::app::lists;
use crate::app::overlay::List;
use crate::app::row::{cut_spans, plain, spread};
use crate::app::state::App;
use crate::text::style::{Mark, Role};
use crate::text::{amounts, question, words};

/// Draws the list.
pub fn draw(frame: &mut Frame<'_>, app: &App, list: &List, area: Rect) {
    let open = lists::questions(app);
    let mut boxed = Boxed {
        title: vec![Span::raw("questions")],
        right: words::count(open.len() as u64, "question", "questions"),
        keys: "Enter open  Esc back".to_owned(),
        ..Boxed::default()
    };
    if open.is_empty() {
        boxed.row(plain(app.theme, Role::Dim, "Nothing waits for you."));
    }
    let width = inner_width(area);
    let top = first_shown(list.at, open.len(), inner_height(area));
    for (at, one) in open.iter().enumerate().skip(top) {
        let waited = amounts::clock(app.now.millis_since(one.asked_at));
        let whom = one.task.map(|task| format!(" {task}")).unwrap_or_default();
        let left = vec![
            app.theme.mark(Mark::Waiting),
            Span::raw(format!(" {:<4}{}", one.short.to_string(), question::one_line(one))),
        ];
        let row = listed(app, at == list.at, cut_spans(app.theme, left, width.saturating_sub(14)));
        boxed.rows.push(Inside::Row(spread(
            app.theme,
            row.spans,
            vec![Span::raw(format!("{whom}  {waited}"))],
            width,
        )));
    }
    boxed.draw(frame, app, area);
}
