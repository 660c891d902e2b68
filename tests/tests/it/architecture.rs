//! The borders between crates, by `cargo metadata` and by the text of the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What each crate may depend on within the workspace.
const EDGES: &[(&str, &[&str])] = &[
    ("air-contracts", &[]),
    ("air-llm", &["air-contracts"]),
    ("air-toolchain-cpp", &["air-contracts"]),
    ("air-rt", &[]),
    ("air-host", &["air-contracts"]),
    ("air-store", &["air-contracts", "air-rt"]),
    ("air-security", &["air-contracts"]),
    ("air-sandbox", &["air-contracts"]),
    ("air-tools", &["air-contracts", "air-rt", "air-host", "air-store", "air-security", "air-sandbox"]),
    ("air-context", &["air-contracts", "air-host", "air-store"]),
    ("air-scheduler-core", &["air-contracts"]),
    ("air-scheduler", &["air-contracts", "air-rt", "air-store", "air-context", "air-scheduler-core"]),
    ("air-worker", &["air-contracts", "air-sandbox"]),
    ("air-agents", &["air-contracts", "air-rt", "air-store", "air-context", "air-scheduler"]),
    ("air-api", &["air-contracts", "air-rt", "air-store"]),
    (
        "aird",
        &[
            "air-contracts",
            "air-llm",
            "air-toolchain-cpp",
            "air-rt",
            "air-host",
            "air-store",
            "air-security",
            "air-sandbox",
            "air-tools",
            "air-context",
            "air-scheduler-core",
            "air-scheduler",
            "air-agents",
            "air-api",
        ],
    ),
    ("air-client-tui", &["air-contracts"]),
    ("air-client-cli", &["air-contracts", "air-client-tui"]),
    ("air-scripted-model", &["air-contracts"]),
    ("air-tests", &["air-contracts", "air-client-tui"]),
];

/// External crates that only some crates may use.
const OWNED: &[(&str, &[&str])] = &[
    ("sqlx", &["air-store"]),
    ("reqwest", &["air-llm"]),
    ("axum", &["air-api"]),
    ("tower", &["air-api"]),
    ("ratatui", &["air-client-tui"]),
    ("crossterm", &["air-client-tui"]),
    ("shuck-parser", &["air-security"]),
    ("landlock", &["air-sandbox"]),
];

/// Crates without clock, I/O and runtime.
const PURE: &[&str] = &["air-contracts", "air-security", "air-scheduler-core"];

