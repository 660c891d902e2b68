//! The one place where `air` starts other programs: the daemon, the pager, the editor, and what the
//! demo needs.

mod detach;

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use air_contracts::error::codes;
use air_contracts::{AirError, Result};

/// A program of AirCoding: it lies beside this one.
pub fn beside(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(|error| AirError::io("the path of air itself", &error))?;
    // A link in ~/bin leads to the folder where the others are.
    let own = own.canonicalize().unwrap_or(own);
    let path = own.parent().unwrap_or(Path::new("/")).join(name);
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("{name} is not beside air: {}", path.display());
    Err(AirError::new(codes::IO_NOT_FOUND, message)
        .hint("unpack the whole archive, or build all its programs"))
}

/// Makes a folder that only its owner can look into, with its parents.
pub fn private_folder(path: &Path) -> Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| AirError::io(path.display(), &error))
}

/// Starts `aird` in a session of its own, without a terminal, its output appended to `log`.
pub fn start_daemon(program: &Path, log: &Path, env: &[(&str, Option<OsString>)]) -> Result<Child> {
    if let Some(folder) = log.parent() {
        private_folder(folder)?;
    }
    let out = append(log)?;
    let err = out.try_clone().map_err(|error| AirError::io(log.display(), &error))?;
    let mut command = Command::new(program);
    for (name, value) in env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir("/").stdin(Stdio::null()).stdout(out).stderr(err);
    detach::in_own_session(&mut command);
    command.spawn().map_err(|error| AirError::io(program.display(), &error))
}

/// Starts a helper of the demo: output to `log`, ended by its process id.
pub fn start_in_background(program: &Path, args: &[&OsStr], log: &Path) -> Result<Child> {
    let out = append(log)?;
    let err = out.try_clone().map_err(|error| AirError::io(log.display(), &error))?;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(out).stderr(err);
    detach::in_own_session(&mut command);
    command.spawn().map_err(|error| AirError::io(program.display(), &error))
}

/// Runs a program in a folder and waits for it; its output is captured.
pub fn run(program: &str, args: &[&str], folder: &Path) -> std::io::Result<Output> {
    Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).output()
}

/// Whether a program is found on `PATH`.
pub fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let file = folder.join(name);
        rustix::fs::access(&file, rustix::fs::Access::EXEC_OK).is_ok() && file.is_file()
    })
}

/// Ends a child of this process and waits for it.
pub fn end(child: &mut Child) {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    let _ = child.wait();
}

/// Shows text in `$AIR_PAGER`, `$PAGER`, else `less -FRX`. Without a pager the text is printed.
pub fn page(text: &str) -> Result<()> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let pager = set("AIR_PAGER").or_else(|| set("PAGER")).unwrap_or_else(|| "less -FRX".to_owned());
    let mut child = match Command::new("/bin/sh").arg("-c").arg(&pager).stdin(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(_) => return print(text),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A pager that was closed early has seen enough.
        let _ = stdin.write_all(text.as_bytes());
    }
    let status = child.wait().map_err(|error| AirError::io(&pager, &error))?;
    // 127: the shell did not find it (POSIX, 2.8.2).
    if status.code() == Some(127) { print(text) } else { Ok(()) }
}

fn print(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(AirError::io("stdout", &error)),
        _ => Ok(()),
    }
}

/// The text as the person left it in `$VISUAL`, `$EDITOR`, else `vi`.
pub fn edit(text: &str) -> Result<String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let folder = std::env::temp_dir().join(format!("air-edit-{}", std::process::id()));
    private_folder(&folder)?;
    let file = folder.join("message.md");
    let io = |error: std::io::Error| AirError::io(file.display(), &error);
    std::fs::write(&file, text).map_err(io)?;
    let status =
        Command::new("/bin/sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(&file).status();
    let edited = std::fs::read_to_string(&file).map_err(io);
    // A folder that cannot be removed is only litter in the temporary folder.
    let _ = std::fs::remove_dir_all(&folder);
    match status {
        Ok(status) if status.success() => edited,
        Ok(status) => {
            Err(AirError::new(codes::IO, format!("{editor} ended with {status}; nothing was sent")))
        }
        Err(error) => Err(AirError::io(editor, &error)),
    }
}

fn append(path: &Path) -> Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| AirError::io(path.display(), &error))
}
