//! The run folder: what passes between a daemon and a launcher, and survives both.
//!
//! | file | written by | what |
//! | --- | --- | --- |
//! | `spec.json` | daemon | the [`RunSpec`] |
//! | `lock` | launcher | held with flock(2) for its whole life |
//! | `launcher.json` | launcher | the [`LauncherId`], before the command starts |
//! | `output.*` | launcher | see `output.rs` |
//! | `cancel` | daemon | its presence gives SIGTERM to the launcher a meaning |
//! | `exit.json` | launcher | the [`ExitRecord`] |
//!
//! The sandbox cannot write the folder, so nothing in it can come from the command.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::output::{KeptOutput, OutputReader};
use crate::procfs;
use crate::spec::{ExitRecord, LauncherId, RunSpec, RunState};

pub const SPEC: &str = "spec.json";
pub const LOCK: &str = "lock";
pub const LAUNCHER: &str = "launcher.json";
pub const CANCEL: &str = "cancel";
pub const EXIT: &str = "exit.json";

/// How long a launcher that holds the lock may take to say who it is, and the guard of a killed one to
/// end what is left.
const SETTLE: Duration = Duration::from_secs(5);

/// A handle on one run. Cheap: nothing is kept open.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder (mode 0700, its parents too) with the specification in it. It fails when the
    /// folder exists.
    pub fn create(path: impl Into<PathBuf>, spec: &RunSpec) -> Result<Self> {
        let folder = Self { path: path.into() };
        let made = || {
            let mut builder = fs::DirBuilder::new();
            builder.mode(0o700);
            if let Some(parent) = folder.path.parent() {
                builder.recursive(true).create(parent)?;
            }
            builder.recursive(false).create(&folder.path)?;
            folder.publish(SPEC, spec)
        };
        made().map_err(|error| AirError::io(format_args!("run folder {}", folder.path.display()), &error))?;
        Ok(folder)
    }

    /// A handle on an existing folder; `run.not_found` where there is none.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if path.is_dir() {
            return Ok(Self { path });
        }
        Err(AirError::new(codes::RUN_NOT_FOUND, format!("no run folder at {}", path.display())))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the run was asked to do.
    pub fn spec(&self) -> Result<RunSpec> {
        self.read(SPEC)?.ok_or_else(|| {
            AirError::new(codes::RUN_NOT_FOUND, format!("no specification in {}", self.path.display()))
        })
    }

    /// What is known about the run now.
    ///
    /// After a kill of the launcher itself this waits (at most 5 s) until its guard has ended what was
    /// left of the command, so that `Vanished` means that nothing runs any more.
    pub fn state(&self) -> Result<RunState> {
        let deadline = Instant::now() + SETTLE;
        loop {
            if let Some(record) = self.read::<ExitRecord>(EXIT)? {
                return Ok(RunState::Finished(record));
            }
            let held = self.is_locked()?;
            let launcher = self.read::<LauncherId>(LAUNCHER)?;
            match (held, launcher) {
                (true, Some(id)) if is_alive(&id) => return Ok(RunState::Running(id)),
                (true, Some(_)) if Instant::now() >= deadline => return Ok(RunState::Vanished),
                (true, None) if Instant::now() >= deadline => return Ok(RunState::NotStarted),
                // Either it has just taken the lock, or it is on its way out.
                (true, _) => std::thread::sleep(Duration::from_millis(1)),
                // The record comes before the lock goes, so one more look settles it.
                (false, launcher) => {
                    let gone = if launcher.is_some() { RunState::Vanished } else { RunState::NotStarted };
                    return Ok(self.read::<ExitRecord>(EXIT)?.map_or(gone, RunState::Finished));
                }
            }
        }
    }

    /// The first `head` and the last `tail` bytes of the output so far.
    pub fn output(&self, head: usize, tail: usize) -> Result<KeptOutput> {
        OutputReader::open(&self.path)
            .and_then(|reader| reader.kept(head, tail))
            .map_err(|error| self.io(&error))
    }

    /// Up to `max` bytes from `offset` on, out of the first `head_cap` bytes of the output: for following
    /// a run while it lasts. Empty when nothing more is there yet.
    pub fn read_output_at(&self, offset: u64, max: usize) -> Result<Vec<u8>> {
        OutputReader::open(&self.path)
            .and_then(|reader| reader.head_at(offset, max))
            .map_err(|error| self.io(&error))
    }

    /// True size of the output so far, in bytes.
    pub fn output_len(&self) -> Result<u64> {
        OutputReader::open(&self.path).map(|reader| reader.total()).map_err(|error| self.io(&error))
    }

    /// Asks the launcher to end every process of the run; a run that was not started will not start.
    /// Returns whether there was anything to ask: false for a run that has ended.
    pub fn cancel(&self) -> Result<bool> {
        let state = self.state()?;
        if matches!(state, RunState::Finished(_) | RunState::Vanished) {
            return Ok(false);
        }
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.path.join(CANCEL))
            .map_err(|error| self.io(&error))?;
        // A launcher that starts only now finds the file by itself.
        let launcher = match state {
            RunState::Running(id) => Some(id),
            _ => self.read::<LauncherId>(LAUNCHER)?,
        };
        if let Some(pidfd) = launcher.and_then(|id| pidfd(&id)) {
            let _ = pidfd_send_signal(pidfd, Signal::TERM); // it may have ended meanwhile
        }
        Ok(true)
    }

    /// A pidfd that turns readable when the launcher has ended; `None` when none runs.
    pub fn wait_fd(&self) -> Result<Option<OwnedFd>> {
        Ok(self.read::<LauncherId>(LAUNCHER)?.and_then(|id| pidfd(&id)))
    }

    /// Deletes the folder. Refused (`io`, retryable) while a launcher holds it.
    pub fn remove(self) -> Result<()> {
        if self.is_locked()? {
            let text = format!("the run in {} is still going on", self.path.display());
            return Err(AirError::new(codes::IO, text).retryable(true));
        }
        fs::remove_dir_all(&self.path).map_err(|error| self.io(&error))
    }

    /// Whether a launcher (or the guard that cleans up after one) lives.
    fn is_locked(&self) -> Result<bool> {
        let file = match File::open(self.path.join(LOCK)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(self.io(&error)),
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(self.io(&error.into())),
        }
    }

    /// Takes the lock for the life of the process. A reader may hold it for an instant, so a few tries.
    pub(crate) fn lock(&self) -> io::Result<File> {
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.path.join(LOCK))?;
        for _ in 0..200 {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Whether a launcher has ever taken this folder.
    pub(crate) fn is_taken(&self) -> bool {
        self.path.join(LAUNCHER).exists() || self.path.join(EXIT).exists()
    }

    /// Whether the daemon wants the run to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.path.join(CANCEL).exists()
    }

    /// Writes one file so that a reader sees all of it or nothing. Safe against a kill, not against a
    /// loss of power: after one the run has vanished anyway.
    pub(crate) fn publish(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        use std::io::Write as _;
        let bytes = serde_json::to_vec(value)?;
        let beside = self.path.join(format!("{name}.new"));
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(&bytes)?;
        fs::rename(&beside, self.path.join(name))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.path.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(AirError::io(path.display(), &error)),
        };
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Some).map_err(|error| AirError::internal(format!("{}: {error}", path.display())))
    }

    fn io(&self, error: &io::Error) -> AirError {
        AirError::io(format_args!("run folder {}", self.path.display()), error)
    }
}

/// A pidfd of exactly this launcher, if it lives.
fn pidfd(id: &LauncherId) -> Option<OwnedFd> {
    let raw = i32::try_from(id.pid).ok()?;
    let fd = pidfd_open(Pid::from_raw(raw)?, PidfdFlags::empty()).ok()?;
    // The pidfd pins the process, so a look behind it cannot be fooled by a later reuse.
    is_alive(id).then_some(fd)
}

fn is_alive(id: &LauncherId) -> bool {
    let Ok(pid) = i32::try_from(id.pid) else { return false };
    procfs::stat(pid).is_ok_and(|stat| !stat.is_dead() && stat.start_time == id.start_time)
        && procfs::boot_id().is_ok_and(|boot| boot == id.boot_id)
}
