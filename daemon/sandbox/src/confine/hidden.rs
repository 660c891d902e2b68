//! What a command must not see: credentials, sockets of services that act for their callers, and the
//! daemon's own state.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::spec::RunSpec;

/// Below each home folder.
const OF_HOME: [&str; 34] = [
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/chromium",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".docker/config.json",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".config/sops",
];

/// Of the machine: what root alone may read, and sockets behind which commands are run for the caller.
const OF_MACHINE: [&str; 12] = [
    "/etc/gshadow",
    "/etc/shadow",
    "/run/containerd",
    "/run/crio",
    "/run/dbus/system_bus_socket",
    "/run/docker.sock",
    "/run/libvirt",
    "/run/podman",
    "/run/screen",
    "/run/snapd.socket",
    "/run/systemd/private",
    "/tmp/screens",
];

/// Entries of `/tmp` that are looked at for agents' sockets.
const TEMP_ENTRIES: usize = 4096;

/// Every such path that exists, resolved, without duplicates, outer before inner.
pub fn paths(spec: &RunSpec, run_folder: &Path) -> Vec<PathBuf> {
    let uid = geteuid().as_raw();
    let mut found: Vec<PathBuf> = OF_MACHINE.iter().map(PathBuf::from).collect();
    found.push(PathBuf::from(format!("/run/user/{uid}")));
    found.extend(sockets_in_temp(uid));
    for home in homes(spec, uid) {
        found.extend(OF_HOME.iter().map(|name| home.join(name)));
        found.push(home.join(".air"));
    }
    found.extend(air_home(run_folder));
    found.extend(std::env::var_os("AIR_HOME").map(PathBuf::from));
    // Most do not exist: one look is cheaper than resolving.
    found.retain(|path| path.is_absolute() && path.symlink_metadata().is_ok());
    let mut resolved: Vec<PathBuf> = found.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    resolved.sort();
    resolved.dedup();
    resolved
}

/// Of a hidden folder, what stays visible.
pub fn exception(hidden: &Path) -> PathBuf {
    hidden.join("workspaces")
}

/// The daemon's home, of which the run folder is `projects/ID/runs/ID`.
fn air_home(run_folder: &Path) -> Option<PathBuf> {
    let runs = run_folder.parent()?;
    let projects = runs.parent()?.parent()?;
    let named = runs.file_name()? == "runs" && projects.file_name()? == "projects";
    named.then(|| projects.parent().map(Path::to_path_buf)).flatten()
}

/// Home as the command is told, as the launcher is told, and as the machine has it.
fn homes(spec: &RunSpec, uid: u32) -> Vec<PathBuf> {
    let told = spec.env.iter().filter(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
    let mut homes: Vec<PathBuf> = told.collect();
    homes.extend(std::env::var_os("HOME").map(PathBuf::from));
    homes.extend(fs::read_to_string("/etc/passwd").ok().and_then(|text| home_of(&text, uid)));
    homes.retain(|home| home.is_absolute() && home.parent().is_some());
    homes.sort();
    homes.dedup();
    homes
}

/// The sixth field of the line of this user: passwd(5).
fn home_of(passwd: &str, uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    let line = passwd.lines().find(|line| line.split(':').nth(2) == Some(&uid))?;
    line.split(':').nth(5).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Folders of tmux and ssh-agent.
fn sockets_in_temp(uid: u32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/tmp") else { return Vec::new() };
    let suspect = |name: &str| name.starts_with("tmux-") || name.starts_with("ssh-");
    entries
        .take(TEMP_ENTRIES)
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(suspect))
        .filter(|entry| entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == uid))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daemon_home_is_known_from_the_run_folder() {
        let known = air_home(Path::new("/h/.air/projects/p/runs/r"));
        assert_eq!(known, Some(PathBuf::from("/h/.air")));
        assert_eq!(air_home(Path::new("/tmp/x/run")), None);
    }

    #[test]
    fn a_home_folder_comes_from_the_line_of_the_user() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000:Ann,,,:/home/ann:/bin/zsh\n";
        assert_eq!(home_of(passwd, 1000), Some(PathBuf::from("/home/ann")));
        assert_eq!(home_of(passwd, 100), None);
    }
}
