//! The conversation as rows. Only what is on the screen is laid out.

mod item;
mod run;
mod scroll;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use air_contracts::Timestamp;
use air_contracts::projection::{ItemBody, ItemView};
use jiff::tz::TimeZone;

use super::model::Model;
use super::row::Row;
use super::theme::Theme;

pub use scroll::Anchor;

/// The first key of texts that are being written; all keys of items are below.
const LIVE: u64 = 1 << 62;
/// Laid out items that are kept.
const CACHE: usize = 512;

/// What the layout depends on.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    pub model: &'a Model,
    pub theme: Theme,
    pub zone: &'a TimeZone,
    pub now: Timestamp,
    /// Cells of a row, margins included.
    pub width: usize,
    pub height: usize,
}

/// A place in the conversation, what is unfolded, and rows that were laid out.
#[derive(Debug, Default)]
pub struct Transcript {
    pub anchor: Anchor,
    /// The key of the marked entry.
    pub selected: Option<u64>,
    /// Entries that are folded otherwise than by default.
    flipped: HashSet<u64>,
    all_open: bool,
    /// The newest item when the end was left.
    seen: u64,
    cache: RefCell<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    width: usize,
    rows: HashMap<u64, Rc<[Row]>>,
}

/// A row on the screen, and whose it is.
#[derive(Debug, Clone)]
pub struct Placed {
    pub key: u64,
    /// Whether it is the first row of its entry that is not blank.
    pub head: bool,
    pub row: Row,
}

impl Transcript {
    /// Forgets how these items looked.
    pub fn touch(&mut self, items: &[u64]) {
        let mut cache = self.cache.borrow_mut();
        for key in items {
            cache.rows.remove(key);
        }
    }

    /// Forgets everything but unfolded items: another session.
    pub fn clear(&mut self) {
        *self = Self { all_open: self.all_open, ..Self::default() };
    }

    /// Folds or unfolds an entry.
    pub fn flip(&mut self, key: u64) {
        if !self.flipped.remove(&key) {
            self.flipped.insert(key);
        }
        self.touch(&[key]);
    }

    /// Folds or unfolds all.
    pub fn flip_all(&mut self) {
        self.all_open = !self.all_open;
        self.flipped.clear();
        self.cache.borrow_mut().rows.clear();
    }

    fn is_open(&self, key: u64) -> bool {
        self.all_open != self.flipped.contains(&key)
    }

    /// The rows of an entry; none for a key that is not there.
    fn rows(&self, key: u64, at: Setting<'_>) -> Rc<[Row]> {
        if key >= LIVE {
            let text = usize::try_from(key - LIVE).ok().and_then(|index| at.model.live.get(index));
            return text.map_or_else(|| Rc::from([]), |text| item::live(text, at).into());
        }
        let Some(found) = at.model.items.get(&key) else { return Rc::from([]) };
        // A run that goes on looks different each second.
        if item::is_moving(found) {
            return self.lay_out(found, at).into();
        }
        let mut cache = self.cache.borrow_mut();
        if cache.width != at.width || cache.rows.len() > CACHE {
            cache.rows.clear();
            cache.width = at.width;
        }
        if let Some(rows) = cache.rows.get(&key) {
            return Rc::clone(rows);
        }
        let rows: Rc<[Row]> = self.lay_out(found, at).into();
        cache.rows.insert(key, Rc::clone(&rows));
        rows
    }

    fn lay_out(&self, found: &ItemView, at: Setting<'_>) -> Vec<Row> {
        let before = at.model.items.range(..found.seq).next_back().map(|(_, item)| item);
        let apart = before.is_some_and(|before| is_block(before) || is_block(found));
        let mut rows = item::rows(found, self.is_open(found.seq), at);
        if apart && !rows.is_empty() {
            rows.insert(0, Row::default());
        }
        rows
    }

    fn last(at: Setting<'_>) -> Option<u64> {
        match at.model.live.len() {
            0 => at.model.items.keys().next_back().copied(),
            length => Some(LIVE + length as u64 - 1),
        }
    }

    fn before(key: u64, at: Setting<'_>) -> Option<u64> {
        if key > LIVE { Some(key - 1) } else { at.model.items.range(..key).next_back().map(|(key, _)| *key) }
    }

    fn after(key: u64, at: Setting<'_>) -> Option<u64> {
        let live = (!at.model.live.is_empty()).then_some(LIVE);
        if key >= LIVE {
            return Some(key + 1).filter(|next| *next < LIVE + at.model.live.len() as u64);
        }
        at.model.items.range(key + 1..).next().map(|(key, _)| *key).or(live)
    }
}

/// Whether a blank row is around it.
const fn is_block(item: &ItemView) -> bool {
    matches!(
        item.body,
        ItemBody::UserMessage { .. } | ItemBody::AssistantMessage { .. } | ItemBody::TurnEnded { .. }
    )
}
