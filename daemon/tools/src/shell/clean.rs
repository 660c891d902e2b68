//! Output as text: colour, progress and control characters taken out.

/// Output of a command as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Clean {
    Text(String),
    /// Not text: only its size is told.
    Binary,
}

/// Makes text of raw output. Sequences of ECMA-48 go, a line that was drawn over keeps its last state, and
/// what is no text is said to be binary.
pub(crate) fn clean(bytes: &[u8]) -> Clean {
    if is_binary(bytes) {
        return Clean::Binary;
    }
    let text = String::from_utf8_lossy(bytes);
    let bare = without_sequences(&text);
    let mut out = String::with_capacity(bare.len());
    for (index, line) in bare.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_line(&mut out, line);
    }
    Clean::Text(out)
}

fn is_binary(bytes: &[u8]) -> bool {
    let sample = bytes.get(..bytes.len().min(64 * 1024)).unwrap_or(bytes);
    if sample.contains(&0) {
        return true;
    }
    // Text in an old 8-bit encoding has some bytes that are not UTF-8, noise has many.
    let bad: usize = sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    bad * 10 > sample.len() && bad > 8
}

/// What a line shows after carriage returns and backspaces.
fn push_line(out: &mut String, line: &str) {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let last = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or("");
    let start = out.len();
    for c in last.chars() {
        match c {
            '\u{8}' => {
                if out.len() > start {
                    out.pop();
                }
            }
            '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
}

/// Removes escape sequences: CSI, OSC and other strings, and two-character ones.
fn without_sequences(text: &str) -> String {
    if !text.contains(['\u{1b}', '\u{9b}', '\u{9d}']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => skip_csi(&mut chars),
                Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&mut chars),
                Some('(' | ')' | '*' | '+' | '#' | ' ' | '%') => {
                    chars.next();
                }
                // A lone escape before a line end must not join two lines.
                Some('\n') => out.push('\n'),
                _ => {}
            },
            '\u{9b}' => skip_csi(&mut chars),
            '\u{9d}' => skip_string(&mut chars),
            c => out.push(c),
        }
    }
    out
}

fn skip_csi(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = chars.peek().copied() {
        // Parameters and intermediates, then one final byte; anything else is not part of the sequence.
        if !matches!(c, ' '..='~') {
            return;
        }
        chars.next();
        if matches!(c, '@'..='~') {
            return;
        }
    }
}

fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = chars.peek().copied() {
        // An unfinished string ends with its line, so that it cannot swallow the output.
        if c == '\n' {
            return;
        }
        chars.next();
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                if chars.peek() == Some(&'\\') {
                    chars.next();
                }
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &str) {
        assert_eq!(clean(raw.as_bytes()), Clean::Text(expected.to_owned()));
    }

    #[test]
    fn colour_progress_and_titles_go() {
        check("\x1b[1;31merror\x1b[0m: x\n", "error: x\n");
        check("10%\r20%\r100%\ndone\r\n", "100%\ndone\n");
        check("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\n", "ab\n");
        check("ab\x08c\x07\n", "ac\n");
        check("a\x1b", "a");
        check("a\x1b]open\nb", "a\nb");
    }

    #[test]
    fn noise_is_binary_and_latin_1_is_not() {
        assert_eq!(clean(b"\x7fELF\0\0"), Clean::Binary);
        let noise: Vec<u8> = (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
        assert_eq!(clean(&noise), Clean::Binary);
        assert!(matches!(clean(b"caf\xe9 au lait, a long line of text\n"), Clean::Text(_)));
    }
}
