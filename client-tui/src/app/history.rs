//! What was sent and what was cleared: Up and Down bring it back. Kept by the daemon for the project.

use serde_json::Value;

/// Entries that are kept, and their bytes (a value of `ui_state/set` holds 64 KB).
const ENTRIES: usize = 200;
const BYTES: usize = 40 * 1024;

/// The key of `ui_state/*`.
pub const KEY: &str = "tui.history";

/// Oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    entries: Vec<String>,
    /// Where Up has gone to, and what was typed before.
    at: Option<usize>,
    typed: String,
}

impl History {
    /// Puts what the daemon kept before what is here.
    pub fn load(&mut self, value: &Value) {
        let kept = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut entries: Vec<String> = kept.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let new = std::mem::take(&mut self.entries);
        entries.extend(new);
        for entry in entries {
            self.add(&entry);
        }
    }

    /// Adds to the end, once. An empty text is none.
    pub fn add(&mut self, text: &str) {
        self.reset();
        if text.trim().is_empty() {
            return;
        }
        self.entries.retain(|entry| entry != text);
        self.entries.push(text.to_owned());
        let mut bytes: usize = self.entries.iter().map(|entry| entry.len() + 4).sum();
        let mut drop = self.entries.len().saturating_sub(ENTRIES);
        while bytes > BYTES && drop + 1 < self.entries.len() {
            bytes -= self.entries[drop].len() + 4;
            drop += 1;
        }
        self.entries.drain(..drop);
    }

    /// As the daemon keeps it. One entry that is too long alone is left out.
    pub fn value(&self) -> Value {
        self.entries
            .iter()
            .filter(|entry| entry.len() <= BYTES)
            .map(|entry| Value::from(entry.as_str()))
            .collect()
    }

    /// The one before; `typed` is kept for the way back.
    pub fn up(&mut self, typed: &str) -> Option<String> {
        let at = match self.at {
            None => self.entries.len().checked_sub(1)?,
            Some(at) => at.checked_sub(1)?,
        };
        if self.at.is_none() {
            typed.clone_into(&mut self.typed);
        }
        self.at = Some(at);
        self.entries.get(at).cloned()
    }

    /// The one after, at last what was typed.
    pub fn down(&mut self) -> Option<String> {
        let at = self.at? + 1;
        if at < self.entries.len() {
            self.at = Some(at);
            return self.entries.get(at).cloned();
        }
        self.at = None;
        Some(std::mem::take(&mut self.typed))
    }

    /// Typing ends the way through.
    pub fn reset(&mut self) {
        self.at = None;
    }

    /// The newest entry.
    pub fn last(&self) -> Option<&str> {
        self.entries.last().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_and_down_walk_and_come_back() {
        let mut history = History::default();
        history.add("two");
        history.load(&serde_json::json!(["one", "two", "zero"]));
        assert_eq!(history.value(), serde_json::json!(["one", "zero", "two"]));
        let mut walk = vec![history.up("typed")];
        walk.extend([history.up(""), history.up(""), history.up("")]);
        walk.extend([history.down(), history.down(), history.down(), history.down()]);
        let walk: Vec<Option<&str>> = walk.iter().map(Option::as_deref).collect();
        let expected =
            [Some("two"), Some("zero"), Some("one"), None, Some("zero"), Some("two"), Some("typed"), None];
        assert_eq!(walk, expected);
    }
}
