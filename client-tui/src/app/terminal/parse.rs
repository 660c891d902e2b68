//! Bytes of a terminal to keys and pastes.
//!
//! Sequences may be cut anywhere between two reads: what is not whole waits. A lone Escape is only told
//! from the beginning of a sequence by time, so the caller calls [`Parser::flush`] when nothing followed
//! within [`ESCAPE_MS`]. Sources: ECMA-48 (CSI), xterm's ctlseqs (modifiers, mouse, paste), the kitty
//! keyboard protocol (`CSI code ; modifiers u`).

use super::keys::{Input, Key, KeyCode};

/// How long a lone Escape waits for the rest of a sequence, in milliseconds.
pub const ESCAPE_MS: i64 = 40;

const PASTE_END: &[u8] = b"\x1b[201~";
/// A sequence that is longer is none.
const MAX_SEQUENCE: usize = 256;
/// Rows that one step of the wheel scrolls.
const WHEEL_ROWS: i32 = 3;

/// Keeps what is not whole yet.
#[derive(Debug, Default)]
pub struct Parser {
    pending: Vec<u8>,
    /// The bytes of a paste so far.
    paste: Option<Vec<u8>>,
}

/// What the beginning of the pending bytes is.
enum Step {
    /// So many bytes were something, or nothing that is known.
    Took(usize, Option<Input>),
    /// A paste begins after so many bytes.
    Paste(usize),
    /// More bytes are needed.
    Wait,
}

impl Parser {
    /// Takes bytes, and gives what became whole.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        let mut out = Vec::new();
        let mut bytes = bytes;
        if self.paste.is_some() {
            bytes = self.take_paste(bytes, &mut out);
        }
        self.pending.extend_from_slice(bytes);
        self.take_pending(&mut out);
        out
    }

    /// Whether something waits that only time can decide.
    pub fn waits(&self) -> bool {
        self.paste.is_none() && !self.pending.is_empty()
    }

    /// Nothing more came: a lone Escape is the key; other beginnings are Alt with a character, or dropped.
    pub fn flush(&mut self) -> Vec<Input> {
        let pending = std::mem::take(&mut self.pending);
        let key = match pending.as_slice() {
            [0x1b] => Some(Key::plain(KeyCode::Esc)),
            [0x1b, c @ (b'[' | b'O' | b']' | b'P')] => {
                Some(Key { alt: true, ..Key::plain(KeyCode::Char(char::from(*c))) })
            }
            _ => None,
        };
        key.map(Input::Key).into_iter().collect()
    }

    fn take_pending(&mut self, out: &mut Vec<Input>) {
        let mut at = 0;
        while at < self.pending.len() {
            match step(&self.pending[at..]) {
                Step::Took(length, input) => {
                    out.extend(input);
                    at += length;
                }
                Step::Wait => break,
                Step::Paste(length) => {
                    let rest = self.pending.split_off(at + length);
                    self.pending.clear();
                    self.paste = Some(Vec::new());
                    let after = self.take_paste(&rest, out).to_vec();
                    self.pending = after;
                    at = 0;
                }
            }
        }
        self.pending.drain(..at.min(self.pending.len()));
    }

    /// Adds to the paste; gives what comes after its end.
    fn take_paste<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Input>) -> &'a [u8] {
        let Some(paste) = &mut self.paste else { return bytes };
        // The end marker may have been cut: look again at the last bytes that were there before.
        let from = paste.len().saturating_sub(PASTE_END.len() - 1);
        let before = paste.len();
        paste.extend_from_slice(bytes);
        let found = paste[from..].windows(PASTE_END.len()).position(|window| window == PASTE_END);
        let Some(found) = found.map(|at| from + at) else { return &[] };
        let used = found + PASTE_END.len() - before;
        paste.truncate(found);
        out.push(Input::Paste(pasted(paste)));
        self.paste = None;
        bytes.get(used..).unwrap_or_default()
    }
}

fn pasted(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n")
}

fn step(bytes: &[u8]) -> Step {
    match bytes[0] {
        0x1b => escape(bytes),
        byte @ (0..=0x1f | 0x7f) => Step::Took(1, Some(Input::Key(control(byte)))),
        _ => character(bytes),
    }
}

fn control(byte: u8) -> Key {
    match byte {
        0x0d => Key::plain(KeyCode::Enter),
        0x09 => Key::plain(KeyCode::Tab),
        0x7f | 0x08 => Key::plain(KeyCode::Backspace),
        0x00 => Key::ctrl(' '),
        0x01..=0x1a => Key::ctrl(char::from(byte - 1 + b'a')),
        _ => Key::ctrl(char::from(byte - 0x1c + b'\\')),
    }
}

