//! The socket: bound for this user alone, and bound again when its name vanishes.

use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use air_api::Server;
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use air_rt::{CancellationToken, OnCancel, Tasks};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// How often the daemon looks whether its socket still has its name.
const LOOK: Duration = Duration::from_secs(5);

/// Device and inode of a file.
type Identity = (u64, u64);

/// Binds `path`: the folder is made for this user alone, a socket that nobody answers on is removed.
pub fn bind(path: &Path) -> Result<UnixListener> {
    let failed = |error: std::io::Error| AirError::io(path.display(), &error);
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    remove_stale(path)?;
    let listener = UnixListener::bind(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

fn remove_stale(path: &Path) -> Result<()> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if !meta.file_type().is_socket() {
        let message = format!("{} is not a socket", path.display());
        return Err(
            AirError::new(codes::DAEMON_ALREADY_RUNNING, message).hint("move it away, or set AIR_SOCKET")
        );
    }
    if answers(path) {
        let message = format!("another process answers on {}", path.display());
        return Err(AirError::new(codes::DAEMON_ALREADY_RUNNING, message)
            .hint("another AIR_HOME uses this socket: set AIR_SOCKET for one of them"));
    }
    std::fs::remove_file(path).map_err(|error| AirError::io(path.display(), &error))
}

/// Whether somebody listens there. Never waits: a queue that is full is somebody (connect(2), `EAGAIN`).
pub fn answers(path: &Path) -> bool {
    let probe = || -> rustix::io::Result<()> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)
    };
    matches!(probe(), Ok(()) | Err(rustix::io::Errno::AGAIN))
}

fn identity(path: &Path) -> Option<Identity> {
    path.symlink_metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

/// The socket that a server listens on.
pub struct Listening {
    path: PathBuf,
    /// `None` when the name belongs to systemd.
    own: Mutex<Option<Identity>>,
    server: Server,
    tasks: Tasks,
    current: Mutex<CancellationToken>,
}

impl Listening {
    /// Starts to accept. `activated`: systemd made the socket and keeps it.
    pub fn start(
        server: Server,
        tasks: Tasks,
        path: PathBuf,
        listener: UnixListener,
        activated: bool,
    ) -> Result<Self> {
        let own = if activated { None } else { identity(&path) };
        let current = Mutex::new(CancellationToken::new());
        let listening = Self { path, own: Mutex::new(own), server, tasks, current };
        listening.accept(listener)?;
        Ok(listening)
    }

    fn accept(&self, listener: UnixListener) -> Result<()> {
        let failed = |error: std::io::Error| AirError::io(self.path.display(), &error);
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = tokio::net::UnixListener::from_std(listener).map_err(failed)?;
        let until = CancellationToken::new();
        let server = self.server.clone();
        let serve = until.clone();
        self.tasks.spawn("accept", OnCancel::Abort, async move { server.serve(listener, serve).await });
        let before =
            std::mem::replace(&mut *self.current.lock().unwrap_or_else(PoisonError::into_inner), until);
        before.cancel();
        Ok(())
    }

    /// Looks at the socket's name from time to time and binds again where it is gone, as it is when a user
    /// without linger logs out. Never returns.
    pub async fn keep(&self) {
        let mut warned = false;
        loop {
            tokio::time::sleep(LOOK).await;
            match self.look() {
                Ok(bound) => {
                    if bound {
                        tracing::warn!(socket = %self.path.display(), "the socket had vanished and is bound again");
                    }
                    warned = false;
                }
                Err(error) if !warned => {
                    tracing::warn!(%error, "the socket has vanished and cannot be bound again yet");
                    warned = true;
                }
                Err(_) => {}
            }
        }
    }

    fn look(&self) -> Result<bool> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let now = identity(&self.path);
        let ours = match *own {
            Some(own) => now == Some(own),
            None => now.is_some(),
        };
        // Another daemon, or systemd, may have taken over the name: then it is theirs.
        if ours || (now.is_some() && answers(&self.path)) {
            return Ok(false);
        }
        let listener = bind(&self.path)?;
        *own = identity(&self.path);
        drop(own);
        self.accept(listener)?;
        Ok(true)
    }

    /// Removes the name, where it is still this daemon's.
    pub fn remove(&self) {
        let own = *self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_some() && identity(&self.path) == own {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_socket_is_replaced_and_a_living_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run/s");
        drop(bind(&path).unwrap());
        let living = bind(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(bind(&path).unwrap_err().is(codes::DAEMON_ALREADY_RUNNING));
        drop(living);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "kept").unwrap();
        assert!(bind(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    }
}
