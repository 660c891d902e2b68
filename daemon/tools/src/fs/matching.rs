//! Where the texts of an edit stand in a file, and the file after it. Pure.

use std::ops::Range;

use super::text::{LineEnds, line_ends, line_of, to_crlf, to_lf};

/// One replacement that is asked for.
#[derive(Debug, Clone)]
pub(super) struct Replacement {
    pub old: String,
    pub new: String,
    pub all: bool,
}

/// Why replacements cannot be made. `edit` is the index of the one that cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mismatch {
    NotFound { edit: usize },
    Ambiguous { edit: usize, lines: Vec<usize> },
    Overlapping { first: usize, second: usize, line: usize },
}

/// A file after its edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edited {
    pub bytes: Vec<u8>,
    /// Ranges of lines of the new text that are new, from 1, in order.
    pub places: Vec<std::ops::RangeInclusive<usize>>,
}

/// One place where bytes are replaced.
struct Splice {
    edit: usize,
    range: Range<usize>,
    new: Vec<u8>,
}

/// Makes all replacements, each matched against the file as it is, or none.
pub(super) fn apply(file: &[u8], edits: &[Replacement]) -> Result<Edited, Mismatch> {
    let ends = line_ends(file);
    let mut splices = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        splices.extend(find(file, ends, index, edit)?);
    }
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    for pair in splices.windows(2) {
        if let [before, after] = pair
            && after.range.start < before.range.end
        {
            let line = line_of(file, after.range.start);
            let (first, second) = (before.edit.min(after.edit), before.edit.max(after.edit));
            return Err(Mismatch::Overlapping { first, second, line });
        }
    }
    Ok(join(file, &splices))
}

fn join(file: &[u8], splices: &[Splice]) -> Edited {
    let mut bytes = Vec::with_capacity(file.len());
    let mut places = Vec::new();
    let mut from = 0;
    let mut line = 1;
    let count = |part: &[u8]| part.iter().filter(|byte| **byte == b'\n').count();
    for splice in splices {
        let kept = file.get(from..splice.range.start).unwrap_or_default();
        bytes.extend_from_slice(kept);
        line += count(kept);
        let first = line;
        bytes.extend_from_slice(&splice.new);
        line += count(&splice.new);
        // A new text that ends in a line end does not reach into the next line.
        let last = if splice.new.ends_with(b"\n") && line > first { line - 1 } else { line };
        places.push(first..=last);
        from = splice.range.end;
    }
    bytes.extend_from_slice(file.get(from..).unwrap_or_default());
    Edited { bytes, places }
}

/// The places of one edit.
fn find(file: &[u8], ends: LineEnds, index: usize, edit: &Replacement) -> Result<Vec<Splice>, Mismatch> {
    let adapt = |text: &str| match ends {
        LineEnds::Lf => to_lf(text),
        LineEnds::CrLf => to_crlf(text),
        LineEnds::None | LineEnds::Mixed => text.to_owned(),
    };
    let (old, new) = (adapt(&edit.old), adapt(&edit.new));
    let mut starts = occurrences(file, old.as_bytes());
    let mut length = old.len();
    let mut new = new.into_bytes();
    if starts.is_empty() && ends == LineEnds::Mixed {
        // In a file with both kinds the text may stand there with either.
        for (old, replacement) in
            [(to_lf(&edit.old), to_lf(&edit.new)), (to_crlf(&edit.old), to_crlf(&edit.new))]
        {
            let found = occurrences(file, old.as_bytes());
            if !found.is_empty() {
                (starts, length, new) = (found, old.len(), replacement.into_bytes());
                break;
            }
        }
    }
    match (starts.len(), edit.all) {
        (0, _) => Err(Mismatch::NotFound { edit: index }),
        (1, _) | (_, true) => {
            let mut splices: Vec<Splice> = Vec::new();
            for start in starts {
                if splices.last().is_none_or(|before| start >= before.range.end) {
                    splices.push(Splice { edit: index, range: start..start + length, new: new.clone() });
                }
            }
            Ok(splices)
        }
        _ => {
            let lines = starts.iter().map(|start| line_of(file, *start)).collect();
            Err(Mismatch::Ambiguous { edit: index, lines })
        }
    }
}

/// Every place of `needle`, overlapping ones too, up to 1,000.
fn occurrences(file: &[u8], needle: &[u8]) -> Vec<usize> {
    let Some(first) = needle.first() else { return Vec::new() };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = file.get(from..).and_then(|rest| rest.iter().position(|byte| byte == first)) {
        let start = from + at;
        if file.get(start..).is_some_and(|rest| rest.starts_with(needle)) {
            found.push(start);
        }
        from = start + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, all: bool) -> Replacement {
        Replacement { old: old.into(), new: new.into(), all }
    }

    fn check(file: &str, edits: &[Replacement], expected: Result<&str, Mismatch>) {
        let result = apply(file.as_bytes(), edits).map(|edited| String::from_utf8(edited.bytes).unwrap());
        assert_eq!(result, expected.map(str::to_owned));
    }

    #[test]
    fn replacements_are_matched_against_the_file_as_it_is() {
        check("one two\n", &[edit("one", "two", false), edit("two", "three", false)], Ok("two three\n"));
        check("aaaa", &[edit("aa", "b", true)], Ok("bb"));
        check("aaa", &[edit("aa", "b", false)], Err(Mismatch::Ambiguous { edit: 0, lines: vec![1, 1] }));
        check(
            "ab\nc",
            &[edit("ab", "x", false), edit("b\nc", "y", false)],
            Err(Mismatch::Overlapping { first: 0, second: 1, line: 1 }),
        );
        check("a", &[edit("a", "b", false), edit("z", "y", false)], Err(Mismatch::NotFound { edit: 1 }));
        check("a\r\nb\nc\r\n", &[edit("a\nb\nc", "x", false)], Err(Mismatch::NotFound { edit: 0 }));
        check("a\r\nb\r\nc\nd\n", &[edit("a\nb", "x\ny", false)], Ok("x\r\ny\r\nc\nd\n"));
    }

    #[test]
    fn the_places_are_lines_of_the_new_text() {
        let edited = apply(b"1\n2\n3\n4\n", &[edit("1\n", "a\nb\n", false), edit("4", "d", false)]).unwrap();
        assert_eq!(edited.places, [1..=2, 5..=5]);
    }
}