fn character(bytes: &[u8]) -> Step {
    let length = match bytes[0] {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Step::Took(1, Some(typed(char::REPLACEMENT_CHARACTER))),
    };
    let there = &bytes[..length.min(bytes.len())];
    match std::str::from_utf8(there) {
        Ok(text) => Step::Took(length, text.chars().next().map(typed)),
        // Cut between two reads.
        Err(error) if error.error_len().is_none() => Step::Wait,
        Err(error) => {
            Step::Took(error.error_len().unwrap_or(1).max(1), Some(typed(char::REPLACEMENT_CHARACTER)))
        }
    }
}

fn typed(c: char) -> Input {
    Input::Key(Key::plain(KeyCode::Char(c)))
}

fn escape(bytes: &[u8]) -> Step {
    match bytes.get(1) {
        None => Step::Wait,
        Some(b'[') => csi(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Step::Wait,
            Some(byte) => Step::Took(3, letter(*byte, 1).map(Input::Key)),
        },
        Some(b']' | b'P' | b'_' | b'^') => string(bytes),
        Some(0x1b) => Step::Took(1, Some(Input::Key(Key::plain(KeyCode::Esc)))),
        Some(_) => match step(&bytes[1..]) {
            Step::Took(length, Some(Input::Key(key))) => {
                Step::Took(length + 1, Some(Input::Key(Key { alt: true, ..key })))
            }
            Step::Took(length, _) => Step::Took(length + 1, None),
            other => other,
        },
    }
}

/// The answer of a terminal to a question: up to BEL or ST; nobody here asked.
fn string(bytes: &[u8]) -> Step {
    let end = bytes.iter().position(|byte| *byte == 0x07).map(|at| at + 1);
    let end = end.or_else(|| bytes.windows(2).skip(1).position(|pair| pair == b"\x1b\\").map(|at| at + 3));
    match end {
        Some(length) => Step::Took(length, None),
        None if bytes.len() > MAX_SEQUENCE => Step::Took(bytes.len(), None),
        None => Step::Wait,
    }
}

fn csi(bytes: &[u8]) -> Step {
    let body = &bytes[2..];
    let Some(end) = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else {
        return if bytes.len() > MAX_SEQUENCE { Step::Took(bytes.len(), None) } else { Step::Wait };
    };
    let last = body[end];
    if !matches!(last, 0x40..=0x7e) {
        // Not a sequence: what broke it is looked at by itself.
        return Step::Took(2 + end, None);
    }
    let length = 2 + end + 1;
    let params = &body[..end];
    if params == b"200" && last == b'~' {
        return Step::Paste(length);
    }
    Step::Took(length, meaning(params, last))
}

fn meaning(params: &[u8], last: u8) -> Option<Input> {
    if let Some(mouse) = params.strip_prefix(b"<") {
        return wheel(mouse, last);
    }
    if params.iter().any(|byte| matches!(byte, b'?' | b'>' | b'=')) {
        return None;
    }
    let numbers = numbers(params);
    let first = numbers.first().copied().unwrap_or(1);
    let modifiers = numbers.get(1).copied().unwrap_or(1);
    let key = match last {
        b'u' => character_key(first, modifiers),
        b'~' if first == 27 => numbers.get(2).and_then(|code| character_key(*code, modifiers)),
        b'~' => tilde(first).map(|code| held(code, modifiers)),
        b'Z' => Some(Key::plain(KeyCode::BackTab)),
        other => letter(other, modifiers),
    };
    key.map(Input::Key)
}

/// Numbers between semicolons; of `a:b` the first.
fn numbers(params: &[u8]) -> Vec<u32> {
    let number = |part: &[u8]| {
        let first = part.split(|byte| *byte == b':').next().unwrap_or_default();
        std::str::from_utf8(first).ok().and_then(|text| text.parse().ok()).unwrap_or(1)
    };
    params.split(|byte| *byte == b';').map(number).collect()
}

/// Modifiers are 1 plus a set: 1 shift, 2 alt, 4 ctrl.
const fn held(code: KeyCode, modifiers: u32) -> Key {
    let set = modifiers.saturating_sub(1);
    Key { code, shift: set & 1 != 0, alt: set & 2 != 0, ctrl: set & 4 != 0 }
}

fn letter(byte: u8, modifiers: u32) -> Option<Key> {
    let code = match byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::F(byte - b'P' + 1),
        _ => return None,
    };
    Some(held(code, modifiers))
}

fn tilde(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(u8::try_from(number - 10).ok()?),
        17..=21 => KeyCode::F(u8::try_from(number - 11).ok()?),
        23 | 24 => KeyCode::F(u8::try_from(number - 12).ok()?),
        _ => return None,
    })
}

