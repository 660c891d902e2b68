//! Running `air`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::daemon::Daemon;

/// `air` with an environment of its own: nothing of the caller's terminal or settings.
pub fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_air"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("AIR_HOME", home)
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

/// What a run printed, and its exit code.
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }
}

/// Runs `air` against a daemon.
pub fn run(daemon: &Daemon, args: &[&str]) -> Ran {
    command(daemon.home()).args(args).output().unwrap().into()
}

/// Runs `air` with text on stdin.
pub fn run_with_stdin(daemon: &Daemon, args: &[&str], stdin: &str) -> Ran {
    let mut child = command(daemon.home())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}
