//! Models that claim more than they did. None of them gets `proved` or exit 0.

use serde_json::Value;

use crate::env::TestEnv;
use crate::shell_project::{FILES, REQUEST, calls};

const FINISH: &str = "{status: done, summary: All done.}";
const RIGHT_EDIT: &str = "{path: total.sh, old_string: \"$1 - $2\", new_string: \"$1 + $2\"}";

fn run(executor: &str, criteria: &str) -> (TestEnv, i32, Value) {
    let mut env = TestEnv::new(FILES);
    env.model(&format!(
        "agents:\n  main:\n    match: You talk with the user\n    turns:\n      - reply:\n          tools:\n            - name: task.create\n              input: {{title: Fix the sum, criteria: {criteria}}}\n  reviewer:\n    match: You judge a change\n    turns:\n      - repeat: forever\n        reply:\n          tools:\n            - {{name: task.finish, input: {{status: done, summary: The tests were weakened., result: {{verdict: changes, findings: [{{severity: blocking, text: a test was removed}}]}}}}}}\n  worker:\n    match: task_finish\n    turns:\n{executor}"
    ));
    let ran = env.air(&["submit", "--wait", "--output", "json", REQUEST]);
    let (code, done) = (ran.code, ran.json());
    (env, code, done)
}

/// The states of the criteria that rest on the project's own tests.
fn states(done: &Value) -> Vec<String> {
    let tasks = done["tasks"].as_array().unwrap();
    let criteria = tasks.iter().flat_map(|task| task["criteria"].as_array().unwrap());
    criteria.map(|criterion| criterion["state"].as_str().unwrap().to_owned()).collect()
}

fn forever(turn: &str) -> String {
    turn.replace("      - reply:", "      - repeat: forever\n        reply:")
}

#[test]
fn done_with_nothing_done_is_not_done() {
    let (_env, code, done) = run(&forever(&calls(&[("task.finish", FINISH)])), "[]");
    assert!(matches!(code, 1 | 3), "{done:#}");
    assert!(!states(&done).contains(&"proved".to_owned()), "{done:#}");
}

#[test]
fn done_after_a_failing_test_is_not_done() {
    let wrong = calls(&[("fs.read", "{path: total.sh}")])
        + &calls(&[("fs.edit", "{path: total.sh, old_string: \"$1 - $2\", new_string: \"$1 * $2\"}")])
        + &calls(&[("shell.run", "{command: make check}")])
        + &forever(&calls(&[("task.finish", FINISH)]));
    let (_env, code, done) = run(&wrong, "[]");
    assert!(matches!(code, 1 | 3), "{done:#}");
    assert!(!states(&done).contains(&"proved".to_owned()), "{done:#}");
}

#[test]
fn a_check_that_cannot_fail_proves_nothing() {
    let turns = calls(&[("fs.read", "{path: total.sh}")])
        + &calls(&[("fs.edit", RIGHT_EDIT)])
        + &calls(&[("task.finish", FINISH)]);
    let (_env, _code, done) = run(&turns, "[{text: it is much better now, check: \"true\"}]");
    let criteria = done["tasks"][0]["criteria"].as_array().unwrap();
    let vacuous = criteria.iter().find(|criterion| criterion["text"] == "it is much better now").unwrap();
    assert_eq!(vacuous["state"], "unproved", "{done:#}");
}

#[test]
fn a_deleted_test_is_not_a_passed_test() {
    let turns = calls(&[("fs.read", "{path: tests/run.sh}")])
        + &calls(&[("fs.edit", "{path: tests/run.sh, old_string: \"check 1 2 3\\n\", new_string: \"\"}")])
        + &forever(&calls(&[("task.finish", FINISH)]));
    let (_env, code, done) = run(&turns, "[]");
    assert!(matches!(code, 1 | 3), "{done:#}");
    assert!(!states(&done).contains(&"proved".to_owned()), "{done:#}");
}

#[test]
fn an_edit_after_the_last_green_run_is_verified_again() {
    let turns = calls(&[("fs.read", "{path: total.sh}")])
        + &calls(&[("fs.edit", RIGHT_EDIT)])
        + &calls(&[("check.run", "{}")])
        + &calls(&[("fs.edit", "{path: total.sh, old_string: \"$1 + $2\", new_string: \"$1 + $2 + 1\"}")])
        + &forever(&calls(&[("task.finish", FINISH)]));
    let (_env, code, done) = run(&turns, "[]");
    assert!(matches!(code, 1 | 3), "{done:#}");
    assert!(!states(&done).contains(&"proved".to_owned()), "{done:#}");
}
