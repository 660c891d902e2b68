//! Both ends of a long text, in whole lines.

use crate::fs::cut_line;

/// A text within its limit, and what was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub head: String,
    pub tail: String,
    /// Lines and bytes left out between the two, and the number of the first such line.
    pub left_out: Option<(usize, usize, usize)>,
}

/// The longest line that is shown whole.
const LINE: usize = 2_000;

/// The first and the last `each` bytes of a text as whole lines; all of it where it fits into both.
pub(crate) fn both_ends(text: &str, each: usize) -> Cut {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<String> = text.split('\n').map(|line| cut_line(line.as_bytes(), LINE)).collect();
    let total: usize = lines.iter().map(|line| line.len() + 1).sum();
    if total <= 2 * each + 1 {
        return Cut { head: lines.join("\n"), tail: String::new(), left_out: None };
    }
    let fit = |lines: &mut dyn Iterator<Item = &String>| {
        let mut sum = 0;
        lines
            .take_while(|line| {
                sum += line.len() + 1;
                sum <= each
            })
            .count()
    };
    let first = fit(&mut lines.iter()).max(1);
    let last = fit(&mut lines.iter().rev()).max(1).min(lines.len() - first);
    let (head, rest) = lines.split_at(first);
    let (middle, tail) = rest.split_at(rest.len() - last);
    let bytes = middle.iter().map(|line| line.len() + 1).sum();
    let left_out = (!middle.is_empty()).then_some((middle.len(), bytes, first + 1));
    Cut { head: head.join("\n"), tail: tail.join("\n"), left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_whole_lines_of_both_ends() {
        let text: String = (1..=1_000).map(|n| format!("line {n}\n")).collect();
        let cut = both_ends(&text, 100);
        assert!(cut.head.starts_with("line 1\n") && cut.head.ends_with("line 13"), "{}", cut.head);
        assert!(cut.tail.ends_with("line 1000"), "{}", cut.tail);
        let (lines, _, next) = cut.left_out.unwrap();
        assert_eq!((next, lines), (14, 1_000 - 13 - cut.tail.lines().count()));
        assert_eq!(
            both_ends("a\nb\n", 100),
            Cut { head: "a\nb".into(), tail: String::new(), left_out: None }
        );
    }

    #[test]
    fn one_endless_line_is_cut() {
        let cut = both_ends(&"x".repeat(1_000_000), 10_000);
        assert!(cut.head.ends_with("…[+998000 bytes]"));
        assert_eq!(cut.left_out, None);
    }
}
