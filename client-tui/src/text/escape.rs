//! The filter for text of tools, models and file names: nothing of it is executed by a terminal.

/// Bidirectional controls and other characters that hide or reorder text (Unicode TR 36).
const fn is_hidden(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{2028}' | '\u{2029}')
        // A zero-width joiner belongs to emoji and scripts.
        && c != '\u{200d}'
        && c != '\u{200c}'
}

/// Text of several lines: keeps line ends and tabs, drops colours, lets `\r` overwrite its line, and
/// shows every other control as an escape (`\u{1b}`).
pub fn visible_block(text: &str) -> String {
    let text = without_colours(text);
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let shown = line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or("");
        push_visible(&mut out, shown);
    }
    out
}

/// Text for one line: as [`visible_block`], with line ends as spaces.
pub fn visible_line(text: &str) -> String {
    visible_block(text)
        .split('\n')
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join(" ")
        .replace('\t', " ")
        .trim()
        .to_owned()
}

fn push_visible(out: &mut String, text: &str) {
    for c in text.chars() {
        if (c.is_control() && c != '\t') || is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
}

/// Removes SGR sequences (`ESC [ … m`); others stay, to be shown as escapes.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let (before, sequence) = rest.split_at(at);
        out.push_str(before);
        let body = &sequence[2..];
        let end = body.find(|c: char| !matches!(c, '0'..='9' | ';' | ':')).unwrap_or(body.len());
        match body[end..].strip_prefix('m') {
            Some(after) => rest = after,
            None => {
                out.push_str(&sequence[..2]);
                rest = body;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(visible_block(text), expected, "{text:?}");
    }

    #[test]
    fn nothing_that_a_terminal_executes_is_left() {
        check(
            "ok\x1b[2J\x1b[H\x1b]0;t\x07\u{9b}31mred",
            "ok\\u{1b}[2J\\u{1b}[H\\u{1b}]0;t\\u{7}\\u{9b}31mred",
        );
        check("\x1b[1;31mred\x1b[0m and \x1b[38:2::1:2:3mmore\x1b[m", "red and more");
        check("src/\u{202e}gnp.exe", "src/\\u{202e}gnp.exe");
        check("10%\r20%\r100%\nnext\r\n", "100%\nnext\n");
        check("cut \x1b[3", "cut \\u{1b}[3");
        check("👨\u{200d}👩\ttab", "👨\u{200d}👩\ttab");
        assert_eq!(visible_line("a\n  b\tc\n"), "a   b c");
    }
}
