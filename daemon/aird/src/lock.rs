//! One daemon for each home: a lock for its whole life, and what it publishes about itself.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use air_contracts::ids::InstanceId;
use air_contracts::{AirError, Result, Timestamp};
use air_host::{AirPaths, read_to_string, write_atomic};
use serde::{Deserialize, Serialize};

/// `run/aird.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    pub socket: PathBuf,
    pub pid: u32,
    pub version: String,
    pub instance_id: InstanceId,
    pub started_at: Timestamp,
}

/// The lock of a home. The kernel gives it back when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    info: PathBuf,
}

/// Takes the lock; `None` when another process holds it.
pub fn try_take(paths: &AirPaths) -> Result<Option<Lock>> {
    let path = paths.lock_file();
    let failed = |error: std::io::Error| AirError::io(path.display(), &error);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { _file: file, info: paths.info_file() })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

impl Lock {
    /// Tells clients where this daemon is.
    pub fn publish(&self, info: &Info) -> Result<()> {
        let text =
            serde_json::to_string_pretty(info).map_err(|error| AirError::internal(error.to_string()))?;
        write_atomic(&self.info, text.as_bytes(), 0o600)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While the lock is held, the file is ours.
        let _ = std::fs::remove_file(&self.info);
    }
}

/// What the holder of the lock has published; `None` where there is nothing that can be read.
pub fn published(paths: &AirPaths) -> Option<Info> {
    let text = read_to_string(&paths.info_file()).ok()??;
    serde_json::from_str(&text).ok()
}
