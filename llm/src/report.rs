//! What the conversion of a request changed.

use serde::Serialize;

/// How much a change matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeClass {
    /// The meaning is the same.
    Noted,
    /// Something of the meaning is gone or was added.
    Lossy,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    pub class: ChangeClass,
    pub what: String,
}

/// All changes that a conversion made, in the order in which it made them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConversionReport {
    pub changes: Vec<Change>,
}

impl ConversionReport {
    pub(crate) fn noted(&mut self, what: impl Into<String>) {
        self.changes.push(Change { class: ChangeClass::Noted, what: what.into() });
    }

    pub(crate) fn lossy(&mut self, what: impl Into<String>) {
        self.changes.push(Change { class: ChangeClass::Lossy, what: what.into() });
    }

    /// Writes the changes to the log. A flaw of a transcript comes back with every request, so none is a
    /// warning.
    pub(crate) fn log(&self, model: &str) {
        for change in &self.changes {
            match change.class {
                ChangeClass::Noted => tracing::debug!(model, change = change.what, "request converted"),
                ChangeClass::Lossy => tracing::info!(model, change = change.what, "request converted"),
            }
        }
    }
}
