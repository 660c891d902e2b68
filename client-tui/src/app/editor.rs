//! The input: several lines, readline's keys, undo, and pastes that are shown as one stand-in.

mod edit;
mod layout;
mod motion;

use std::ops::Range;

pub use layout::{EditorRow, EditorRows};

use super::terminal::keys::{Key, KeyCode};

/// A paste is folded above so many lines, or so many characters.
const FOLD_LINES: usize = 20;
const FOLD_CHARS: usize = 2_000;
/// Steps of undo, and the bytes that all of them may hold.
const UNDO_STEPS: usize = 100;
const UNDO_BYTES: usize = 1 << 20;

/// The text, where the cursor is, and what can be undone.
#[derive(Debug, Clone, Default)]
pub struct Editor {
    text: String,
    /// A byte offset on a cluster's border.
    cursor: usize,
    /// Pastes that are shown as stand-ins, in order. The cursor is never inside one.
    folds: Vec<Range<usize>>,
    killed: String,
    undo: Vec<Undo>,
    typing: bool,
    /// The column that Up and Down aim at.
    goal: Option<usize>,
    /// Cells of a row; what Up and Down go by.
    width: usize,
}

#[derive(Debug, Clone)]
struct Undo {
    text: String,
    cursor: usize,
    folds: Vec<Range<usize>>,
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// The text changed.
    Text,
    /// Only the cursor moved, or nothing had to.
    Cursor,
    /// Up on the first row.
    PastTop,
    /// Down on the last row.
    PastBottom,
    /// No key of an editor.
    No,
}

impl Editor {
    /// The whole text, pastes unfolded.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Cells of a row, as it is drawn.
    pub const fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// Another text, with the cursor at its end; it can be undone.
    pub fn set(&mut self, text: &str) {
        self.remember(false);
        self.text = text.to_owned();
        self.folds.clear();
        self.cursor = self.text.len();
        self.goal = None;
    }

