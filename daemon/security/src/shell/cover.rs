//! Which bytes of the text the tree accounts for.
//!
//! A substitution whose inside did not parse is an empty body in a tree that calls itself clean, and text
//! between two statements may belong to neither. So every word, operator with text and here-document marks
//! its bytes, and what is left over must be blanks, separators, comments and reserved words.

use std::ops::Range;

use super::RESERVED;

pub(super) struct Cover {
    marks: Vec<bool>,
}

impl Cover {
    pub(super) fn new(len: usize) -> Self {
        Self { marks: vec![false; len] }
    }

    pub(super) fn mark(&mut self, range: Range<usize>) {
        self.set(range, true);
    }

    /// Takes marks back: the inside of a substitution must account for itself.
    pub(super) fn unmark(&mut self, range: Range<usize>) {
        self.set(range, false);
    }

    fn set(&mut self, range: Range<usize>, value: bool) {
        let end = range.end.min(self.marks.len());
        if let Some(slots) = self.marks.get_mut(range.start.min(end)..end) {
            slots.fill(value);
        }
    }

    /// The offset of the first byte that nothing accounts for, or of a reserved word that is none to bash:
    /// those stand where a command may start, and end where a word ends.
    pub(super) fn gap(&self, source: &str) -> Option<usize> {
        let bytes = source.as_bytes();
        let mut at = 0;
        let mut in_word_position = false;
        while at < bytes.len() {
            if self.marks[at] {
                in_word_position = !matches!(bytes[at], b'\n' | b'&' | b'|' | b'(' | b'`');
                at += 1;
                continue;
            }
            let Some(end) = self.structural(source, at) else { return Some(at) };
            match &source[at..end] {
                " " | "\t" | "\\\n" => {}
                "in" => in_word_position = false,
                ";" | "&" | "|" | "(" | ")" | "\n" => in_word_position = false,
                token if token.starts_with(['#', '-']) => {}
                _ if in_word_position || !ends_word(bytes.get(end).copied()) => return Some(at),
                _ => {}
            }
            at = end;
        }
        None
    }

    /// The end of the structural token at `at`, if there is one.
    fn structural(&self, source: &str, at: usize) -> Option<usize> {
        let bytes = source.as_bytes();
        let before = at.checked_sub(1).and_then(|index| bytes.get(index).copied());
        match bytes[at] {
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'{' | b'}' | b'!' => Some(at + 1),
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => Some(at + 2),
            b'#' if before.is_none_or(starts_word_after) => {
                Some(source[at..].find('\n').map_or(bytes.len(), |length| at + length))
            }
            b'-' if source[at..].starts_with("-p")
                && before.is_some_and(|byte| byte == b' ' || byte == b'\t')
                && source[..at].trim_end_matches([' ', '\t']).ends_with("time") =>
            {
                Some(at + 2)
            }
            b'a'..=b'z' => {
                let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
                let unmarked = self.marks[at..at + length].iter().all(|mark| !mark);
                (unmarked && RESERVED.contains(&&source[at..at + length])).then_some(at + length)
            }
            _ => None,
        }
    }
}

fn ends_word(next: Option<u8>) -> bool {
    next.is_none_or(|byte| starts_word_after(byte) || byte == b'`')
}

/// Whether a `#` behind this byte starts a comment.
pub(super) fn starts_word_after(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}
