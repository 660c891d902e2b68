//! What each worker has read, so that an edit never overwrites what its author has not seen.
//!
//! The table is memory only. It is rebuilt from the tool runs of the log, which hold the hashes of what
//! they showed (`data.seen`).

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use air_contracts::Result;
use air_contracts::ids::{AgentId, TaskId};
use air_contracts::tool::CallContext;
use air_store::Store;
use serde_json::{Map, Value};

use crate::hash::sha256_hex;

/// Whose reading counts: that of a task (its attempts share a transcript), or of an actor without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Reader {
    Task(TaskId),
    Agent(AgentId),
}

/// A file as it was last seen.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub sha: String,
    /// A short hash of each line, to say which lines changed. Not kept over a restart.
    pub lines: Option<Arc<[u32]>>,
}

type Table = HashMap<PathBuf, Seen>;

/// The tables of all readers.
#[derive(Default)]
pub(crate) struct SeenFiles(Mutex<HashMap<Reader, Table>>);

/// The hashes of a file's lines.
pub(crate) fn line_hashes(bytes: &[u8]) -> Arc<[u32]> {
    let short = |line: &[u8]| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish() as u32
    };
    crate::fs::all_lines(bytes).into_iter().map(short).collect()
}

fn reader(context: &CallContext) -> Reader {
    context.task_id.map_or(Reader::Agent(context.agent_id), Reader::Task)
}

impl SeenFiles {
    fn lock(&self) -> MutexGuard<'_, HashMap<Reader, Table>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the table of a reader from the log, once.
    pub async fn load(&self, store: &Store, context: &CallContext) -> Result<()> {
        let reader = reader(context);
        if self.lock().contains_key(&reader) {
            return Ok(());
        }
        let mut table = Table::new();
        for data in crate::log::reads_of(store, context).await? {
            let seen = data.get("seen").and_then(Value::as_object);
            for (path, sha) in seen.into_iter().flatten() {
                let sha = sha.as_str().unwrap_or_default().to_owned();
                table.insert(PathBuf::from(path), Seen { sha, lines: None });
            }
        }
        let mut tables = self.lock();
        let known = tables.entry(reader).or_default();
        for (path, seen) in table {
            known.entry(path).or_insert(seen);
        }
        Ok(())
    }

    /// Notes that a reader has seen these bytes of a resolved path. Returns their hash.
    pub fn note(&self, context: &CallContext, path: &Path, bytes: &[u8]) -> String {
        let sha = sha256_hex(bytes);
        let seen = Seen { sha: sha.clone(), lines: Some(line_hashes(bytes)) };
        self.lock().entry(reader(context)).or_default().insert(path.to_path_buf(), seen);
        sha
    }

    /// What a reader has last seen of a path.
    pub fn get(&self, context: &CallContext, path: &Path) -> Option<Seen> {
        self.lock().get(&reader(context))?.get(path).cloned()
    }
}

/// The part of a run's data that [`SeenFiles::load`] reads.
pub(crate) fn seen_data(files: impl IntoIterator<Item = (PathBuf, String)>) -> Value {
    let files: Map<String, Value> =
        files.into_iter().filter_map(|(path, sha)| Some((path.to_str()?.to_owned(), sha.into()))).collect();
    serde_json::json!({ "seen": files })
}
