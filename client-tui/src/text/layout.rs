//! Cells: measuring, cutting, padding, wrapping.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// How many cells a text takes, by clusters. Colour sequences must not be in it.
pub fn cells(text: &str) -> usize {
    text.graphemes(true).map(cluster_cells).sum()
}

/// A cluster takes at most two cells, however many characters it joins.
fn cluster_cells(cluster: &str) -> usize {
    cluster.width().min(2)
}

/// The text in at most `width` cells; what is cut is shown by an ellipsis. No cluster is cut in two.
pub fn cut(text: &str, width: usize, ellipsis: &str) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(cells(ellipsis));
    let mut out = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let next = cluster_cells(cluster);
        if used + next > room {
            break;
        }
        used += next;
        out.push_str(cluster);
    }
    if cells(ellipsis) <= width {
        out.push_str(ellipsis);
    }
    out
}

/// The text, padded on the right to `width` cells.
pub fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(cells(text));
    format!("{text}{}", " ".repeat(missing))
}

/// The text, padded on the left to `width` cells.
pub fn pad_left(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(cells(text));
    format!("{}{text}", " ".repeat(missing))
}

/// `left`, and `right` at the right edge; `left` is cut where both do not fit.
pub fn spread(left: &str, right: &str, width: usize, ellipsis: &str) -> String {
    if right.is_empty() {
        return cut(left, width, ellipsis);
    }
    let room = width.saturating_sub(cells(right) + 2);
    let left = cut(left, room, ellipsis);
    format!("{}  {right}", pad(&left, room))
}

/// Lines of at most `width` cells, broken at spaces; a longer word stays whole on a line of its own, so
/// that what is copied is still a command.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && cells(&line) + 1 + cells(word) > width {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_clusters() {
        for (text, expected) in [
            ("abc", 3),
            ("你好，世界", 10),
            ("한글 ok", 7),
            ("a📁b", 4),
            ("e\u{301}x", 2),
            ("🇩🇪", 2),
            ("👨‍👩‍👧", 2),
            ("❤\u{fe0f}", 2),
        ] {
            assert_eq!(cells(text), expected, "{text}");
        }
    }

    #[test]
    fn a_wide_character_is_never_cut_in_two() {
        assert_eq!(cut("日本語テスト", 5, "…"), "日本…");
        assert_eq!(cut("abc", 3, "…"), "abc");
        assert_eq!(cut("abcd", 3, "…"), "ab…");
        assert_eq!(cut("abcd", 0, "…"), "");
    }

    #[test]
    fn the_right_part_stays_whole() {
        assert_eq!(spread("a long left part", "2.4 s", 14, "…"), "a long…  2.4 s");
        assert_eq!(spread("left", "2.4 s", 14, "…"), "left     2.4 s");
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("averyveryverylongword x", 8), ["averyveryverylongword", "x"]);
    }
}
