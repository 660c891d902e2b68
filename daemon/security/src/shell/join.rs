//! Joins lines that end in a backslash, where bash does so before it looks at anything else.

use std::borrow::Cow;

/// Removes each backslash-newline that is outside every quote, comment and substitution.
///
/// The parser takes `$\⏎(cmd)` for text while bash joins it to `$(cmd)`. Texts with a here-document are
/// left alone: in its body other rules hold, and a guard refuses what is left.
pub(super) fn join_lines(text: &str) -> Cow<'_, str> {
    if !text.contains("\\\n") || text.contains("<<") {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            b'\\' => at = copy(&mut out, bytes, at, at + 2),
            b'$' if bytes.get(at + 1) == Some(&b'\'') => {
                let end = ansi_end(bytes, at + 2);
                at = copy(&mut out, bytes, at, end);
            }
            b'\'' => {
                let end = find(bytes, at + 1, b'\'');
                at = copy(&mut out, bytes, at, end);
            }
            b'#' if word_start(&out) => {
                let line = bytes[at..].iter().position(|byte| *byte == b'\n');
                at = copy(&mut out, bytes, at, line.map_or(bytes.len(), |length| at + length));
            }
            // From here on other rules hold until a bracket closes: leave the rest as it is.
            b'"' | b'`' | b'(' | b'{' => {
                let end = if bytes[at] == b'"' { plain_double_end(bytes, at) } else { None };
                match end {
                    Some(end) => at = copy(&mut out, bytes, at, end),
                    None => at = copy(&mut out, bytes, at, bytes.len()),
                }
            }
            _ => at = copy(&mut out, bytes, at, at + 1),
        }
    }
    match String::from_utf8(out) {
        Ok(joined) => Cow::Owned(joined),
        Err(_) => Cow::Borrowed(text),
    }
}

fn copy(out: &mut Vec<u8>, bytes: &[u8], from: usize, to: usize) -> usize {
    let to = to.min(bytes.len());
    out.extend_from_slice(&bytes[from..to]);
    to
}

/// The position behind the next `wanted`, or the end.
fn find(bytes: &[u8], from: usize, wanted: u8) -> usize {
    bytes[from..].iter().position(|byte| *byte == wanted).map_or(bytes.len(), |at| from + at + 1)
}

fn ansi_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a double-quoted string that holds no substitution; `None` otherwise.
fn plain_double_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'\n') => return None,
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            b'`' => return None,
            b'$' if matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'[')) => return None,
            _ => at += 1,
        }
    }
    None
}

/// Whether a `#` after `out` would start a comment.
fn word_start(out: &[u8]) -> bool {
    out.last().is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')'))
}

#[cfg(test)]
mod tests {
    use super::join_lines;

    #[test]
    fn only_pairs_outside_quotes_go() {
        for (text, expected) in [
            ("r\\\nm x", "rm x"),
            ("echo a\\\n#b; c", "echo a#b; c"),
            ("echo '\\\n'", "echo '\\\n'"),
            (": # a \\\nb", ": # a \\\nb"),
            ("cmake \\\n -B \"b\" \\\n .", "cmake  -B \"b\"  ."),
            ("cat <<E\\\nOF", "cat <<E\\\nOF"),
        ] {
            assert_eq!(join_lines(text), expected);
        }
    }
}
