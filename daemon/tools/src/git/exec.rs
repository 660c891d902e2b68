//! Running git with everything off that a repository or a user could have it start.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};

/// Settings of each call: no monitors, hooks, pagers, helpers or housekeeping.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.bare=false",
    "core.safecrlf=false",
    "advice.addEmbeddedRepo=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.helper=",
    "safe.directory=*",
];

/// Names out of the environment of the daemon that git needs.
const PASSED: &[&str] = &["PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR"];

/// One call of git.
pub(super) struct Call {
    directory: PathBuf,
    settings: Vec<String>,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
}

/// What it left.
pub(super) struct Done {
    pub ok: bool,
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Call {
    /// In a directory.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf(), settings: Vec::new(), args: Vec::new(), env: Vec::new() }
    }

    /// Adds a setting, `key=value`.
    pub fn setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new("git");
        command.env_clear().current_dir(&self.directory).arg("--no-optional-locks").arg("--no-pager");
        for setting in SETTINGS.iter().copied().chain(self.settings.iter().map(String::as_str)) {
            command.arg("-c").arg(setting);
        }
        command.args(&self.args);
        for name in PASSED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_LITERAL_PATHSPECS", "1");
        command.envs(self.env.iter().map(|(name, value)| (*name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it, whatever its exit status.
    pub async fn run(self) -> Result<Done> {
        let mut command = tokio::process::Command::from(self.command());
        let output = command.kill_on_drop(true).output().await.map_err(|error| not_started(&error))?;
        Ok(Done::from(output))
    }

    /// Runs it on this thread, for callers that may block.
    pub fn run_blocking(self) -> Result<Done> {
        self.command().output().map(Done::from).map_err(|error| not_started(&error))
    }

    /// Runs it; an exit status other than 0 is an error.
    pub async fn ok(self) -> Result<Vec<u8>> {
        let what = self.args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default();
        let done = self.run().await?;
        if done.ok { Ok(done.stdout) } else { Err(done.error(&what)) }
    }
}

impl From<std::process::Output> for Done {
    fn from(output: std::process::Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Self { ok: output.status.success(), code: output.status.code(), stdout: output.stdout, stderr }
    }
}

impl Done {
    /// The error that a failed call is.
    pub fn error(&self, what: &str) -> AirError {
        let code = self.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit {code}"));
        let said = self.stderr.lines().next().unwrap_or("without a word");
        AirError::internal(format!("git {what} ended with {code}: {said}"))
    }
}

fn not_started(error: &std::io::Error) -> AirError {
    AirError::new(codes::TOOL_SPAWN_FAILED, format!("git could not be started: {error}"))
        .hint("install git 2.38 or later")
}

/// Whether a setting is one that every call here makes.
pub(super) fn is_own_setting(key: &str, value: &str) -> bool {
    SETTINGS
        .iter()
        .filter_map(|setting| setting.split_once('='))
        .any(|(own, set)| own.eq_ignore_ascii_case(key) && set == value)
}

/// A line of output without its end.
pub(super) fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned()
}

/// The version of the git that is on the path.
pub(crate) async fn version() -> Option<[u32; 3]> {
    let done = Call::new(Path::new("/")).args(["--version"]).run().await.ok()?;
    let text = line(&done.stdout);
    let numbers = text.split_whitespace().nth(2)?;
    let mut parts = numbers.split('.').map_while(|part| part.parse().ok());
    Some([parts.next()?, parts.next()?, parts.next().unwrap_or(0)])
}
