//! What this machine has and lacks for the tools. Looks only.

use std::path::Path;

use air_contracts::api::{DoctorCheck, DoctorStatus};

use crate::deps::ToolDeps;
use crate::project::which;

/// The oldest git that the runtime works with.
const GIT: [u32; 2] = [2, 38];

/// The checks of the tools' side: git, bash, the sandbox, and the programs that the project's languages need.
pub async fn doctor(deps: &ToolDeps) -> Vec<DoctorCheck> {
    let mut checks = vec![git().await, program(deps, "bash", "runs every command", "apt install bash")];
    checks.extend(sandbox());
    checks.push(launcher(deps));
    let has = |name: &str| deps.project_root.join(name).exists();
    if has("CMakeLists.txt") {
        checks.push(program(deps, "cmake", "configures and builds this project", "apt install cmake"));
        checks.push(program(deps, "ctest", "runs the tests of this project", "apt install cmake"));
        checks.push(program(deps, "ninja", "builds quicker than make", "apt install ninja-build"));
    }
    if has("CMakeLists.txt") || is_cpp(&deps.project_root) {
        checks.push(compiler(deps));
    }
    for (file, name, what, fix) in [
        ("Makefile", "make", "builds this project", "apt install make"),
        ("meson.build", "meson", "builds this project", "apt install meson"),
        ("Cargo.toml", "cargo", "builds this project", "curl https://sh.rustup.rs | sh"),
        ("package.json", "npm", "runs the scripts of this project", "apt install npm"),
        ("go.mod", "go", "builds this project", "apt install golang-go"),
    ] {
        if has(file) {
            checks.push(program(deps, name, what, fix));
        }
    }
    checks
}

fn check(name: &str, status: DoctorStatus, detail: impl Into<String>, fix: Option<&str>) -> DoctorCheck {
    DoctorCheck { name: name.to_owned(), status, detail: detail.into(), fix: fix.map(str::to_owned) }
}

async fn git() -> DoctorCheck {
    match crate::git::version().await {
        None => check(
            "git",
            DoctorStatus::Missing,
            "checkpoints and comparisons need git 2.38 or later",
            Some("apt install git"),
        ),
        Some([major, minor, patch]) => {
            let version = format!("{major}.{minor}.{patch}");
            if [major, minor] >= GIT {
                check("git", DoctorStatus::Ok, version, None)
            } else {
                check(
                    "git",
                    DoctorStatus::Broken,
                    format!("{version} is older than 2.38"),
                    Some("apt install git"),
                )
            }
        }
    }
}

fn program(deps: &ToolDeps, name: &str, what: &str, fix: &str) -> DoctorCheck {
    match which(&deps.env, name) {
        Some(path) => check(name, DoctorStatus::Ok, path.display().to_string(), None),
        None => check(name, DoctorStatus::Missing, format!("{name} {what}"), Some(fix)),
    }
}

fn compiler(deps: &ToolDeps) -> DoctorCheck {
    let found = ["c++", "g++", "clang++"].iter().find_map(|name| which(&deps.env, name));
    match found {
        Some(path) => check("c++ compiler", DoctorStatus::Ok, path.display().to_string(), None),
        None => check(
            "c++ compiler",
            DoctorStatus::Missing,
            "neither g++ nor clang++ is on the path",
            Some("apt install g++"),
        ),
    }
}

fn is_cpp(root: &Path) -> bool {
    let entries = ["", "src"]
        .into_iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flatten()
        .flatten();
    entries.take(2_000).any(|entry| {
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        matches!(ending, "cpp" | "cc" | "cxx" | "hpp")
    })
}

/// What the kernel can hold commands to.
fn sandbox() -> Vec<DoctorCheck> {
    let platform = air_sandbox::platform();
    let landlock = match platform.landlock_abi {
        0 => check(
            "landlock",
            DoctorStatus::Missing,
            "writes of commands are not held to the workspace by the kernel: what would run unasked in the sandbox asks",
            None,
        ),
        abi => check("landlock", DoctorStatus::Ok, format!("version {abi}"), None),
    };
    let namespaces = if platform.user_namespaces {
        check("user namespaces", DoctorStatus::Ok, "network and credentials are kept from commands", None)
    } else {
        check(
            "user namespaces",
            DoctorStatus::Missing,
            "commands can see credential folders and reach UDP: only TCP and local sockets are refused",
            Some("sysctl -w kernel.unprivileged_userns_clone=1"),
        )
    };
    vec![landlock, namespaces]
}

fn launcher(deps: &ToolDeps) -> DoctorCheck {
    let path = deps.launcher.display().to_string();
    match deps.launcher.is_file() {
        true => check("air-worker", DoctorStatus::Ok, path, None),
        false => check(
            "air-worker",
            DoctorStatus::Missing,
            format!("{path} is not there: no command can run"),
            None,
        ),
    }
}
