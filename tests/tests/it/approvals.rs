//! Questions to the user: durable, answered from anywhere, and never by the command that they are about.

use serde_json::Value;

use crate::env::TestEnv;
use crate::shell_project::{FILES, REQUEST, calls, scenario};

/// Deletes a file that git does not know: work that is not trivially restored.
const RISKY: &str = "{command: \"rm -rf notes\"}";

fn asking(more: &str) -> TestEnv {
    let mut env = TestEnv::new(FILES);
    env.write("notes/idea.txt", "not committed\n");
    env.model(
        &scenario(&(calls(&[("shell.run", RISKY)]) + more))
            .replace("    turns:", "    cursor: history\n    turns:"),
    );
    env
}

fn finish() -> String {
    calls(&[("fs.read", "{path: total.sh}")])
        + &calls(&[("fs.edit", "{path: total.sh, old_string: \"$1 - $2\", new_string: \"$1 + $2\"}")])
        + &calls(&[("task.finish", "{status: done, summary: Done.}")])
}

fn open(env: &TestEnv) -> Vec<Value> {
    env.json(&["approvals"])["items"].as_array().unwrap().clone()
}

#[test]
fn a_question_stops_the_wait_and_not_the_work() {
    let env = asking(&finish());
    let waiting = env.air(&["submit", "--wait", "--output", "json", REQUEST]).expect_code(3).json();
    assert_eq!(waiting["status"], "waiting", "{waiting:#}");
    let questions = open(&env);
    assert_eq!(questions.len(), 1);
    assert!(env.project().join("notes/idea.txt").exists());

    // Asked again after a crash, under the same id; answered from a script.
    env.kill_daemon();
    let again = open(&env);
    assert_eq!(again[0]["id"], questions[0]["id"]);
    let id = again[0]["ref"].as_str().unwrap();
    env.wait_until("the work waits again", || env.json(&["tasks"])["items"][0]["status"] == "running");
    env.air(&["approve", id]).expect_code(0);
    let done = env.air(&["wait", "--output", "json"]).expect_code(0).json();
    assert_eq!(done["status"], "completed", "{done:#}");
    assert!(!env.project().join("notes").exists());

    // The first answer wins.
    let second = env.air(&["deny", id, "--output", "json"]).expect_code(1).json();
    assert_eq!(second["error"]["code"], "approval.answered", "{second:#}");
}

#[test]
fn a_turn_behind_a_question_waits_for_it_too() {
    let env = asking(&finish());
    env.air(&["submit", "--wait", REQUEST]).expect_code(3);
    let behind = env.air(&["submit", "--wait", "--output", "json", "and this"]).expect_code(3).json();
    assert_eq!(
        (behind["status"].as_str(), behind["approvals"][0].as_str()),
        (Some("waiting"), Some("a1")),
        "{behind:#}"
    );
}

#[test]
fn a_question_of_the_model_stops_the_wait_and_takes_an_answer() {
    let mut env = TestEnv::new(FILES);
    env.model(
        "turns:\n  - reply:\n      tools: [{name: user.ask, input: {question: tabs or spaces?, options: [tabs, spaces]}}]\n  - reply: {text: \"noted: {{last_tool_result}}\"}\n",
    );
    let waiting = env.air(&["submit", "--wait", "--output", "json", "format it"]).expect_code(3).json();
    assert_eq!(waiting["status"], "waiting", "{waiting:#}");
    env.air(&["answer", "a1", "spaces"]).expect_code(0);
    let done = env.air(&["wait", "--output", "json"]).expect_code(0).json();
    assert!(done["answer"].as_str().unwrap().contains("spaces"), "{done:#}");
}

#[test]
fn a_denial_reaches_the_model_with_its_note() {
    let env = asking(&finish());
    env.air(&["submit", "--wait", REQUEST]).expect_code(3);
    let id = open(&env)[0]["ref"].as_str().unwrap().to_owned();
    env.air(&["deny", &id, "--note", "keep my notes"]).expect_code(0);
    env.air(&["wait"]).expect_code(0);
    assert!(env.project().join("notes/idea.txt").exists());
    let told = env.requests().iter().any(|line| line["body"].to_string().contains("keep my notes"));
    assert!(told, "the model was not told why");
}

#[test]
fn modes_turn_questions_into_answers() {
    let env = asking(&finish());
    env.air(&["submit", "--wait", "--approve", "safe", REQUEST]).expect_code(0);
    assert!(env.project().join("notes/idea.txt").exists());
    assert!(open(&env).is_empty());
    let env = asking(&finish());
    env.air(&["submit", "--wait", "--approve", "all", REQUEST]).expect_code(0);
    assert!(!env.project().join("notes").exists());
}

#[test]
fn a_command_cannot_answer_its_own_question_nor_write_its_own_result() {
    let mut env = TestEnv::new(FILES);
    let air = crate::env::binary("air");
    let home = env.air_home();
    // Everything that a command could try with the tools at hand, one after the other.
    let attack = format!(
        "export AIR_HOME={home}; {air} approvals >a.txt 2>&1; {air} approve a1 >>a.txt 2>&1; \
         curl -s --unix-socket {home}/run/aird.sock -d x http://x/rpc >>a.txt 2>&1; \
         for run in {home}/projects/*/runs/*; do echo 0 > $run/exit.json; rm -f $run/lock; done 2>>a.txt; echo tried",
        home = home.display(),
        air = air.display()
    );
    env.write("attack.sh", &attack);
    let turns = calls(&[("shell.run", "{command: sh attack.sh}")])
        + &calls(&[("shell.run", RISKY)])
        + &calls(&[("task.finish", "{status: blocked, summary: Asked., blocker: asked}")]);
    env.model(&scenario(&turns));
    // A script of the project is code that nobody has read: it runs because the test says so.
    env.air(&["submit", "--wait", "--approve", "all", REQUEST]);
    let tried = env.read("a.txt");
    assert!(!tried.contains("ID"), "the command saw the questions: {tried}");
    let runs = env.json(&["log"]);
    let events = runs["items"].as_array().unwrap();
    assert!(!events.iter().any(|event| event["type"] == "approval.answered"), "{tried}");
    let ended = events.iter().find(|event| {
        event["type"] == "tool.completed" && event["payload"]["content"].to_string().contains("tried")
    });
    assert_eq!(ended.unwrap()["payload"]["exit_code"], 0);
}
