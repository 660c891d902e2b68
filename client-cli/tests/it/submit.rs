//! `air submit`: what is printed where, and with which exit code.

use serde_json::{Value, json};

use crate::air::{run, run_with_stdin};
use crate::daemon::{Daemon, Reply, unknown};
use crate::fixtures;

/// A daemon that plays one turn: two runs, the end of the task, then the outcome.
pub fn turn(status: &'static str) -> Daemon {
    Daemon::start(move |method, _, stage| match method {
        "turn/submit" => Reply::Now(fixtures::submitted()),
        "projection/snapshot" => Reply::Now(fixtures::snapshot()),
        "projection/subscribe" => {
            let changes = [
                fixtures::run_item(1843, 1, "cpp.test", "1 of 3 failed: stats.percentile", Some(8)),
                fixtures::run_item(1847, 3, "fs.edit", "src/percentile.cpp +1 -1", None),
                json!({ "kind": "task", "task": fixtures::task(if status == "completed" { "completed" } else { "running" }, 1) }),
            ];
            stage.notify("projection/changed", fixtures::changed(&changes));
            Reply::Now(json!({ "seq": 1841 }))
        }
        "turn/wait" => Reply::Now(fixtures::outcome(status)),
        "evidence/list" => Reply::Now(fixtures::evidence()),
        "task/list" => Reply::Now(fixtures::page(&[fixtures::task("completed", 3)])),
        "changes/get" => Reply::Now(fixtures::changes()),
        "approval/list" => Reply::Now(fixtures::page(&[fixtures::approval("open")])),
        "events/follow" => {
            stage.notify("events/appended", json!({ "events": [event(1841), event(1842)] }));
            Reply::Now(json!({ "seq": 1842 }))
        }
        "events/read" => {
            Reply::Now(json!({ "events": [event(1842), event(1843)], "seq": 1843, "more": false }))
        }
        other => unknown(other),
    })
}

fn event(seq: u64) -> Value {
    json!({
        "id": format!("event_00000000-0000-0000-0000-{seq:012x}"), "seq": seq, "session_seq": 1, "type": "turn.started",
        "version": 1, "timestamp": fixtures::AT, "session_id": fixtures::SESSION, "project_id": fixtures::PROJECT,
        "source": { "kind": "daemon", "id": "aird" }, "route": ["session"], "payload": { "turn_id": fixtures::TURN },
    })
}

#[test]
fn without_wait_the_turn_id_is_all_of_stdout() {
    let daemon = turn("completed");
    let ran = run_with_stdin(&daemon, &["submit", "-", "--max-cost", "2.5", "--approve", "safe"], "fix it\n");
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), ("t12\n", "", Some(0)));
    let sent = &daemon.calls("turn/submit")[0];
    assert_eq!(sent["text"], "fix it\n");
    assert_eq!(sent["session"], "latest");
    assert_eq!(sent["options"], json!({ "approve": "safe", "max_cost_usd": 2.5 }));
    assert_eq!(sent["client_id"].as_str().unwrap().len(), 36);
}

