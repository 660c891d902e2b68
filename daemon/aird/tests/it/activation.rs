//! Started by a socket, as systemd does it.

use std::process::Stdio;

use serde_json::json;

use crate::env::{AIRD, Client, Home, verdict};

const ACTIVATE: &str = "systemd-socket-activate";

fn installed(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

#[tokio::test]
async fn an_activated_daemon_takes_over_from_the_one_at_work() {
    if !installed(ACTIVATE) {
        return;
    }
    let mut home = Home::new();
    let old = home.start();
    let mut client = home.client().await;
    let project = client.ok("project/open", json!({ "path": home.project() })).await["id"].clone();
    client.ok("session/create", json!({ "project_id": project })).await;

    let socket = home.air_home().join("activated.sock");
    let mut command = home.command(ACTIVATE);
    for variable in ["HOME", "AIR_HOME", "PATH"] {
        command.arg(format!("--setenv={variable}"));
    }
    let child = command.arg("-l").arg(&socket).arg(AIRD).stderr(Stdio::null()).spawn().unwrap();
    let new = child.id();
    home.keep(child);
    home.wait_until("the socket is there", || socket.exists());
    // The first connection starts it; it is answered when the other one has drained.
    let mut client = Client::connect(&socket, "driver").await;
    assert_eq!(verdict(home.ended(old)), "exit 0");
    let status = client.ok("daemon/status", json!({})).await;
    assert_eq!((&status["pid"], &status["started_by"]), (&json!(new), &json!("systemd")));
    assert_eq!(home.published().unwrap()["socket"], json!(socket));
    let params = json!({ "project_id": project, "session": "latest" });
    client.ok("session/get", params).await;
    // The name is not the daemon's to remove.
    client.ok("daemon/shutdown", json!({})).await;
    assert_eq!(verdict(home.ended(new)), "exit 0");
    assert!(socket.exists());
}
