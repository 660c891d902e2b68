//! kill -9 of the daemon at each event of a scenario, and of a worker: the session comes to the same end.

use crate::cmake_project;
use crate::env::{TestEnv, descendants, kill};
use crate::shell_project::{FILES, REQUEST, calls, scenario};

/// A command that counts its own runs outside of what a rewind or a repeat would hide.
const COUNTED: &str = "{command: \"echo ran >> count.txt; sleep 0.3; make check\"}";

fn turns() -> String {
    [
        calls(&[("fs.read", "{path: total.sh}"), ("shell.run", COUNTED)]),
        calls(&[("fs.edit", "{path: total.sh, old_string: \"$1 - $2\", new_string: \"$1 + $2\"}")]),
        calls(&[("task.finish", "{status: done, summary: It adds now.}")]),
    ]
    .concat()
}

fn last_seq(env: &TestEnv) -> u64 {
    let ran = env.air(&["log", "--output", "json"]);
    ran.json()["items"]
        .as_array()
        .and_then(|items| items.last().and_then(|event| event["seq"].as_u64()))
        .unwrap_or(0)
}

/// Runs the scenario; kills the daemon when the log has reached `at`. Returns false when it ended before that.
fn run_and_kill_at(at: u64) -> bool {
    let mut env = TestEnv::new(FILES);
    env.model(&scenario(&turns()).replace("    turns:", "    cursor: history\n    turns:"));
    env.air(&["submit", REQUEST]).expect_code(0);
    let mut killed = false;
    env.wait_until("the log has come so far", || {
        let log = env.air(&["log", "--output", "jsonl"]);
        let seqs = log.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let (mut reached, mut ended) = (0, false);
        for event in seqs {
            reached = event["seq"].as_u64().unwrap_or(0);
            ended |= event["type"] == "turn.ended";
        }
        if reached >= at && !ended {
            killed = true;
        }
        killed || ended
    });
    if !killed {
        return false;
    }
    env.kill_daemon();
    // The next command starts the next daemon, and that one goes on by itself.
    let done = env.air(&["wait", "--output", "json"]);
    let outcome = done.json();
    assert_eq!(outcome["status"], "completed", "killed at {at}: {outcome:#}\n{}", env.log());
    assert!(env.read("total.sh").contains("$1 + $2"), "killed at {at}");
    // A call that had not begun is not made up for: the model is told, and may do without it.
    let runs = std::fs::read_to_string(env.project().join("count.txt")).unwrap_or_default().lines().count();
    assert!(runs <= 1, "killed at {at}: the command ran {runs} times");
    let verified = env.json(&["events", "verify"]);
    assert_eq!(verified["equal"], true, "killed at {at}: {verified:#}");
    assert!(last_seq(&env) > at);
    valid_histories(&env);
    true
}

/// Each call that a model was shown has exactly one result right behind it.
fn valid_histories(env: &TestEnv) {
    for request in env.requests().iter().filter(|line| line["kind"] == "request") {
        let empty = Vec::new();
        let messages = request["body"]["messages"].as_array().unwrap_or(&empty);
        for pair in messages.windows(2) {
            let ids = |message: &serde_json::Value, kind: &str, key: &str| -> Vec<String> {
                let blocks = message["content"].as_array().cloned().unwrap_or_default();
                blocks
                    .iter()
                    .filter(|block| block["type"] == kind)
                    .map(|block| block[key].as_str().unwrap().to_owned())
                    .collect()
            };
            let asked = ids(&pair[0], "tool_use", "id");
            assert_eq!(asked, ids(&pair[1], "tool_result", "tool_use_id"), "{request:#}");
        }
    }
}

#[test]
fn the_daemon_may_die_at_each_event() {
    let mut at = 2;
    let mut killed = 0;
    while run_and_kill_at(at) {
        killed += 1;
        at += 1;
        assert!(at < 200, "the scenario does not end");
    }
    assert!(killed >= 5, "the daemon was killed {killed} times only");
}

#[test]
fn a_worker_may_die() {
    let mut env = TestEnv::new(FILES);
    env.model(&scenario(&turns()).replace("    turns:", "    cursor: history\n    turns:"));
    env.air(&["submit", REQUEST]).expect_code(0);
    let daemon = env.daemon_pid().unwrap();
    env.wait_until("the command runs", || env.project().join("count.txt").exists());
    let worker = worker_of(daemon).expect("a worker");
    kill(worker);
    let outcome = env.air(&["wait", "--output", "json"]).json();
    assert_eq!(outcome["status"], "completed", "{outcome:#}\n{}", env.log());
    assert_eq!(env.read("count.txt").lines().count(), 1);
    valid_histories(&env);
}

/// The child of the daemon that runs a role.
fn worker_of(daemon: i32) -> Option<i32> {
    descendants(daemon).into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("\0role")
    })
}

#[test]
fn the_daemon_may_die_while_cmake_runs() {
    let mut env = TestEnv::new(cmake_project::FILES);
    let turns = calls(&[("fs.read", "{path: sum.cpp}"), ("shell.run", cmake_project::BUILD_AND_TEST)])
        + &calls(&[("fs.edit", cmake_project::EDIT)])
        + &calls(&[("check.run", "{}")])
        + &calls(&[("task.finish", "{status: done, summary: It adds now.}")]);
    env.model(&scenario(&turns).replace("    turns:", "    cursor: history\n    turns:"));
    env.air(&["submit", cmake_project::REQUEST]).expect_code(0);
    // Its own build, not that of the baseline, which has a folder outside of the tree.
    env.wait_until("cmake runs", || env.project().join("build/CMakeCache.txt").exists());
    env.kill_daemon();
    let outcome = env.air(&["wait", "--output", "json"]).expect_code(0).json();
    assert_eq!(outcome["status"], "completed", "{outcome:#}");
    let criteria = outcome["tasks"][0]["criteria"].as_array().unwrap();
    assert!(
        criteria
            .iter()
            .any(|criterion| criterion["state"] == "proved" && criterion["text"] == "all tests pass"),
        "{outcome:#}"
    );
    assert_eq!(outcome["changed_files"], serde_json::json!([{ "path": "sum.cpp" }]), "{outcome:#}");

    let log = env.json(&["log"]);
    let events = log["items"].as_array().unwrap();
    let run = events
        .iter()
        .find(|event| event["type"] == "tool.started" && event["payload"]["tool"] == "shell.run")
        .unwrap();
    let ends: Vec<_> = events
        .iter()
        .filter(|event| {
            event["payload"]["run_id"] == run["payload"]["run_id"] && event["type"] != "tool.started"
        })
        .filter(|event| event["type"].as_str().unwrap().starts_with("tool."))
        .collect();
    assert_eq!(ends.len(), 1, "{ends:#?}");
    assert_eq!(ends[0]["type"], "tool.completed");
    assert!(
        ["adopted", "exit file"].contains(&ends[0]["payload"]["reconciled"].as_str().unwrap()),
        "{ends:#?}"
    );
    // The build failed its test, as it had to at that time: the real result was delivered.
    assert_eq!(ends[0]["payload"]["exit_code"], 8);
    valid_histories(&env);
}
