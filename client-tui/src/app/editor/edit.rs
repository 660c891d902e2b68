//! Changing the text, with undo.

use std::ops::Range;

use super::{Edited, Editor, UNDO_BYTES, UNDO_STEPS, Undo};

impl Editor {
    /// Keeps the state for undo. Characters typed in a row are one step.
    pub(super) fn remember(&mut self, typing: bool) {
        if typing && self.typing {
            return;
        }
        self.undo.push(Undo { text: self.text.clone(), cursor: self.cursor, folds: self.folds.clone() });
        let mut bytes: usize = self.undo.iter().map(|one| one.text.len()).sum();
        let mut drop = self.undo.len().saturating_sub(UNDO_STEPS);
        while bytes > UNDO_BYTES && drop + 1 < self.undo.len() {
            bytes -= self.undo[drop].text.len();
            drop += 1;
        }
        self.undo.drain(..drop);
    }

    pub(super) fn undo(&mut self) -> Edited {
        let Some(undo) = self.undo.pop() else { return Edited::Cursor };
        (self.text, self.cursor, self.folds) = (undo.text, undo.cursor, undo.folds);
        Edited::Text
    }

    pub(super) fn type_char(&mut self, c: char) -> Edited {
        self.remember(true);
        self.insert(c.encode_utf8(&mut [0; 4]));
        Edited::Text
    }

    /// Inserts at the cursor, which goes behind it.
    pub(super) fn insert(&mut self, text: &str) {
        let at = self.cursor;
        self.text.insert_str(at, text);
        for fold in self.folds.iter_mut().filter(|fold| fold.start >= at) {
            *fold = fold.start + text.len()..fold.end + text.len();
        }
        self.cursor += text.len();
        self.goal = None;
    }

    /// Removes a range whose ends are not inside a fold.
    pub(super) fn remove(&mut self, range: Range<usize>) {
        let length = range.len();
        self.text.drain(range.clone());
        self.folds.retain(|fold| fold.end <= range.start || fold.start >= range.end);
        for fold in self.folds.iter_mut().filter(|fold| fold.start >= range.end) {
            *fold = fold.start - length..fold.end - length;
        }
        self.cursor = range.start;
    }

    pub(super) fn delete(&mut self, range: Range<usize>) -> Edited {
        if range.is_empty() {
            return Edited::Cursor;
        }
        self.remember(false);
        self.remove(range);
        Edited::Text
    }

    /// As [`Editor::delete`]; ^Y brings it back.
    pub(super) fn kill(&mut self, range: Range<usize>) -> Edited {
        if !range.is_empty() {
            self.text[range.clone()].clone_into(&mut self.killed);
        }
        self.delete(range)
    }

    pub(super) fn yank(&mut self) -> Edited {
        if self.killed.is_empty() {
            return Edited::Cursor;
        }
        self.remember(false);
        let killed = self.killed.clone();
        self.insert(&killed);
        Edited::Text
    }
}