#[test]
fn the_final_block_goes_to_stdout_and_the_way_on_to_stderr() {
    let ran = run(&turn("completed"), &["submit", "--wait", "fix it"]);
    let expected = "\
The rank was taken from n instead of n - 1.

Verified on tree 9f3c1ad2, after the last write
  ✓ builds without warnings           e4  cmake      exit 0, 0 warnings
  ✓ all tests pass                    e5  ctest      3 of 3, before 2 of 3
  ✓ only src/percentile.cpp changed   e6  git.diff   1 file

Changed  src/percentile.cpp  +1 -1
";
    assert_eq!(ran.out, expected);
    let expected = "\
2026-11-30T20:14:09Z r1 cpp.test failed 1 of 3 failed: stats.percentile
2026-11-30T20:14:09Z r3 fs.edit ok src/percentile.cpp +1 -1
2026-11-30T20:14:07Z k1 task done Fix the rank in percentile()
Cost     $0.03 · 11.4k in, 8.9k of it cached · 0.9k out · 31 s

Next     air diff · air evidence k1
";
    let err: Vec<&str> = ran.err.lines().skip(1).collect();
    assert!(
        ran.err.lines().next().unwrap().ends_with("t12 sent to s3 stats claude-sonnet-4-5"),
        "{}",
        ran.err
    );
    assert_eq!(err.join("\n") + "\n", expected);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn a_failed_verification_says_what_is_not_proved() {
    let ran = run(&turn("blocked"), &["submit", "--wait", "fix it"]);
    let expected = "\
Not done. The rank was taken from n instead of n - 1.
  ✓ builds without warnings           e4  cmake      exit 0, 0 warnings
  ✗ all tests pass                    2 of 3
  ~ only src/percentile.cpp changed   e6  stale: the tree changed after it

Tried    3 attempts
Changed  src/percentile.cpp  +1 -1  (kept)
";
    assert_eq!(ran.out, expected);
    assert!(ran.err.ends_with("Next     air retry k1 --note \"…\" · air diff\n"), "{}", ran.err);
    assert_eq!(ran.code, Some(3));
}

#[test]
fn the_exit_code_is_that_of_the_outcome() {
    let check = |status, code, out: &str| {
        let ran = run(&turn(status), &["submit", "--wait", "fix it"]);
        assert_eq!(ran.code, Some(code), "{status}: {}", ran.err);
        assert!(ran.out.contains(out), "{status}: {}", ran.out);
    };
    check("answered", 0, "n - 1.\n\nNo claim to verify.\n");
    check("failed", 1, "Not done.");
    check("budget", 5, "Not done: budget reached.");
    check("interrupted", 130, "Not done: interrupted.");
}

#[test]
fn json_is_one_object_with_every_field_and_a_silent_stderr() {
    let ran = run(&turn("completed"), &["submit", "--wait", "--output", "json", "fix it"]);
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)));
    let object: Value = serde_json::from_str(&ran.out).unwrap();
    for field in ["turn_id", "session_id", "status", "answer", "tasks", "changed_files", "usage", "blockers"]
    {
        assert!(object.get(field).is_some(), "{field} is missing");
    }
    let criterion = &object["tasks"][0]["criteria"][0];
    assert_eq!((&criterion["state"], &object["status"]), (&json!("proved"), &json!("completed")));
}

#[test]
fn jsonl_is_the_events_then_the_object() {
    let ran = run(&turn("completed"), &["submit", "--wait", "--output", "jsonl", "fix it"]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seqs: Vec<Option<u64>> = lines.iter().map(|line| line["seq"].as_u64()).collect();
    assert_eq!(seqs, [Some(1841), Some(1842), Some(1843), None]);
    assert_eq!(lines[3]["status"], "completed");
    assert_eq!(ran.err, "");
}

#[test]
fn quiet_prints_the_result_only() {
    let ran = run(&turn("answered"), &["submit", "--wait", "-q", "why?"]);
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)));
}

#[test]
fn files_go_along() {
    let daemon = turn("completed");
    std::fs::write(daemon.home().join("REVIEW.md"), "look at a\n").unwrap();
    let ran = run(&daemon, &["submit", "x", "--file", "REVIEW.md", "--session", "new"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let sent = &daemon.calls("turn/submit")[0];
    assert_eq!(sent["attachments"], json!([{ "name": "REVIEW.md", "text": "look at a\n" }]));
    assert_eq!(sent["session"], "new");
}

#[test]
fn where_only_ascii_can_be_shown_the_symbols_are_ascii() {
    let daemon = turn("blocked");
    let output = crate::air::command(daemon.home())
        .env("AIR_ASCII", "1")
        .args(["submit", "--wait", "fix it"])
        .output();
    let ran: crate::air::Ran = output.unwrap().into();
    assert!(
        ran.out.contains("\n  + builds without warnings") && ran.out.contains("\n  x all tests pass"),
        "{}",
        ran.out
    );
    assert!(ran.out.is_ascii() && ran.err.is_ascii(), "{}{}", ran.out, ran.err);
}
