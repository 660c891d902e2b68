//! The text of `$'…'` (bash(1), QUOTING).

/// Decodes the inside of `$'…'`. `None` where the result is no UTF-8 text or holds a NUL.
pub(super) fn decode(raw: &str) -> Option<String> {
    let mut out: Vec<u8> = Vec::with_capacity(raw.len());
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            push(&mut out, c);
            continue;
        }
        let Some(escape) = rest.next() else {
            out.push(b'\\');
            break;
        };
        match escape {
            'a' => out.push(7),
            'b' => out.push(8),
            'e' | 'E' => out.push(27),
            'f' => out.push(12),
            'n' => out.push(b'\n'),
            'r' => out.push(b'\r'),
            't' => out.push(b'\t'),
            'v' => out.push(11),
            '\\' | '\'' | '"' | '?' => push(&mut out, escape),
            'x' => out.push(u8::try_from(digits(&mut rest, 16, 2)? & 0xff).ok()?),
            'u' => push(&mut out, char::from_u32(digits(&mut rest, 16, 4)?)?),
            'U' => push(&mut out, char::from_u32(digits(&mut rest, 16, 8)?)?),
            '0'..='7' => {
                let first = escape.to_digit(8)?;
                let value = more_octal(&mut rest, first);
                out.push(u8::try_from(value & 0xff).ok()?);
            }
            'c' => return None,
            other => {
                out.push(b'\\');
                push(&mut out, other);
            }
        }
    }
    // bash ends the string at a NUL; nobody writes that honestly.
    if out.contains(&0) {
        return None;
    }
    String::from_utf8(out).ok()
}

fn push(out: &mut Vec<u8>, c: char) {
    let mut buffer = [0; 4];
    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
}

fn digits(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, max: usize) -> Option<u32> {
    let mut value: Option<u32> = None;
    for _ in 0..max {
        let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = Some(value.unwrap_or(0).checked_mul(radix)?.checked_add(digit)?);
        rest.next();
    }
    value
}

fn more_octal(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, first: u32) -> u32 {
    let mut value = first;
    for _ in 0..2 {
        let Some(digit) = rest.peek().and_then(|c| c.to_digit(8)) else { break };
        value = value * 8 + digit;
        rest.next();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_are_those_of_bash() {
        for (raw, expected) in
            [(r"rm\x41", "rmA"), (r"a\'b", "a'b"), (r"\101\n", "A\n"), (r"\u00e9", "é"), (r"\q", r"\q")]
        {
            assert_eq!(decode(raw).as_deref(), Some(expected), "{raw}");
        }
        for raw in [r"\xff", r"\0", r"\ca"] {
            assert_eq!(decode(raw), None, "{raw}");
        }
    }
}