    /// Empties it, and gives what was there.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        let killed = std::mem::take(&mut self.killed);
        *self = Self { killed, width: self.width, ..Self::default() };
        text
    }

    /// Adds pasted text; a long one as a stand-in.
    pub fn paste(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.remember(false);
        let start = self.cursor;
        self.insert(text);
        if text.lines().count() > FOLD_LINES || text.chars().nth(FOLD_CHARS).is_some() {
            let fold = start..start + text.len();
            let at = self.folds.partition_point(|one| one.start < fold.start);
            self.folds.insert(at, fold);
        }
    }

    /// Shows the paste that the cursor stands on as text; `false` where there is none.
    pub fn unfold(&mut self) -> bool {
        let near = self.folds.iter().position(|fold| fold.start == self.cursor);
        near.map(|at| self.folds.remove(at)).is_some()
    }

    /// Replaces a backslash before the cursor by a new line; `false` where there is none.
    pub fn continue_line(&mut self) -> bool {
        if !self.text[..self.cursor].ends_with('\\') {
            return false;
        }
        self.remember(false);
        self.remove(self.cursor - 1..self.cursor);
        self.insert("\n");
        true
    }

    /// Starts a new line.
    pub fn new_line(&mut self) {
        self.remember(false);
        self.insert("\n");
    }

    /// One key of readline, or of an editor.
    pub fn key(&mut self, key: Key) -> Edited {
        let vertical = matches!(key.code, KeyCode::Up | KeyCode::Down)
            || (key.ctrl && matches!(key.code, KeyCode::Char('p' | 'n')));
        if !vertical {
            self.goal = None;
        }
        let edited = self.dispatch(key);
        self.typing = edited == Edited::Text && key.typed().is_some_and(|c| !c.is_whitespace());
        edited
    }

    fn dispatch(&mut self, key: Key) -> Edited {
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Char(c), false, false) => self.type_char(c),
            (KeyCode::Char(c), true, false) => self.ctrl(c),
            (KeyCode::Char(c), false, true) => self.alt(c),
            (KeyCode::Backspace, _, true) => self.kill(self.word_left()..self.cursor),
            (KeyCode::Backspace, ..) => self.delete(self.left()..self.cursor),
            (KeyCode::Delete, ..) => self.delete(self.cursor..self.right()),
            (KeyCode::Left, false, false) => self.go(self.left()),
            (KeyCode::Right, false, false) => self.go(self.right()),
            (KeyCode::Left, ..) => self.go(self.word_left()),
            (KeyCode::Right, ..) => self.go(self.word_right()),
            (KeyCode::Home, ..) => self.go(self.line_start()),
            (KeyCode::End, ..) => self.go(self.line_end()),
            (KeyCode::Up, ..) => self.vertical(-1),
            (KeyCode::Down, ..) => self.vertical(1),
            _ => Edited::No,
        }
    }

    fn ctrl(&mut self, c: char) -> Edited {
        match c {
            'a' => self.go(self.line_start()),
            'e' => self.go(self.line_end()),
            'b' => self.go(self.left()),
            'f' => self.go(self.right()),
            'p' => self.vertical(-1),
            'n' => self.vertical(1),
            'd' => self.delete(self.cursor..self.right()),
            'k' => self.kill(self.cursor..self.kill_end()),
            'u' => self.kill(self.line_start()..self.cursor),
            'w' => self.kill(self.space_left()..self.cursor),
            'y' => self.yank(),
            'j' => {
                self.new_line();
                Edited::Text
            }
            '_' | '/' => self.undo(),
            _ => Edited::No,
        }
    }

    fn alt(&mut self, c: char) -> Edited {
        match c {
            'b' => self.go(self.word_left()),
            'f' => self.go(self.word_right()),
            'd' => self.kill(self.cursor..self.word_right()),
            _ => Edited::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::terminal::keys::Input;
    use crate::app::terminal::parse::Parser;

    /// Types `bytes` as a terminal sends them; `|` in `expected` is the cursor.
    fn check(start: &str, bytes: &str, expected: &str) {
        let mut editor = Editor::default();
        editor.set_width(20);
        editor.set(start);
        let mut parser = Parser::default();
        let mut inputs = parser.feed(bytes.as_bytes());
        inputs.extend(parser.flush());
        for input in inputs {
            match input {
                Input::Key(key) => drop(editor.key(key)),
                Input::Paste(text) => editor.paste(&text),
                Input::Wheel(_) => {}
            }
        }
        let mut shown = editor.text.clone();
        shown.insert(editor.cursor, '|');
        assert_eq!(shown, expected, "{start:?} {bytes:?}");
    }

    #[test]
    fn keys_do_what_readline_does() {
        check("", "hello world\x01X", "X|hello world");
        check("one two  three", "\x17", "one two  |");
        check("src/a.cpp b", "\x1bb\x1bb", "src/a.|cpp b");
        check("one two", "\x15\x19\x19", "one twoone two|");
        check("one two", "\x01\x0b", "|");
        check("a\nb", "\x01\x0b\x0b", "a\n|");
        check("a\nb", "\x1b[A\x0b", "a|b");
        check("one two", "\x01\x1bd", "| two");
        check("ab", "\x02\x02\x04", "|b");
        check("e\u{301}x", "\x7f\x7f", "|");
        check("👨\u{200d}👩\u{200d}👧", "\x7f", "|");
        check("one", " two\x1f", "one |");
        check("", "\x1b[200~a\rb\x1b[201~\x1f", "|");
    }

    #[test]
    fn up_and_down_keep_the_column_and_tell_the_ends() {
        check("long line\nx\nlong line", "\x1b[A\x1b[A", "long line|\nx\nlong line");
        let mut editor = Editor::default();
        editor.set_width(5);
        editor.set("1234567890");
        let up = Key::plain(KeyCode::Up);
        assert_eq!(editor.key(up), Edited::Cursor);
        assert_eq!(editor.key(up), Edited::Cursor);
        assert_eq!(editor.key(up), Edited::PastTop);
        assert_eq!(Editor::default().key(Key::plain(KeyCode::Down)), Edited::PastBottom);
    }

    #[test]
    fn a_long_paste_is_one_stand_in_that_is_kept_whole() {
        let text: String = (0..214).map(|n| format!("line {n}\n")).collect();
        let mut editor = Editor::default();
        editor.set_width(40);
        editor.key(Key::plain(KeyCode::Char('>')));
        editor.paste(&text);
        editor.key(Key::plain(KeyCode::Char('!')));
        assert_eq!(editor.text(), format!(">{text}!"));
        assert_eq!(editor.rows("…").rows[0].text, ">[pasted 214 lines]!");
        editor.key(Key::plain(KeyCode::Left));
        editor.key(Key::plain(KeyCode::Left));
        assert_eq!(editor.cursor, 1);
        assert!(editor.unfold());
        assert!(editor.rows("…").rows.len() > 200);
        editor.key(Key::ctrl('k'));
        editor.key(Key::ctrl('_'));
        assert_eq!(editor.text(), format!(">{text}!"));
    }
}
