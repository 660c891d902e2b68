//! Where the socket of `aird` lies, and whether anybody listens there.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::{AirError, Result};

/// The longest path of a Unix socket in bytes: `sun_path` holds 108 with its final zero (unix(7)).
const MAX_SOCKET_PATH: usize = 107;

/// The variables that decide where the socket lies.
#[derive(Debug, Clone, Default)]
pub struct SocketEnv {
    /// `AIR_SOCKET`: the socket itself.
    pub air_socket: Option<OsString>,
    /// `AIR_HOME`: replaces `~/.air`.
    pub air_home: Option<OsString>,
    /// `XDG_RUNTIME_DIR`.
    pub xdg_runtime_dir: Option<OsString>,
    /// `HOME`.
    pub home: Option<OsString>,
}

impl SocketEnv {
    /// The variables of this process; an empty one counts as unset.
    pub fn from_process() -> Self {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            air_socket: var("AIR_SOCKET"),
            air_home: var("AIR_HOME"),
            xdg_runtime_dir: var("XDG_RUNTIME_DIR"),
            home: var("HOME"),
        }
    }

    /// `$AIR_HOME`, else `~/.air`; `None` where neither variable is set.
    pub fn air_home(&self) -> Option<PathBuf> {
        match (&self.air_home, &self.home) {
            (Some(air_home), _) => Some(PathBuf::from(air_home)),
            (None, Some(home)) => Some(Path::new(home).join(".air")),
            (None, None) => None,
        }
    }
}

/// `$AIR_SOCKET`, else `$AIR_HOME/run/aird.sock`, else `$XDG_RUNTIME_DIR/air/aird.sock`, else
/// `~/.air/run/aird.sock`. A path above 107 bytes is `socket.path_too_long`.
pub fn socket_path(env: &SocketEnv) -> Result<PathBuf> {
    let path = match (&env.air_socket, &env.air_home, &env.xdg_runtime_dir, &env.home) {
        (Some(socket), ..) => PathBuf::from(socket),
        (None, Some(air_home), ..) => Path::new(air_home).join("run/aird.sock"),
        (None, None, Some(runtime), _) => Path::new(runtime).join("air/aird.sock"),
        (None, None, None, Some(home)) => Path::new(home).join(".air/run/aird.sock"),
        (None, None, None, None) => {
            let message =
                "no place for the socket: AIR_SOCKET, AIR_HOME, XDG_RUNTIME_DIR and HOME are all unset";
            return Err(AirError::new(codes::DAEMON_UNREACHABLE, message).hint("export HOME=… or AIR_HOME=…"));
        }
    };
    let length = path.as_os_str().as_bytes().len();
    if length > MAX_SOCKET_PATH {
        let message =
            format!("{}: a socket path of {length} bytes; {MAX_SOCKET_PATH} are possible", path.display());
        return Err(AirError::new(codes::SOCKET_PATH_TOO_LONG, message)
            .hint("export AIR_SOCKET=/tmp/air-$USER/aird.sock, or a shorter AIR_HOME"));
    }
    Ok(path)
}

/// Who answers at a socket path.
#[derive(Debug)]
pub enum Listening {
    /// Somebody accepted.
    Yes(tokio::net::UnixStream),
    /// The path is there, nobody listens (a daemon that died).
    Nobody,
    /// There is no such path.
    Absent,
    /// It cannot be known: no permission, or the like.
    Refused(std::io::Error),
}

/// Tries to connect once.
pub async fn listening(path: &Path) -> Listening {
    match tokio::net::UnixStream::connect(path).await {
        Ok(stream) => Listening::Yes(stream),
        Err(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => Listening::Nobody,
            std::io::ErrorKind::NotFound => Listening::Absent,
            _ => Listening::Refused(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(set: [Option<&str>; 4], expected: &str) {
        let [socket, air_home, runtime, home] = set.map(|value| value.map(OsString::from));
        let env = SocketEnv { air_socket: socket, air_home, xdg_runtime_dir: runtime, home };
        let found = match socket_path(&env) {
            Ok(path) => path.display().to_string(),
            Err(error) => error.code,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        check([Some("/s"), Some("/h"), Some("/x"), Some("/u")], "/s");
        check([None, Some("/h"), Some("/x"), Some("/u")], "/h/run/aird.sock");
        check([None, None, Some("/x"), Some("/u")], "/x/air/aird.sock");
        check([None, None, None, Some("/u")], "/u/.air/run/aird.sock");
        check([None, None, None, None], codes::DAEMON_UNREACHABLE);
    }

    #[test]
    fn a_path_that_the_kernel_would_cut_is_refused() {
        check([Some(&"x".repeat(107)), None, None, None], &"x".repeat(107));
        check([Some(&"x".repeat(108)), None, None, None], codes::SOCKET_PATH_TOO_LONG);
    }
}
