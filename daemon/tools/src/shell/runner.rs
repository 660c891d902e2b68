//! Starting a command under its launcher and waiting for its end.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Once;
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::ids::ToolRunId;
use air_contracts::{AirError, Result};
use air_sandbox::{DEFAULT_OUTPUT_CAP, RunFolder, RunSpec, RunState};
use tokio::process::{Child, Command};

use super::end::Ended;
use super::follow::Follower;
use super::pidfd::Pidfd;
use crate::cancel::Cancel;
use crate::deps::ToolDeps;
use crate::gate::Permit;
use crate::tool::Call;

/// How long a cancelled command may take to end before the wait for it is given up. The launcher needs at
/// most 5 s from TERM to KILL.
const END_GRACE: Duration = Duration::from_secs(8);

/// Starts launchers.
pub(crate) struct Runner {
    launcher: PathBuf,
    runs: PathBuf,
    temp: PathBuf,
    made: Once,
}

/// What is to be run.
pub(crate) struct Request {
    pub command: String,
    pub cwd: PathBuf,
    /// In addition to the environment of all commands.
    pub env: Vec<(String, String)>,
    /// 0 is no limit.
    pub timeout_ms: u64,
    pub background: bool,
}

/// A launcher that was started, or found alive.
pub(crate) struct Running {
    pub folder: RunFolder,
    waiter: Waiter,
}

enum Waiter {
    Child(Box<Child>),
    Pidfd(Pidfd),
    /// It has ended already.
    Gone,
}

impl Runner {
    /// For the runs of one project.
    pub fn new(deps: &ToolDeps) -> Self {
        Self {
            launcher: deps.launcher.clone(),
            runs: deps.project_dir.join("runs"),
            temp: deps.temp_dir(),
            made: Once::new(),
        }
    }

    /// Where a run's folder is.
    pub fn path(&self, run_id: ToolRunId) -> PathBuf {
        self.runs.join(run_id.to_string())
    }

    /// Runs that have a folder.
    pub fn all(&self) -> Vec<ToolRunId> {
        let entries = std::fs::read_dir(&self.runs).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// The folder of a run, where it is still there.
    pub fn folder(&self, run_id: ToolRunId) -> Option<RunFolder> {
        RunFolder::open(self.path(run_id)).ok()
    }

    /// Starts a command, held to what its permit allows.
    pub fn start(
        &self,
        permit: &Permit,
        call: &Call<'_>,
        run_id: ToolRunId,
        request: &Request,
    ) -> Result<Running> {
        self.made.call_once(|| {
            if let Err(error) = std::fs::create_dir_all(&self.temp) {
                tracing::warn!(%error, path = %self.temp.display(), "no folder for temporary files");
            }
        });
        let mut env = call.kit.env.clone();
        env.retain(|(name, _)| !request.env.iter().any(|(known, _)| known == name));
        env.extend(request.env.iter().cloned());
        let mut policy = permit.sandbox().clone();
        // A tree that is not there cannot be opened for the rules.
        policy.writable.retain(|path| path.exists());
        let spec = RunSpec {
            run_id,
            command: request.command.clone(),
            cwd: request.cwd.clone(),
            env,
            timeout_ms: request.timeout_ms,
            background: request.background,
            policy,
            head_cap: DEFAULT_OUTPUT_CAP,
            tail_cap: DEFAULT_OUTPUT_CAP,
        };
        let folder = RunFolder::create(self.path(run_id), &spec)?;
        match self.spawn(&folder) {
            Ok(child) => Ok(Running { folder, waiter: Waiter::Child(Box::new(child)) }),
            Err(error) => {
                let _ = folder.remove();
                let text = format!(
                    "the launcher {} could not be started: {error}. Nothing was run.",
                    self.launcher.display()
                );
                Err(AirError::new(codes::TOOL_SPAWN_FAILED, text))
            }
        }
    }

    /// The launcher takes nothing from the daemon: no descriptors, no environment, no terminal.
    fn spawn(&self, folder: &RunFolder) -> std::io::Result<Child> {
        Command::new(&self.launcher)
            .arg("exec")
            .arg(folder.path())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(false)
            .spawn()
    }

    /// A launcher of an earlier daemon, or one that has ended.
    pub fn adopt(&self, folder: RunFolder) -> Result<Running> {
        let waiter = match folder.wait_fd()? {
            Some(fd) => {
                Waiter::Pidfd(Pidfd::new(fd).map_err(|error| AirError::io("waiting for a launcher", &error))?)
            }
            None => Waiter::Gone,
        };
        Ok(Running { folder, waiter })
    }
}

impl Running {
    /// Resolves when the launcher has ended.
    pub async fn ended(&mut self) {
        match &mut self.waiter {
            Waiter::Child(child) => {
                if let Err(error) = child.wait().await {
                    tracing::warn!(%error, "a launcher could not be waited for");
                }
            }
            Waiter::Pidfd(fd) => fd.ended().await,
            Waiter::Gone => {}
        }
        self.waiter = Waiter::Gone;
    }
}

/// Waits for the end of a command while its output is shown; a cancel ends it.
pub(crate) async fn wait_for(
    running: &mut Running,
    cancel: &Cancel,
    follower: Follower<'_>,
) -> Result<Ended> {
    let folder = running.folder.clone();
    let reason = tokio::select! {
        biased;
        () = running.ended() => None,
        reason = cancel.requested() => Some(reason),
        () = follower.follow(&folder) => None,
    };
    if let Some(reason) = reason {
        let canceller = folder.clone();
        crate::kit::blocking(move || canceller.cancel()).await??;
        if tokio::time::timeout(END_GRACE, running.ended()).await.is_err() {
            tracing::warn!(run = %folder.path().display(), "a cancelled command has not ended");
        }
        let state = crate::kit::blocking(move || folder.state()).await??;
        return Ok(Ended::from_state(state, Some(reason)));
    }
    // The state is a few small reads when the launcher is gone; it waits only for one that was killed.
    let state = folder.state()?;
    let state = match state {
        RunState::Running(_) => crate::kit::blocking(move || folder.state()).await??,
        state => state,
    };
    Ok(Ended::from_state(state, None))
}
