//! Where the cursor goes. A folded paste is one step.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use super::{Edited, Editor};

impl Editor {
    pub(super) fn go(&mut self, to: usize) -> Edited {
        self.cursor = to;
        Edited::Cursor
    }

    pub(super) fn left(&self) -> usize {
        if let Some(fold) = self.folds.iter().find(|fold| fold.end == self.cursor) {
            return fold.start;
        }
        // A cluster of two characters may begin far before; the whole text is there, so it is always found.
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0)
    }

    pub(super) fn right(&self) -> usize {
        if let Some(fold) = self.folds.iter().find(|fold| fold.start == self.cursor) {
            return fold.end;
        }
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }

    pub(super) fn line_start(&self) -> usize {
        let from = self.unfolded_before();
        self.text[from..self.cursor]
            .rfind('\n')
            .map_or_else(|| self.start_over_folds(from), |at| from + at + 1)
    }

    /// The end of the last fold before the cursor.
    fn unfolded_before(&self) -> usize {
        self.folds.iter().rev().map(|fold| fold.end).find(|end| *end <= self.cursor).unwrap_or(0)
    }

    /// A fold is part of its line: goes on before it.
    fn start_over_folds(&self, from: usize) -> usize {
        let Some(fold) = self.folds.iter().find(|fold| fold.end == from && from > 0) else { return from };
        let before = self.folds.iter().rev().map(|one| one.end).find(|end| *end <= fold.start).unwrap_or(0);
        self.text[before..fold.start]
            .rfind('\n')
            .map_or_else(|| self.start_over_folds(before), |at| before + at + 1)
    }

    pub(super) fn line_end(&self) -> usize {
        let mut from = self.cursor;
        loop {
            let fold = self.folds.iter().find(|fold| fold.start >= from);
            let to = fold.map_or(self.text.len(), |fold| fold.start);
            match (self.text[from..to].find('\n'), fold) {
                (Some(at), _) => return from + at,
                (None, Some(fold)) => from = fold.end,
                (None, None) => return to,
            }
        }
    }

    /// ^K kills to the end of the line, and at its end the line's end.
    pub(super) fn kill_end(&self) -> usize {
        let end = self.line_end();
        if end == self.cursor { self.right() } else { end }
    }

    /// Back to the beginning of a word of letters and digits.
    pub(super) fn word_left(&self) -> usize {
        self.back_while(|c| !c.is_alphanumeric(), char::is_alphanumeric)
    }

    /// Back to a space.
    pub(super) fn space_left(&self) -> usize {
        self.back_while(char::is_whitespace, |c| !c.is_whitespace())
    }

    fn back_while(&self, skip: impl Fn(char) -> bool, word: impl Fn(char) -> bool) -> usize {
        if let Some(fold) = self.folds.iter().find(|fold| fold.end == self.cursor) {
            return fold.start;
        }
        let from = self.unfolded_before();
        let rest = self.text[from..self.cursor].trim_end_matches(&skip);
        from + rest.trim_end_matches(&word).len()
    }

    pub(super) fn word_right(&self) -> usize {
        if let Some(fold) = self.folds.iter().find(|fold| fold.start == self.cursor) {
            return fold.end;
        }
        let to = self
            .folds
            .iter()
            .map(|fold| fold.start)
            .find(|start| *start > self.cursor)
            .unwrap_or(self.text.len());
        let text = &self.text[self.cursor..to];
        let rest =
            text.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_start_matches(char::is_alphanumeric);
        to - rest.len()
    }

    /// One row up or down, as it is drawn.
    pub(super) fn vertical(&mut self, by: isize) -> Edited {
        let rows = self.rows("…");
        let (row, column) = rows.cursor;
        if by < 0 && row == 0 {
            if self.cursor == 0 || self.rows_start(&rows, 0) == self.cursor {
                return Edited::PastTop;
            }
            return self.go(self.rows_start(&rows, 0));
        }
        if by > 0 && row + 1 == rows.rows.len() {
            if self.cursor == self.text.len() {
                return Edited::PastBottom;
            }
            return self.go(self.text.len());
        }
        let goal = *self.goal.get_or_insert(column);
        let target = &rows.rows[row.saturating_add_signed(by)];
        let mut best = target.start;
        let mut used = 0;
        for (at, cluster) in target.stops(&self.text, &self.folds) {
            if used > goal {
                break;
            }
            best = at;
            used += cluster;
        }
        self.go(best)
    }

    fn rows_start(&self, rows: &super::EditorRows, row: usize) -> usize {
        rows.rows.get(row).map_or(0, |row| row.start)
    }
}

/// Clusters of a text with their offsets.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.grapheme_indices(true)
}
