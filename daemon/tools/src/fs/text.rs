//! Lines of bytes, and how they are shown.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// A line longer than this is cut when it is shown, in bytes.
pub(crate) const LINE_LIMIT: usize = 2_000;

/// The line ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// No line end at all.
    None,
    Lf,
    CrLf,
    Mixed,
}

/// Which line ends a text has.
pub(super) fn line_ends(bytes: &[u8]) -> LineEnds {
    let (mut lf, mut crlf) = (0_usize, 0_usize);
    let mut before = 0;
    for byte in bytes {
        if *byte == b'\n' {
            if before == b'\r' { crlf += 1 } else { lf += 1 }
        }
        before = *byte;
    }
    match (lf, crlf) {
        (0, 0) => LineEnds::None,
        (_, 0) => LineEnds::Lf,
        (0, _) => LineEnds::CrLf,
        _ => LineEnds::Mixed,
    }
}

/// A text with all its line ends as LF.
pub(super) fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A text with all its line ends as CRLF.
pub(super) fn to_crlf(text: &str) -> String {
    to_lf(text).replace('\n', "\r\n")
}

/// The lines of a text without their ends. A final line end starts no further line.
pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut all: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if bytes.is_empty() || bytes.ends_with(b"\n") {
        all.pop();
    }
    all.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}

/// The number (from 1) of the line that holds the byte at `offset`.
pub(super) fn line_of(bytes: &[u8], offset: usize) -> usize {
    let before = bytes.get(..offset).unwrap_or(bytes);
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// A line as text, cut at `limit` bytes with the number of bytes that are left out.
pub(crate) fn cut_line(line: &[u8], limit: usize) -> String {
    if line.len() <= limit {
        return String::from_utf8_lossy(line).into_owned();
    }
    let mut end = limit;
    // Not inside a UTF-8 sequence.
    while end > 0 && line.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    let kept = String::from_utf8_lossy(line.get(..end).unwrap_or(line));
    format!("{kept}…[+{} bytes]", line.len() - end)
}

/// Lines with their numbers: `12|text`. The range counts from 1 and is cut to what there is.
pub(crate) fn numbered(all: &[&[u8]], range: RangeInclusive<usize>) -> String {
    let mut text = String::new();
    for number in range {
        let Some(line) = number.checked_sub(1).and_then(|index| all.get(index)) else { continue };
        let _ = writeln!(text, "{number}|{}", cut_line(line, LINE_LIMIT));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Lines of several places with ±3 lines around, places apart by `…`, at most `budget` bytes.
pub(super) fn around(all: &[&[u8]], places: &[RangeInclusive<usize>], budget: usize) -> String {
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for place in places {
        let (first, last) = (place.start().saturating_sub(3).max(1), (place.end() + 3).min(all.len()));
        match merged.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    let mut text = String::new();
    for (index, (first, last)) in merged.iter().enumerate() {
        let block = numbered(all, *first..=*last);
        if text.len() + block.len() > budget && index > 0 {
            let _ = write!(text, "\n[{} more places]", merged.len() - index);
            break;
        }
        if index > 0 {
            text.push_str("\n…\n");
        }
        text.push_str(clip(&block, budget));
    }
    text
}

/// The whole lines of a text that fit into `budget` bytes; at least its first line.
fn clip(text: &str, budget: usize) -> &str {
    if text.len() <= budget {
        return text;
    }
    let mut end = budget;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or(text);
    match head.rfind('\n') {
        Some(line_end) => head.get(..line_end).unwrap_or(head),
        None => text.split('\n').next().unwrap_or(text),
    }
}

/// `1,234 bytes`, `12 KB`, `256 MiB`.
pub(crate) fn human_bytes(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..MIB => format!("{} KB", bytes / 1_000),
        _ => format!("{} MiB", bytes / MIB),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_ends() {
        assert_eq!(lines(b"a\r\nb\n\nc"), [b"a".as_slice(), b"b", b"", b"c"]);
        assert_eq!(lines(b"a\n"), [b"a".as_slice()]);
        assert!(lines(b"").is_empty());
        assert_eq!(line_ends(b"a\r\nb\r\n"), LineEnds::CrLf);
        assert_eq!(line_ends(b"a\r\nb\n"), LineEnds::Mixed);
        assert_eq!(line_ends(b"a\rb"), LineEnds::None);
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        assert_eq!(cut_line("aé".repeat(4).as_bytes(), 5), "aéa…[+8 bytes]");
    }

    #[test]
    fn places_that_touch_are_shown_once() {
        let all = lines(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n");
        let text = around(&all, &[1..=1, 7..=7, 19..=19], 1_000);
        assert!(text.starts_with("1|1\n2|2"), "{text}");
        assert_eq!(text.matches('…').count(), 1, "{text}");
        assert!(text.ends_with("20|20"), "{text}");
    }
}
