//! The life of turns: queue, interrupt, continue, retry.

use crate::env::TestEnv;
use crate::shell_project::{FILES, calls, scenario};

const WAITS: &str = "{command: \"touch started; while [ ! -f go ]; do sleep 0.05; done\"}";

fn waiting() -> TestEnv {
    let mut env = TestEnv::new(FILES);
    let turns = calls(&[("fs.read", "{path: total.sh}"), ("shell.run", WAITS)])
        + &calls(&[("fs.edit", "{path: total.sh, old_string: \"$1 - $2\", new_string: \"$1 + $2\"}")])
        + &calls(&[("task.finish", "{status: done, summary: It adds now.}")]);
    let script = scenario(&turns).replace("    turns:", "    cursor: history\n    turns:");
    // The first request of a conversation hands over; later ones of the Main Agent are answered.
    let script =
        script.replace("  executor:", "      - repeat: forever\n        reply: {text: noted}\n  executor:");
    env.model(&script);
    env
}

#[test]
fn what_is_queued_waits_behind_an_interrupted_turn_until_it_goes_on() {
    let env = waiting();
    env.air(&["submit", "fix the sum"]).expect_code(0);
    env.wait_until("the command runs", || env.project().join("started").exists());
    env.air(&["submit", "and then this"]).expect_code(0);
    env.air(&["interrupt"]).expect_code(0);
    let log = env.json(&["log"]);
    let ended = log["items"].as_array().unwrap().iter().filter(|event| event["type"] == "turn.ended").count();
    assert_eq!(ended, 1, "the queued turn ran on");

    env.write("go", "");
    env.air(&["continue", "--note", "hurry, GOQUICK"]).expect_code(0);
    env.wait_until("both turns have ended", || {
        let log = env.json(&["log"]);
        log["items"].as_array().unwrap().iter().filter(|event| event["type"] == "turn.ended").count() == 3
    });
    assert!(env.read("total.sh").contains("$1 + $2"));
    let told = env
        .requests()
        .iter()
        .any(|line| line["agent"] == "executor" && line["body"].to_string().contains("GOQUICK"));
    assert!(told, "the note reached no worker");
}

#[test]
fn options_of_a_message_hold_for_its_turn_alone() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - repeat: forever\n    reply: {text: hello}\n");
    env.air(&["submit", "--wait", "--approve", "all", "one"]).expect_code(0);
    let sessions = env.json(&["sessions"]);
    assert_eq!(sessions["items"][0]["settings"]["approve"], "ask", "{sessions:#}");
}

#[test]
fn an_interrupt_answers_every_call_and_leaves_no_process() {
    let env = waiting();
    env.air(&["submit", "fix the sum"]).expect_code(0);
    env.wait_until("the command runs", || env.project().join("started").exists());
    env.air(&["interrupt"]).expect_code(0);
    let daemon = env.daemon_pid().unwrap();
    env.wait_until("only the daemon is left", || crate::env::descendants(daemon).is_empty());
    let runs = env.json(&["rpc", "daemon/status", "{}"]);
    assert_eq!(runs["workers"], 0, "{runs:#}");
    let log = env.json(&["log"]);
    let events = log["items"].as_array().unwrap();
    let count = |kinds: &[&str]| {
        events.iter().filter(|event| kinds.contains(&event["type"].as_str().unwrap())).count()
    };
    assert_eq!(count(&["tool.started"]), count(&["tool.completed", "tool.failed"]));
}

#[test]
fn an_ephemeral_session_is_not_the_one_that_people_come_back_to() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - repeat: forever\n    reply: {text: hello}\n");
    env.air(&["submit", "--wait", "--ephemeral", "only this"]).expect_code(0);
    assert_eq!(env.json(&["sessions"])["items"].as_array().map(Vec::len), Some(0));
    let kept = env.air(&["submit", "--wait", "--output", "json", "and this"]).expect_code(0).json();
    assert_eq!(kept["session"], "s2", "{kept:#}");
}

#[test]
fn a_turn_that_its_provider_failed_can_be_continued() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - fault: {status: 401, type: authentication_error, message: bad key}\n  - reply: {text: hello again}\n");
    let failed = env.air(&["submit", "--wait", "--output", "json", "hello"]).expect_code(1).json();
    assert_eq!(failed["error"]["code"], "provider.auth", "{failed:#}");
    env.air(&["continue"]).expect_code(0);
    let done = env.air(&["wait", "--output", "json"]).expect_code(0).json();
    assert_eq!(done["answer"], "hello again", "{done:#}");
}
