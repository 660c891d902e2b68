//! Questions while a turn is watched, and their answers.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::air::run;
use crate::daemon::{Daemon, Reply, unknown};
use crate::fixtures;
use crate::submit::turn;
use crate::terminal::Terminal;

/// A daemon whose turn waits at a question, until that is answered.
fn asking() -> Daemon {
    Daemon::start(|method, params, stage| match method {
        "turn/submit" => Reply::Now(fixtures::submitted()),
        "projection/snapshot" => Reply::Now(fixtures::snapshot()),
        "projection/subscribe" => Reply::Now(json!({ "seq": 1841 })),
        // The question comes once the client waits, and what was typed before has arrived.
        "turn/wait" => {
            stage.notify(
                "projection/changed",
                fixtures::changed(&[json!({ "kind": "approval", "approval": fixtures::approval("open") })]),
            );
            Reply::Hold
        }
        "approval/answer" => {
            stage.release(fixtures::outcome(if params["decision"] == "allow" {
                "completed"
            } else {
                "blocked"
            }));
            Reply::Now(fixtures::approval("answered"))
        }
        "evidence/list" => Reply::Now(fixtures::evidence()),
        "task/list" => Reply::Now(fixtures::page(&[])),
        "changes/get" => Reply::Now(fixtures::changes()),
        other => unknown(other),
    })
}

#[test]
fn without_a_terminal_the_question_is_printed_and_the_work_parked() {
    let daemon = turn("waiting");
    let ran = run(&daemon, &["submit", "--wait", "fix it"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    for part in
        ["? a7  shell.run wants to reach the network", "curl -O https://example.org/x", "air approve a7"]
    {
        assert!(ran.err.contains(part), "{part:?} in {}", ran.err);
    }
    assert_eq!(daemon.calls("turn/wait")[0]["until_approval"], true);
    assert!(daemon.calls("turn/interrupt").is_empty(), "nothing is cancelled");
}

#[test]
fn json_says_waiting_and_names_the_question() {
    let ran = run(&turn("waiting"), &["submit", "--wait", "--output", "json", "fix it"]);
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &object["status"], &object["approvals"]),
        (Some(3), &json!("waiting"), &json!(["a7"]))
    );
}

#[test]
fn hold_waits_for_an_answer_from_elsewhere() {
    let mut waits = 0;
    let daemon = Daemon::start(move |method, params, stage| match method {
        "turn/submit" => Reply::Now(fixtures::submitted()),
        "projection/snapshot" => Reply::Now(fixtures::snapshot()),
        "projection/subscribe" => Reply::Now(json!({ "seq": 1841 })),
        "turn/wait" => {
            waits += 1;
            match (waits, params["until_approval"] == true) {
                (1, true) => Reply::Now(fixtures::outcome("waiting")),
                // Held: the answer comes from another client, and the client asks anew.
                (2, false) => {
                    let answered = json!({ "kind": "approval", "approval": fixtures::approval("answered") });
                    stage.notify("projection/changed", fixtures::changed(&[answered]));
                    Reply::Hold
                }
                (3, true) => Reply::Now(fixtures::outcome("completed")),
                other => panic!("unexpected wait {other:?}"),
            }
        }
        "evidence/list" => Reply::Now(fixtures::evidence()),
        "task/list" => Reply::Now(fixtures::page(&[])),
        "changes/get" => Reply::Now(fixtures::changes()),
        other => unknown(other),
    });
    let ran = run(&daemon, &["submit", "--wait", "--hold", "30m", "fix it"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("a7 allowed once, by air attach on pts/3"), "{}", ran.err);
}

#[test]
fn a_hold_that_runs_out_exits_with_3() {
    let daemon = turn("waiting");
    let begun = Instant::now();
    let ran = run(&daemon, &["submit", "--wait", "--hold", "50ms", "fix it"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(begun.elapsed() >= Duration::from_millis(50));
}

#[test]
fn a_letter_and_enter_answer_on_a_terminal() {
    let daemon = asking();
    let mut terminal = Terminal::start(&daemon, &["submit", "--wait", "fix it"]);
    terminal.wait_for("v view");
    terminal.send("\n");
    terminal.send("1\n");
    terminal.send("y\n");
    assert_eq!(terminal.end(), Some(0), "{}", terminal.text());
    let answers = daemon.calls("approval/answer");
    assert_eq!(answers.len(), 1, "Enter and digits answer nothing");
    assert_eq!((&answers[0]["decision"], &answers[0]["scope"]), (&json!("allow"), &json!("once")));
    assert!(terminal.text().contains("a7 allowed once, by air attach on pts/3"), "{}", terminal.text());
}

#[test]
fn what_was_typed_before_the_question_answers_nothing() {
    let daemon = asking();
    let mut terminal = Terminal::start_after_typing(&daemon, &["submit", "--wait", "fix it"], "y\ny\n");
    terminal.wait_for("v view");
    terminal.send("w\n");
    terminal.wait_for("why?");
    terminal.send("no network here\n");
    assert_eq!(terminal.end(), Some(3), "{}", terminal.text());
    let answers = daemon.calls("approval/answer");
    assert_eq!(answers.len(), 1);
    assert_eq!((&answers[0]["decision"], &answers[0]["note"]), (&json!("deny"), &json!("no network here")));
}

#[test]
fn approve_and_deny_say_what_they_did() {
    let daemon = Daemon::start(|method, _, _| match method {
        "approval/answer" => Reply::Now(fixtures::approval("answered")),
        other => unknown(other),
    });
    let ran = run(&daemon, &["approve", "a7", "--scope", "session"]);
    assert_eq!((ran.out.as_str(), ran.code), ("a7 allowed once\n", Some(0)));
    assert_eq!(daemon.calls("approval/answer")[0]["scope"], "session");
    let ran = run(&daemon, &["deny", "a7", "--note", "no", "--output", "json"]);
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&object["tool"], &object["scopes"][0]["name"]), (&json!("shell.run"), &json!("once")));
}
