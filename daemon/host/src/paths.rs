//! Where AirCoding keeps its files (`AIR_HOME`, else `~/.air`), and its socket.

use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::ids::ProjectId;
use air_contracts::{AirError, Result};

/// Bytes that a Unix socket path may have (`sun_path` less its end, unix(7)).
pub const SOCKET_PATH_MAX: usize = 107;

/// The folders and files of one installation of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AirPaths {
    home: PathBuf,
    socket: PathBuf,
}

/// The socket, by `$AIR_SOCKET`, else in `$AIR_HOME/run`, else in `$XDG_RUNTIME_DIR`, else in `~/.air/run`.
pub fn socket_path(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("AIR_SOCKET")
        .or_else(|| set("AIR_HOME").map(|home| home.join("run/aird.sock")))
        .or_else(|| set("XDG_RUNTIME_DIR").map(|dir| dir.join("air/aird.sock")))
        .or_else(|| set("HOME").map(|home| home.join(".air/run/aird.sock")))
}

impl AirPaths {
    /// From the environment. Errors when neither `AIR_HOME` nor `HOME` is set, or one is not absolute.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("AIR_HOME").or_else(|| set("HOME").map(|home| home.join(".air")));
        let socket = socket_path(env);
        let (Some(home), Some(socket)) = (home, socket) else {
            return Err(AirError::new(codes::CONFIG_INVALID, "neither AIR_HOME nor HOME is set")
                .hint("export AIR_HOME=/some/folder"));
        };
        for path in [&home, &socket] {
            if !path.is_absolute() {
                let message = format!("{} is not an absolute path", path.display());
                return Err(AirError::new(codes::CONFIG_INVALID, message)
                    .hint("AIR_HOME and AIR_SOCKET must be absolute"));
            }
        }
        Ok(Self { home: resolve_existing(&home), socket })
    }

    /// Everything below one folder, for tests and tools.
    pub fn at(home: &Path) -> Self {
        Self { home: resolve_existing(home), socket: home.join("run/aird.sock") }
    }

    /// `~/.air`.
    pub fn air_home(&self) -> &Path {
        &self.home
    }

    pub fn config_file(&self) -> PathBuf {
        self.home.join("config.yaml")
    }

    pub fn permissions_file(&self) -> PathBuf {
        self.home.join("permissions.yaml")
    }

    pub fn credentials_file(&self) -> PathBuf {
        self.home.join("credentials")
    }

    pub fn rules_dir(&self) -> PathBuf {
        self.home.join("rules")
    }

    pub fn run_dir(&self) -> PathBuf {
        self.home.join("run")
    }

    pub fn logs_dir(&self) -> PathBuf {
        self.home.join("logs")
    }

    pub fn cache_dir(&self) -> PathBuf {
        self.home.join("cache")
    }

    pub fn workspaces_dir(&self) -> PathBuf {
        self.home.join("workspaces")
    }

    /// Held by the one daemon of this home.
    pub fn lock_file(&self) -> PathBuf {
        self.run_dir().join("aird.lock")
    }

    /// What the daemon publishes about itself.
    pub fn info_file(&self) -> PathBuf {
        self.run_dir().join("aird.json")
    }

    /// Private state of all projects.
    pub fn projects_dir(&self) -> PathBuf {
        self.home.join("projects")
    }

    /// Private state of one project.
    pub fn project_dir(&self, id: ProjectId) -> PathBuf {
        self.projects_dir().join(id.to_string())
    }

    /// The socket. `socket.path_too_long` when the kernel would refuse it.
    pub fn socket(&self) -> Result<PathBuf> {
        use std::os::unix::ffi::OsStrExt as _;
        let length = self.socket.as_os_str().as_bytes().len();
        if length > SOCKET_PATH_MAX {
            let message = format!(
                "the socket path has {length} bytes, {SOCKET_PATH_MAX} is the limit: {}",
                self.socket.display()
            );
            return Err(AirError::new(codes::SOCKET_PATH_TOO_LONG, message)
                .hint("export AIR_SOCKET=/run/user/$UID/air.sock, or a shorter AIR_HOME"));
        }
        Ok(self.socket.clone())
    }

    /// Makes the folders that the daemon needs, readable by the user alone.
    pub fn create(&self) -> Result<()> {
        use std::os::unix::fs::DirBuilderExt as _;
        let dirs =
            [self.home.clone(), self.run_dir(), self.logs_dir(), self.cache_dir(), self.projects_dir()];
        for dir in dirs {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&dir)
                .map_err(|error| AirError::io(dir.display(), &error))?;
        }
        Ok(())
    }
}

/// The path with its existing part made canonical, so that comparisons hold.
fn resolve_existing(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve_existing(parent).join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(vars: &[(&str, &str)]) -> Option<String> {
        let env =
            |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        socket_path(&env).map(|path| path.display().to_string())
    }

    #[test]
    fn the_socket_follows_the_rule_of_precedence() {
        let all = [("AIR_SOCKET", "/s"), ("AIR_HOME", "/h"), ("XDG_RUNTIME_DIR", "/x"), ("HOME", "/u")];
        assert_eq!(socket(&all), Some("/s".into()));
        assert_eq!(socket(&all[1..]), Some("/h/run/aird.sock".into()));
        assert_eq!(socket(&all[2..]), Some("/x/air/aird.sock".into()));
        assert_eq!(socket(&all[3..]), Some("/u/.air/run/aird.sock".into()));
        assert_eq!(socket(&[("AIR_SOCKET", "")]), None);
    }

    #[test]
    fn a_socket_path_that_the_kernel_refuses_is_an_error_with_the_limit() {
        let paths = AirPaths::at(Path::new(&format!("/{}", "a".repeat(120))));
        let error = paths.socket().unwrap_err();
        assert_eq!(error.code, codes::SOCKET_PATH_TOO_LONG);
        assert!(error.message.contains("107"));
    }
}
