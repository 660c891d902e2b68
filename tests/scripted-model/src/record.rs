//! The record of requests, one JSON object a line.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Appends lines to a file; without a file, does nothing.
#[derive(Debug, Default)]
pub struct Recorder {
    file: Option<Mutex<File>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RequestLine<'a> {
    pub kind: &'static str,
    pub seq: u64,
    pub at_ms: u64,
    pub method: &'a str,
    pub path: &'a str,
    pub headers: Map<String, Value>,
    /// As it came, or a text when it is not JSON.
    pub body: &'a RawValue,
    pub agent: Option<&'a str>,
    pub turn: Option<usize>,
    pub status: u16,
}

#[derive(Debug, Serialize)]
pub(crate) struct EndLine {
    pub kind: &'static str,
    pub seq: u64,
    pub at_ms: u64,
    pub complete: bool,
}

impl Recorder {
    /// Opens a file for appending.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        Ok(Self { file: Some(Mutex::new(file)) })
    }

    pub(crate) fn write(&self, line: &impl Serialize) {
        let Some(file) = &self.file else { return };
        let Ok(mut bytes) = serde_json::to_vec(line) else { return };
        bytes.push(b'\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(&bytes) {
            eprintln!("air-scripted-model: the record cannot be written: {error}");
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