/// Where a process may be started.
const SPAWNERS: &[&str] = &[
    "daemon/tools/src/shell/runner",
    "daemon/tools/src/git",
    "daemon/scheduler/src/worker",
    "daemon/sandbox/src",
    "client-cli/src/process",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn metadata() -> Value {
    let output = std::process::Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--offline",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn members(metadata: &Value) -> Vec<&Value> {
    let ids: BTreeSet<&str> =
        metadata["workspace_members"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().filter(|package| ids.contains(package["id"].as_str().unwrap())).collect()
}

/// Normal and build dependencies; tests may use more.
fn dependencies(package: &Value) -> BTreeSet<&str> {
    let all = package["dependencies"].as_array().unwrap();
    all.iter().filter(|dep| dep["kind"] != "dev").filter_map(|dep| dep["name"].as_str()).collect()
}

#[test]
fn crates_depend_only_as_the_design_says() {
    let metadata = metadata();
    let edges: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let mut faults = Vec::new();
    for package in members(&metadata) {
        let name = package["name"].as_str().unwrap();
        let Some(allowed) = edges.get(name) else {
            faults.push(format!("{name} is not in the table"));
            continue;
        };
        for dependency in dependencies(package) {
            if edges.contains_key(dependency) && !allowed.contains(&dependency) {
                faults.push(format!("{name} -> {dependency}"));
            }
            if let Some((_, owners)) = OWNED.iter().find(|(owned, _)| *owned == dependency)
                && !owners.contains(&name)
            {
                faults.push(format!("{name} uses {dependency}, which belongs to {owners:?}"));
            }
            if PURE.contains(&name) && ["tokio", "rustix", "libc"].contains(&dependency) {
                faults.push(format!("{name} is pure and uses {dependency}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_member_takes_the_workspace_lints_and_version() {
    for package in members(&metadata()) {
        let manifest = std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        let name = package["name"].as_str().unwrap();
        for line in ["[lints]\nworkspace = true", "version.workspace = true", "license.workspace = true"] {
            assert!(manifest.contains(line), "{name}: {line}");
        }
    }
}

/// Names of the packages that are compiled into our binaries on Linux. `cargo metadata` also lists optional
/// dependencies that no feature turns on, `cargo tree` does not.
fn linked() -> BTreeSet<String> {
    let output = std::process::Command::new(env!("CARGO"))
        .args([
            "tree",
            "--workspace",
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--locked",
            "--offline",
        ])
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn quoted(text: &str) -> BTreeSet<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn licences_and_banned_crates_are_as_deny_toml_says() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let allowed = quoted(deny.split("allow = [").nth(1).unwrap().split(']').next().unwrap());
    let banned: BTreeSet<&str> = deny
        .lines()
        .filter_map(|line| line.trim().strip_prefix("{ crate = \""))
        .filter_map(|line| line.split('"').next())
        .collect();
    assert!(!allowed.is_empty() && !banned.is_empty());
    let metadata = metadata();
    let linked = linked();
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if !linked.contains(name) {
            continue;
        }
        if banned.contains(name) {
            faults.push(format!("{name} is banned"));
        }
        let licence = package["license"].as_str().unwrap_or("none").replace('/', " OR ");
        // `A OR B`: one is enough. `A AND B`: each.
        let fits = |alternative: &str| {
            alternative.split(" AND ").all(|part| allowed.contains(part.trim().trim_matches(['(', ')'])))
        };
        if !licence.split(" OR ").any(fits)
            && !licence.split(" AND ").all(|part| part.split(" OR ").any(fits))
        {
            faults.push(format!("{name}: {licence}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

fn sources() -> Vec<(PathBuf, String)> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard", "*.rs"])
        .current_dir(root())
        .output();
    let listed = String::from_utf8(output.unwrap().stdout).unwrap();
    let paths = listed.lines().map(PathBuf::from).filter(|path| root().join(path).is_file());
    paths.map(|path| (path.clone(), std::fs::read_to_string(root().join(path)).unwrap())).collect()
}

/// The part of a file that is not its unit tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod ").next().unwrap_or(text)
}

#[test]
fn processes_are_started_in_few_places() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let shown = path.display().to_string();
        let test = shown.contains("/tests/")
            || shown.starts_with("tests/")
            || shown.contains("/examples/")
            || shown.contains("/benches/");
        if test || SPAWNERS.iter().any(|place| shown.starts_with(place)) {
            continue;
        }
        if code(&text).contains("Command::new(") && !code(&text).contains("clap::Command::new(") {
            faults.push(shown);
        }
    }
    assert!(faults.is_empty(), "these start processes: {faults:#?}");
}

/// Every task of the daemon has a name and an owner that awaits it: `air_rt::Tasks`.
#[test]
fn tasks_are_spawned_through_their_owner() {
    let faults: Vec<String> = sources()
        .iter()
        .filter(|(path, _)| {
            path.starts_with("daemon") && !path.starts_with("daemon/rt") && !path.starts_with("daemon/worker")
        })
        .filter(|(path, text)| {
            path.components().any(|part| part.as_os_str() == "src") && code(text).contains("tokio::spawn(")
        })
        .map(|(path, _)| path.display().to_string())
        .collect();
    assert!(faults.is_empty(), "these spawn without an owner: {faults:#?}");
}

#[test]
fn files_stay_small_and_say_what_they_are_for() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > 400 {
            faults.push(format!("{}: {lines} lines", path.display()));
        }
        if !text.starts_with("//!") {
            faults.push(format!("{}: no module head", path.display()));
        }
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if ["utils", "util", "helpers", "helper", "misc", "common"].contains(&stem.as_str()) {
            faults.push(format!("{}: the name says nothing", path.display()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn contracts_stay_small() {
    let lines: usize = sources()
        .iter()
        .filter(|(path, _)| path.starts_with("contracts/src"))
        .map(|(_, text)| text.lines().count())
        .sum();
    assert!(lines < 5_000, "contracts have {lines} lines");
}
