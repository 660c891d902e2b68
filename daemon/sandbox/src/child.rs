//! The process that becomes the command: forked off the launcher, it enters the sandbox and execs.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Resource, Signal, getpid, getppid, setrlimit};

use crate::confine;
use crate::spec::{ExitRecord, RunSpec, SandboxReport};
use crate::sys::{self, Forked};

/// The status of a child that could not become the command, as shells use it.
const EXIT_NOT_STARTED: i32 = 127;

/// Shells that are tried in this order, with the name under which they run.
const SHELLS: [(&str, &str); 3] = [("/bin/bash", "bash"), ("/usr/bin/bash", "bash"), ("/bin/sh", "sh")];

/// A child on its way to being the command.
pub struct Started {
    pub pid: Pid,
    /// Reading end of the one pipe that is its stdout and stderr; does not block.
    pub output: OwnedFd,
    pub channel: Channel,
}

/// Forks the child. Descriptors on both sides are CLOEXEC; what the command gets is only 0, 1 and 2.
pub fn start(spec: &RunSpec, run_folder: &Path) -> io::Result<Started> {
    let (output, input) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfl(&output, OFlags::NONBLOCK)?;
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let launcher = getpid();
    match sys::fork()? {
        Forked::Parent(pid) => {
            Ok(Started { pid, output, channel: Channel { stream: ours, pending: Vec::new() } })
        }
        Forked::Child => {
            drop((ours, output));
            let mut theirs = theirs;
            let error = become_command(spec, run_folder, launcher, &input, &mut theirs);
            let _ = say(&mut theirs, "error", &error); // the launcher is gone: nobody to tell
            sys::exit_now(EXIT_NOT_STARTED)
        }
    }
}

/// Returns only when something failed, with what.
fn become_command(
    spec: &RunSpec,
    run_folder: &Path,
    launcher: Pid,
    output: &OwnedFd,
    channel: &mut UnixStream,
) -> String {
    let prepared = isolate(output).and_then(|()| command_line(spec));
    let (command, env) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return error.to_string(),
    };
    let mut ask_mapping = || {
        say(channel, "map", "")?;
        channel.read_exact(&mut [0; 1])
    };
    let report = match confine::enter(spec, run_folder, &mut ask_mapping) {
        Ok(report) => report,
        Err(text) => return text,
    };
    if let Err(error) = rustix::process::chdir(&spec.cwd) {
        return format!("cannot enter {}: {}", spec.cwd.display(), io::Error::from(error));
    }
    // After the last change of credentials, which would clear it: prctl(2).
    let tied = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    if tied.is_err() || getppid() != Some(launcher) {
        return "the launcher has ended".to_owned();
    }
    if let Err(error) =
        serde_json::to_string(&report).map_err(io::Error::from).and_then(|text| say(channel, "report", &text))
    {
        return error.to_string();
    }
    exec_shell(&command, &env)
}

/// Own session, the pipe as output, and nothing of the launcher's signal handling.
fn isolate(output: &OwnedFd) -> io::Result<()> {
    sys::default_signals();
    rustix::process::setsid()?;
    rustix::stdio::dup2_stdout(output)?;
    rustix::stdio::dup2_stderr(output)?;
    let mut core = rustix::process::getrlimit(Resource::Core);
    core.current = Some(0);
    Ok(setrlimit(Resource::Core, core)?)
}

fn command_line(spec: &RunSpec) -> io::Result<(CString, Vec<CString>)> {
    let named = |what: &str| io::Error::other(format!("{what} holds a NUL byte"));
    let command = CString::new(spec.command.as_str()).map_err(|_| named("the command"))?;
    let variable = |(name, value): &(String, String)| {
        CString::new(format!("{name}={value}")).map_err(|_| named(&format!("the variable {name:?}")))
    };
    Ok((command, spec.env.iter().map(variable).collect::<io::Result<_>>()?))
}

fn exec_shell(command: &CString, env: &[CString]) -> String {
    for (path, name) in SHELLS {
        let (Ok(path_text), Ok(name)) = (CString::new(path), CString::new(name)) else { continue };
        let error = sys::exec(&path_text, &[name, c"-c".to_owned(), command.clone()], env);
        if error.kind() != io::ErrorKind::NotFound {
            return format!("cannot run {path}: {error}");
        }
    }
    "there is neither /bin/bash nor /bin/sh".to_owned()
}

fn say(channel: &mut UnixStream, word: &str, text: &str) -> io::Result<()> {
    let text = text.replace('\n', " ");
    channel.write_all(format!("{word} {text}\n").as_bytes())
}

/// What the child tells until it is the command: `map` (asks for its id mapping), `report`, `error`.
pub struct Channel {
    stream: UnixStream,
    pending: Vec<u8>,
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Channel {
    /// Takes in what has come. Returns whether more may come: false after the exec or the end.
    pub fn read(&mut self, child: Pid, record: &mut ExitRecord) -> bool {
        let mut piece = [0; 4096];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return false,
                Ok(count) => self.pending.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
            while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                self.take(&String::from_utf8_lossy(&line), child, record);
            }
        }
    }

    fn take(&mut self, line: &str, child: Pid, record: &mut ExitRecord) {
        match line.trim_end_matches('\n').split_once(' ') {
            Some(("map", _)) => {
                confine::map_ids(child);
                let _ = self.stream.write_all(b"m"); // a child that has ended says so by closing
            }
            Some(("report", text)) => {
                record.sandbox = serde_json::from_str::<SandboxReport>(text).unwrap_or_default();
            }
            Some(("error", text)) => record.spawn_error = Some(text.to_owned()),
            _ => {}
        }
    }
}
