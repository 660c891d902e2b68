//! The changes of a batch: JSON rows for each statement.

use std::collections::HashMap;

use air_contracts::error::codes;
use air_contracts::ids::SessionId;
use air_contracts::{AirError, Result};
use serde::Serialize;
use serde_json::Value;

use super::ItemKind;
use super::statements::{INSERTS, Insert, STATEMENTS, UPDATES, Update, WRITES};

/// The statements that a batch needs, by their order, each with its parameter.
pub(crate) type Parameters = Vec<(usize, String)>;

/// Rows for each statement, gathered over a batch.
#[derive(Debug)]
pub(crate) struct Changes {
    inserts: Vec<Vec<u8>>,
    updates: Vec<Fold>,
    /// Runs that wrote, as hex.
    writes: Vec<String>,
    failed: Option<serde_json::Error>,
}

/// Sparse rows by key, folded: SQLite takes any one row where an `UPDATE … FROM` finds several.
#[derive(Debug, Default)]
struct Fold {
    places: HashMap<String, usize>,
    rows: Vec<Vec<Value>>,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self {
            inserts: vec![Vec::new(); INSERTS.len()],
            updates: (0..UPDATES.len()).map(|_| Fold::default()).collect(),
            writes: Vec::new(),
            failed: None,
        }
    }

    /// Adds a row; its fields are the columns of the statement, in their order.
    pub(super) fn insert(&mut self, insert: Insert, row: impl Serialize) {
        let buffer = &mut self.inserts[insert as usize];
        buffer.push(if buffer.is_empty() { b'[' } else { b',' });
        if let Err(error) = serde_json::to_writer(&mut *buffer, &row) {
            self.failed.get_or_insert(error);
        }
    }

    /// Changes the columns that are not null in the row with this id.
    pub(super) fn update<const N: usize>(&mut self, update: Update, id: String, columns: [Value; N]) {
        let fold = &mut self.updates[update as usize];
        let first_wins = UPDATES[update as usize].first_wins;
        match fold.places.get(&id) {
            Some(_) if first_wins => {}
            Some(place) => {
                let row = &mut fold.rows[*place][1..];
                for (old, new) in row.iter_mut().zip(columns).filter(|(_, new)| !new.is_null()) {
                    *old = new;
                }
            }
            None => {
                fold.places.insert(id.clone(), fold.rows.len());
                fold.rows.push(std::iter::once(Value::String(id)).chain(columns).collect());
            }
        }
    }

    /// A run wrote: the count of its turn goes up by one.
    pub(super) fn wrote(&mut self, run: String) {
        self.writes.push(run);
    }

    /// An item of a conversation. `object` is its number, where it has one.
    pub(super) fn item(&mut self, session: SessionId, seq: u64, kind: ItemKind, object: u64) {
        self.insert(Insert::Item, (session.hex(), seq, kind as i64, object));
    }

    /// The parameters of the statements that are needed.
    pub(crate) fn finish(self) -> Result<Parameters> {
        if let Some(error) = self.failed {
            return Err(AirError::new(codes::EVENT_INVALID, error.to_string()));
        }
        let invalid = |error: serde_json::Error| AirError::new(codes::EVENT_INVALID, error.to_string());
        let mut parameters = Parameters::with_capacity(STATEMENTS);
        for (place, mut rows) in self.inserts.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            rows.push(b']');
            parameters.push((place, String::from_utf8(rows).map_err(|e| AirError::internal(e.to_string()))?));
        }
        if !self.writes.is_empty() {
            parameters.push((WRITES, serde_json::to_string(&self.writes).map_err(invalid)?));
        }
        for (place, fold) in self.updates.iter().enumerate().filter(|(_, fold)| !fold.rows.is_empty()) {
            parameters.push((WRITES + 1 + place, serde_json::to_string(&fold.rows).map_err(invalid)?));
        }
        Ok(parameters)
    }
}

/// The text of a unit variant (`completed`), as serde writes it.
pub(super) fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// JSON text in a column; `null` stays null.
pub(super) fn json(value: &impl Serialize) -> Value {
    match serde_json::to_string(value) {
        Ok(text) if text != "null" => Value::String(text),
        _ => Value::Null,
    }
}