fn character_key(code: u32, modifiers: u32) -> Option<Key> {
    let code = match code {
        13 => KeyCode::Enter,
        9 if modifiers.saturating_sub(1) & 1 != 0 => KeyCode::BackTab,
        9 => KeyCode::Tab,
        27 => KeyCode::Esc,
        8 | 127 => KeyCode::Backspace,
        // Keys of the keypad and media keys are in the private use area.
        57344..=63743 => return None,
        other => KeyCode::Char(char::from_u32(other).filter(|c| !c.is_control())?),
    };
    let key = held(code, modifiers);
    Some(match key.code {
        // The protocol reports the unshifted character.
        KeyCode::Char(c) if key.shift && !key.ctrl => {
            Key { code: KeyCode::Char(c.to_uppercase().next().unwrap_or(c)), shift: false, ..key }
        }
        _ => key,
    })
}

/// `CSI < button ; x ; y M`: 64 and 65 are the wheel.
fn wheel(params: &[u8], last: u8) -> Option<Input> {
    let button = numbers(params).first().copied()?;
    match (button & !0b1_1100, last) {
        (64, b'M') => Some(Input::Wheel(-WHEEL_ROWS)),
        (65, b'M') => Some(Input::Wheel(WHEEL_ROWS)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(reads: &[&str]) -> Vec<Input> {
        let mut parser = Parser::default();
        let mut out: Vec<Input> = reads.iter().flat_map(|read| parser.feed(read.as_bytes())).collect();
        out.extend(parser.flush());
        out
    }

    fn check(reads: &[&str], expected: &[Key]) {
        let expected: Vec<Input> = expected.iter().map(|key| Input::Key(*key)).collect();
        assert_eq!(keys(reads), expected, "{reads:?}");
    }

    const fn alt(c: char) -> Key {
        Key { alt: true, ..Key::plain(KeyCode::Char(c)) }
    }

    #[test]
    fn keys_are_read_in_every_form_that_terminals_send() {
        let plain = Key::plain;
        check(
            &["a\r\t\x7f\x03\x1f"],
            &[
                plain(KeyCode::Char('a')),
                plain(KeyCode::Enter),
                plain(KeyCode::Tab),
                plain(KeyCode::Backspace),
                Key::ctrl('c'),
                Key::ctrl('_'),
            ],
        );
        check(
            &["\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[Z"],
            &[
                plain(KeyCode::Up),
                plain(KeyCode::Down),
                Key { ctrl: true, ..plain(KeyCode::Right) },
                plain(KeyCode::Delete),
                plain(KeyCode::BackTab),
            ],
        );
        check(&["\x1bb\x1b\r"], &[alt('b'), Key { alt: true, ..plain(KeyCode::Enter) }]);
        check(
            &["\x1b[13;2u\x1b[99;5u\x1b[27u\x1b[97;2u"],
            &[
                Key { shift: true, ..plain(KeyCode::Enter) },
                Key::ctrl('c'),
                plain(KeyCode::Esc),
                plain(KeyCode::Char('A')),
            ],
        );
        check(&["\x1b[27;2;13~"], &[Key { shift: true, ..plain(KeyCode::Enter) }]);
        check(&["\x1b[?1u\x1b]11;rgb:0/0/0\x1b\\\x1b[Ix"], &[plain(KeyCode::Char('x'))]);
        assert_eq!(keys(&["\x1b[<64;3;4M\x1b[<65;3;4M"]), [Input::Wheel(-3), Input::Wheel(3)]);
    }

    #[test]
    fn sequences_and_characters_may_be_cut_anywhere() {
        check(&["\x1b", "[A"], &[Key::plain(KeyCode::Up)]);
        check(&["\x1b"], &[Key::plain(KeyCode::Esc)]);
        check(&["\x1b\x1b"], &[Key::plain(KeyCode::Esc), Key::plain(KeyCode::Esc)]);
        check(&["\x1b["], &[alt('[')]);
        let mut parser = Parser::default();
        let bytes = "你".as_bytes();
        assert_eq!(parser.feed(&bytes[..1]), []);
        assert_eq!(parser.feed(&bytes[1..]), [Input::Key(Key::plain(KeyCode::Char('你')))]);
        assert_eq!(parser.feed(&[0xff, b'a']).len(), 2);
    }

    #[test]
    fn what_follows_a_paste_is_typing() {
        assert_eq!(
            keys(&["\x1b[200~a\x1b[201~\r\x1b[200~b\x1b[201~"]),
            [Input::Paste("a".into()), Input::Key(Key::plain(KeyCode::Enter)), Input::Paste("b".into()),]
        );
        assert_eq!(
            keys(&["\x1b[20", "0~he", "llo\x1b[2", "01~x"]),
            [Input::Paste("hello".into()), Input::Key(Key::plain(KeyCode::Char('x'))),]
        );
    }
}
