//! Start, stop, crash, and what another daemon is told.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::json;

use crate::env::{AIRD, Client, Home, verdict};

#[tokio::test]
async fn a_signal_ends_it_in_order_and_the_next_one_knows_everything() {
    let mut home = Home::new();
    let pid = home.start();
    for (path, mode) in
        [(home.socket(), 0o600), (home.air_home().join("run"), 0o700), (home.air_home(), 0o700)]
    {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    let mut client = home.client().await;
    let project = client.ok("project/open", json!({ "path": home.project() })).await["id"].clone();
    let session = client.ok("session/create", json!({ "project_id": project })).await;
    home.signal(pid, Signal::TERM);
    assert_eq!(client.next().await, None);
    assert_eq!(verdict(home.ended(pid)), "exit 0");
    assert!(!home.socket().exists() && home.published().is_none());

    home.start();
    let mut client = home.client().await;
    // Nothing was unfinished: the project is opened when somebody asks for it, by its id alone.
    assert_eq!(client.ok("daemon/status", json!({})).await["projects"], 0);
    let params = json!({ "project_id": project, "session": "latest" });
    assert_eq!(client.ok("session/get", params).await["id"], session["id"]);
}

#[tokio::test]
async fn a_crash_leaves_nothing_in_the_way_and_open_projects_open_again() {
    let mut home = Home::new();
    let pid = home.start();
    let mut client = home.client().await;
    let project = client.ok("project/open", json!({ "path": home.project() })).await["id"].clone();
    client.ok("session/create", json!({ "project_id": project })).await;
    let first = client.ok("daemon/status", json!({})).await;
    home.signal(pid, Signal::KILL);
    assert_eq!(verdict(home.ended(pid)), "signal Some(9)");
    assert!(home.socket().exists());

    home.start();
    let mut client = home.client().await;
    let mut status = client.ok("daemon/status", json!({})).await;
    while status["projects"] == 0 {
        status = client.ok("daemon/status", json!({})).await;
    }
    assert_eq!(status["sessions"], 1);
    assert_ne!(status["instance_id"], first["instance_id"]);
    let read = client.ok("events/read", json!({ "project_id": project, "types": ["runtime.started"] })).await;
    assert_eq!(read["events"].as_array().unwrap().len(), 2, "{read}");
    let verified = client.ok("events/verify", json!({ "project_id": project })).await;
    assert_eq!(verified["equal"], true, "{verified}");
}

#[tokio::test]
async fn a_second_daemon_is_told_who_is_there() {
    let mut home = Home::new();
    let pid = home.start();
    let output = home.command(AIRD).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("daemon.already_running") && said.contains(&format!("pid {pid}")), "{said}");
    // Another home, the same socket: that is somebody else's.
    let other = Home::new();
    let output = other.command(AIRD).env("AIR_SOCKET", home.socket()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("daemon.already_running") && said.contains("another process answers"), "{said}");
    home.client().await.ok("daemon/status", json!({})).await;
}

#[tokio::test]
async fn a_daemon_that_starts_while_another_one_drains_waits_for_it() {
    let mut home = Home::new();
    let old = home.start();
    home.signal(old, Signal::STOP);
    std::fs::remove_file(home.socket()).unwrap();
    let new = home.begin();
    home.signal(old, Signal::TERM);
    home.signal(old, Signal::CONT);
    assert_eq!(verdict(home.ended(old)), "exit 0");
    home.wait_until("the new one publishes itself", || {
        home.published().is_some_and(|info| info["pid"] == new)
    });
    home.client().await.ok("daemon/status", json!({})).await;
}

#[test]
fn a_socket_path_that_is_too_long_names_the_limit() {
    let home = Home::new();
    let output = home.command(AIRD).env("AIR_SOCKET", format!("/tmp/{}", "x".repeat(120))).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("socket.path_too_long") && said.contains("107"), "{said}");
}

#[tokio::test]
async fn a_socket_that_vanished_is_bound_again() {
    let mut home = Home::new();
    home.start();
    std::fs::remove_file(home.socket()).unwrap();
    home.wait_until("the socket is back", || home.socket().exists());
    home.client().await.ok("daemon/status", json!({})).await;
}

#[tokio::test]
async fn a_client_that_may_stops_it_and_has_the_answer_first() {
    let mut home = Home::new();
    let pid = home.start();
    let mut observer = Client::connect(&home.socket(), "observer").await;
    assert_eq!(observer.code("daemon/shutdown", json!({})).await, "role.observer");
    let mut driver = home.client().await;
    driver.ok("daemon/shutdown", json!({ "drain": true, "commands": "end" })).await;
    assert_eq!(driver.next().await, None);
    assert_eq!(verdict(home.ended(pid)), "exit 0");
}
