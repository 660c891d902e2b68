//! Rows of styled text: cutting, spreading, wrapping by cells.

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::theme::Theme;
use crate::text::layout::{cells, cut};
use crate::text::style::Role;

/// A row of the screen.
pub type Row = Line<'static>;

/// Cells of a tab in text that is shown.
const TAB: usize = 4;

/// Cells of several spans.
pub fn width_of(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| cells(&span.content)).sum()
}

/// The spans in at most `width` cells.
pub fn cut_spans(theme: Theme, spans: Vec<Span<'static>>, width: usize) -> Vec<Span<'static>> {
    if width_of(&spans) <= width {
        return spans;
    }
    let ellipsis = theme.ellipsis();
    let room = width.saturating_sub(cells(ellipsis));
    let mut used = 0;
    let mut out = Vec::new();
    for span in spans {
        let wide = cells(&span.content);
        if used + wide <= room {
            used += wide;
            out.push(span);
            continue;
        }
        let kept = cut(&span.content, room - used, "");
        out.push(Span::styled(
            format!("{kept}{}", if width >= cells(ellipsis) { ellipsis } else { "" }),
            span.style,
        ));
        break;
    }
    out
}

/// `left`, and `right` at the right edge. `left` is cut where both do not fit.
pub fn spread(theme: Theme, left: Vec<Span<'static>>, right: Vec<Span<'static>>, width: usize) -> Row {
    let right = cut_spans(theme, right, width);
    let taken = width_of(&right);
    if taken == 0 {
        return Line::from(cut_spans(theme, left, width));
    }
    let mut spans = cut_spans(theme, left, width.saturating_sub(taken + 1));
    let gap = width.saturating_sub(taken + width_of(&spans));
    spans.push(Span::raw(" ".repeat(gap)));
    spans.extend(right);
    Line::from(spans)
}

/// One row of one role.
pub fn plain(theme: Theme, role: Role, text: impl Into<String>) -> Row {
    Line::from(theme.span(role, text))
}

/// Text as lines of at most `width` cells, broken at spaces; a longer word is broken anywhere. Tabs become spaces.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut out = Vec::new();
    for line in text.split('\n') {
        let line = untab(line);
        if cells(&line) <= width {
            out.push(line);
        } else {
            wrap_line(&line, width, &mut out);
        }
    }
    out
}

fn wrap_line(line: &str, width: usize, out: &mut Vec<String>) {
    let mut row = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let bare = cells(word.trim_end_matches(' '));
        if used > 0 && used + bare > width {
            out.push(std::mem::take(&mut row).trim_end().to_owned());
            used = 0;
        }
        if used + bare > width {
            for cluster in word.graphemes(true) {
                let wide = cells(cluster);
                if used + wide > width && used > 0 {
                    out.push(std::mem::take(&mut row));
                    used = 0;
                }
                row.push_str(cluster);
                used += wide;
            }
        } else {
            row.push_str(word);
            used += cells(word);
        }
    }
    out.push(row.trim_end().to_owned());
}

/// The line with its tabs as spaces up to the next stop.
pub fn untab(line: &str) -> String {
    if !line.contains('\t') {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len() + 8);
    for (at, part) in line.split('\t').enumerate() {
        if at > 0 {
            let used = cells(&out);
            out.push_str(&" ".repeat(TAB - used % TAB));
        }
        out.push_str(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap(text, width), expected, "{text:?}");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        check("one two three", 8, &["one two", "three"]);
        check("averylongword x", 6, &["averyl", "ongwor", "d x"]);
        check("日本語テスト", 5, &["日本", "語テ", "スト"]);
        check("  indented text here", 12, &["  indented", "text here"]);
        check("a\tb\n\nc", 10, &["a   b", "", "c"]);
        check("", 10, &[""]);
    }

    #[test]
    fn what_is_at_the_right_stays_whole() {
        let theme = Theme { pen: Default::default() };
        let row = |width| {
            let left = vec![theme.span(Role::Ok, "left "), theme.span(Role::Text, "and more")];
            spread(theme, left, vec![theme.span(Role::Dim, "2.4 s")], width).to_string()
        };
        assert_eq!(row(20), "left and more  2.4 s");
        assert_eq!(row(14), "left an… 2.4 s");
        assert_eq!(row(5), "2.4 s");
        assert_eq!(row(3), "2.…");
    }
}
