//! Connecting, starting on demand, losing the daemon and finding it again, Ctrl-C.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::air::{Ran, command, run};
use crate::daemon::{Daemon, Reply, unknown};
use crate::fixtures;

#[test]
fn status_and_stop_never_start_a_daemon() {
    let home = tempfile::tempdir().unwrap();
    let ran: Ran = command(home.path()).args(["daemon", "status"]).output().unwrap().into();
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""));
    let socket = format!("  socket  {}/run/aird.sock (not there)", home.path().display());
    assert!(ran.err.starts_with("error: aird does not answer") && ran.err.contains(&socket), "{}", ran.err);
    let ran: Ran = command(home.path()).args(["daemon", "stop"]).output().unwrap().into();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "aird does not run\n"));
    assert!(!home.path().join("logs").exists());
}

/// A folder with a copy of `air` and an `aird` that is this script.
fn installed(aird: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_air"), folder.path().join("air")).unwrap();
    let path = folder.path().join("aird");
    std::fs::write(&path, aird).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn air_of(folder: &std::path::Path, home: &std::path::Path, args: &[&str]) -> Ran {
    let mut own = Command::new(folder.join("air"));
    for (name, value) in command(home).get_envs() {
        own.env(name, value.unwrap_or_default());
    }
    own.args(args).current_dir(home).stdin(Stdio::null()).output().unwrap().into()
}

#[test]
fn a_daemon_is_started_on_demand_and_stopped_again() {
    let test = std::env::current_exe().unwrap();
    let script =
        format!("#!/bin/sh\nexec {} --exact daemon::as_a_program --ignored --nocapture\n", test.display());
    let (folder, home) = (installed(&script), tempfile::tempdir().unwrap());
    let ran = air_of(folder.path(), home.path(), &["-v", "rpc", "daemon/status"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.starts_with("aird is not running; started it (pid "), "{}", ran.err);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&ran.out).unwrap()["version"], "0.1.0");
    let again = air_of(folder.path(), home.path(), &["daemon", "start"]);
    assert!(again.out.contains("runs already"), "{}", again.out);
    let stopped = air_of(folder.path(), home.path(), &["daemon", "stop"]);
    assert_eq!((stopped.out.as_str(), stopped.code), ("aird stopped\n", Some(0)), "{}", stopped.err);
}

#[test]
fn a_daemon_that_ends_at_once_is_an_error_with_its_last_words() {
    let (folder, home) =
        (installed("#!/bin/sh\necho the lock is held; exit 3\n"), tempfile::tempdir().unwrap());
    let ran = air_of(folder.path(), home.path(), &["sessions"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""));
    for part in ["aird ended at once (exit status: 3)", "daemon.unreachable", "it said: the lock is held"] {
        assert!(ran.err.contains(part), "{part:?} in {}", ran.err);
    }
}

#[test]
fn a_daemon_of_another_version_says_so() {
    let daemon = Daemon::start(|method, _, _| match method {
        // The form of a later version.
        "daemon/status" => Reply::Now(json!({ "version": "9.0.0" })),
        other => unknown(other),
    });
    let ran = run(&daemon, &["daemon", "status"]);
    assert!(ran.err.contains("daemon.version") && ran.err.contains("air daemon restart"), "{}", ran.err);
}

#[test]
fn a_broken_connection_is_made_again_and_nothing_is_lost() {
    let mut waits = 0;
    let daemon = Daemon::start(move |method, _, stage| match method {
        "turn/submit" => Reply::Now(fixtures::submitted()),
        "projection/snapshot" => Reply::Now(fixtures::snapshot()),
        "projection/subscribe" => {
            let run = fixtures::run_item(1843, 1, "fs.read", "src/a.cpp", None);
            stage.notify("projection/changed", fixtures::changed(&[run]));
            Reply::Now(json!({ "seq": 1841 }))
        }
        "turn/wait" => {
            waits += 1;
            if waits == 1 { Reply::Break } else { Reply::Now(fixtures::outcome("completed")) }
        }
        "evidence/list" => Reply::Now(fixtures::evidence()),
        "task/list" => Reply::Now(fixtures::page(&[])),
        "changes/get" => Reply::Now(fixtures::changes()),
        other => unknown(other),
    });
    let ran = run(&daemon, &["submit", "--wait", "fix it"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("aird answers again; nothing is lost"), "{}", ran.err);
    assert_eq!(daemon.calls("turn/submit").len(), 1);
    assert!(ran.err.matches("r1 fs.read").count() <= 1, "shown once: {}", ran.err);
}

#[test]
fn ctrl_c_stops_the_turn_and_exits_with_130() {
    let daemon = Daemon::start(|method, _, stage| match method {
        "turn/submit" => Reply::Now(fixtures::submitted()),
        "projection/snapshot" => Reply::Now(fixtures::snapshot()),
        "projection/subscribe" => Reply::Now(json!({ "seq": 1841 })),
        "turn/wait" => Reply::Hold,
        "turn/interrupt" => {
            stage.release(fixtures::outcome("interrupted"));
            Reply::Now(json!({ "turn_id": fixtures::TURN }))
        }
        "changes/get" => Reply::Now(fixtures::changes()),
        other => unknown(other),
    });
    let child = command(daemon.home())
        .args(["submit", "--wait", "fix it"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while daemon.calls("turn/wait").is_empty() {
        assert!(Instant::now() < deadline, "it does not wait");
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert!(ran.err.contains("air continue --session s3"), "{}", ran.err);
    assert_eq!(daemon.calls("turn/interrupt")[0]["session"], fixtures::SESSION);
}

#[test]
fn the_client_says_who_it_is() {
    let daemon = Daemon::start(|method, _, _| match method {
        "daemon/status" => Reply::Now(fixtures::status()),
        other => unknown(other),
    });
    let ran = run(&daemon, &["daemon", "status"]);
    assert!(ran.out.contains("· 21 MB · unix:/run/air/aird.sock\n2 projects, 3 sessions, 2 turns running, 1 question waiting, 4 clients\n"), "{}", ran.out);
    let hello = &daemon.calls("initialize")[0];
    assert_eq!((&hello["client"]["name"], &hello["role"]), (&json!("air"), &json!("driver")));
    assert!(hello["client"]["place"].as_str().is_some_and(|place| !place.is_empty()));
}
