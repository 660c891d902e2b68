//! Where the screen is in the conversation. A place is an entry and a row of it, so that what comes later
//! moves nothing.

use super::{Placed, Setting, Transcript};

/// The place of the first row on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchor {
    /// The end is on the screen.
    #[default]
    End,
    /// An entry, and how many of its rows are above the screen.
    At { key: u64, row: usize },
}

impl Transcript {
    /// The rows on the screen, from the top; fewer where there are no more.
    pub fn visible(&self, at: Setting<'_>) -> Vec<Placed> {
        let (mut key, mut skip) = match self.top(at) {
            Some(top) => top,
            None => return Vec::new(),
        };
        let mut out = Vec::with_capacity(at.height);
        loop {
            let rows = self.rows(key, at);
            let head = rows.iter().position(|row| row.width() > 0).unwrap_or(0);
            for (index, row) in rows.iter().enumerate().skip(skip) {
                if out.len() == at.height {
                    return out;
                }
                // The screen never begins with the space between two items.
                if out.is_empty() && index < head {
                    continue;
                }
                out.push(Placed { key, head: index == head, row: row.clone() });
            }
            skip = 0;
            match Self::after(key, at) {
                Some(next) => key = next,
                None => return out,
            }
        }
    }

    /// The entry and the row at the top of the screen.
    fn top(&self, at: Setting<'_>) -> Option<(u64, usize)> {
        let end = self.top_of_end(at)?;
        match self.anchor {
            Anchor::End => Some(end),
            Anchor::At { key, row } => {
                let top = self.existing(key, row, at).unwrap_or(end);
                Some(top.min(end))
            }
        }
    }

    /// The place, or the nearest after it where its entry is gone.
    fn existing(&self, key: u64, row: usize, at: Setting<'_>) -> Option<(u64, usize)> {
        let rows = self.rows(key, at).len();
        if rows > 0 {
            return Some((key, row.min(rows - 1)));
        }
        Self::after(key, at).map(|next| (next, 0))
    }

    /// The top when the last row is at the bottom.
    fn top_of_end(&self, at: Setting<'_>) -> Option<(u64, usize)> {
        let mut key = Self::last(at)?;
        let mut missing = at.height;
        loop {
            let rows = self.rows(key, at).len();
            if rows >= missing {
                return Some((key, rows - missing));
            }
            missing -= rows;
            match Self::before(key, at) {
                Some(before) => key = before,
                None => return Some((key, 0)),
            }
        }
    }

    /// Scrolls by rows; below 0: up. At the end the end is followed again.
    pub fn scroll(&mut self, by: isize, at: Setting<'_>) {
        let Some((mut key, mut row)) = self.top(at) else { return };
        let mut left = by.unsigned_abs();
        while left > 0 && by < 0 {
            let step = row.min(left);
            (row, left) = (row - step, left - step);
            if left == 0 {
                break;
            }
            let Some(before) = Self::before(key, at) else { break };
            (key, row) = (before, self.rows(before, at).len());
        }
        while left > 0 && by > 0 {
            let rows = self.rows(key, at).len();
            let step = (rows - row.min(rows)).min(left);
            (row, left) = (row + step, left - step);
            if row < rows {
                break;
            }
            let Some(after) = Self::after(key, at) else { break };
            (key, row) = (after, 0);
        }
        self.place(key, row, at);
    }

    fn place(&mut self, key: u64, row: usize, at: Setting<'_>) {
        if self.top_of_end(at).is_none_or(|end| (key, row) >= end) {
            self.anchor = Anchor::End;
            return;
        }
        if self.anchor == Anchor::End {
            self.seen = at.model.items.keys().next_back().copied().unwrap_or(0);
        }
        self.anchor = Anchor::At { key, row };
    }

    /// The first row of all, or what is here of it.
    pub fn show_start(&mut self, at: Setting<'_>) {
        if let Some(first) = at.model.items.keys().next().copied() {
            self.place(first, 0, at);
        }
    }

    /// Follows the end.
    pub fn follow(&mut self) {
        self.anchor = Anchor::End;
    }

    /// Items that came since the end was left.
    pub fn unseen(&self, at: Setting<'_>) -> usize {
        match self.anchor {
            Anchor::End => 0,
            Anchor::At { .. } => at.model.items.range(self.seen + 1..).count(),
        }
    }

    /// Whether the first item that is here is on the screen, or near it.
    pub fn near_start(&self, at: Setting<'_>) -> bool {
        let Anchor::At { key, .. } = self.anchor else {
            // A screen that is not full wants more, too.
            return at.model.items.len() < at.height && !at.model.from_start && !at.model.items.is_empty();
        };
        at.model.items.range(..key).nth(20).is_none()
    }

    /// Marks the next or the previous entry that has rows, and brings it onto the screen.
    pub fn select(&mut self, forward: bool, at: Setting<'_>) {
        let shown = self.visible(at);
        let start = self.selected.filter(|key| !self.rows(*key, at).is_empty());
        let mut next = match (start, forward) {
            (None, true) => shown.first().map(|placed| placed.key),
            (None, false) => shown.last().map(|placed| placed.key),
            (Some(key), true) => Self::after(key, at),
            (Some(key), false) => Self::before(key, at),
        };
        while let Some(key) = next {
            if !self.rows(key, at).is_empty() {
                self.mark(key, at);
                return;
            }
            next = if forward { Self::after(key, at) } else { Self::before(key, at) };
        }
    }

    /// Marks an entry, and scrolls as little as is needed to show its first row.
    pub fn mark(&mut self, key: u64, at: Setting<'_>) {
        self.selected = Some(key);
        let shown = self.visible(at);
        if shown.iter().any(|placed| placed.key == key && placed.head) {
            return;
        }
        if shown.first().is_none_or(|first| key <= first.key) {
            self.place(key, 0, at);
            return;
        }
        // Below the screen: until its last row, or its first one at the top.
        let rows = self.rows(key, at).len();
        self.place(key, 0, at);
        if self.anchor != Anchor::End && rows < at.height {
            self.scroll(-(isize::try_from(at.height - rows).unwrap_or(0)), at);
        }
    }
}
