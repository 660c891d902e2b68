//! The main job: a message becomes a proved change.

use serde_json::Value;

use crate::env::TestEnv;
use crate::shell_project::{FILES, REQUEST, honest, scenario};

#[test]
fn a_message_becomes_a_proved_change() {
    let mut env = TestEnv::new(FILES);
    env.model(&scenario(&honest()));
    let done = env.air(&["submit", "--wait", "--output", "json", REQUEST]).expect_code(0).json();

    assert_eq!(done["status"], "completed", "{done:#}");
    assert_eq!(done["answer"], "total.sh subtracted; it adds now.");
    assert_eq!(done["changed_files"].as_array().unwrap().len(), 1, "{done:#}");
    assert!(env.read("total.sh").contains("$1 + $2"));

    let criteria = done["tasks"][0]["criteria"].as_array().unwrap();
    assert!(
        criteria.iter().any(|criterion| criterion["state"] == "proved"
            && !criterion["evidence"].as_array().unwrap().is_empty()),
        "{done:#}"
    );
    // The sentence without a check is not claimed to be proved.
    let said = criteria.iter().find(|criterion| criterion["text"] == "total.sh adds").unwrap();
    assert_eq!(said["state"], "unproved");

    // One request beyond a bare loop: that of the Main Agent.
    assert_eq!(env.requests().iter().filter(|line| line["kind"] == "request").count(), 4);

    let evidence = env.json(&["evidence"]);
    let proof = &evidence["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["kind"] == "check_passed")
        .unwrap()
        .clone();
    assert_eq!((proof["stale"].as_bool(), proof["exit_code"].as_i64()), (Some(false), Some(0)), "{proof:#}");
    assert!(env.air(&["diff"]).expect_code(0).stdout.contains("+echo $(($1 + $2))"));
    let verified = env.json(&["events", "verify"]);
    assert_eq!(verified["equal"], true, "{verified:#}");
}

#[test]
fn first_requests_are_small() {
    let mut files = FILES.to_vec();
    let rules = "Keep it simple. ".repeat(31);
    files.push(("AGENTS.md", &rules));
    let mut env = TestEnv::new(&files);
    env.model(&scenario(&honest()));
    env.air(&["submit", "--wait", REQUEST]).expect_code(0);
    let sizes: Vec<usize> = env
        .requests()
        .iter()
        .filter(|line| line["kind"] == "request")
        .map(|line| line["body"].to_string().len())
        .collect();
    assert!(sizes[0] <= 6 * 1024, "the Main Agent's first request has {} bytes", sizes[0]);
    assert!(sizes[1] <= 12 * 1024, "the Executor's first request has {} bytes", sizes[1]);
}

#[test]
fn a_question_is_answered_without_a_task() {
    let mut env = TestEnv::new(FILES);
    env.model("turns:\n  - reply: {text: It adds two numbers.}\n");
    let ran = env.air(&["submit", "--wait", "what does total.sh do?"]).expect_code(0);
    assert!(ran.stdout.contains("It adds two numbers."), "{ran:#?}");
    let done = env.json(&["wait"]);
    assert_eq!(
        (done["status"].as_str(), done["tasks"].as_array().map(Vec::len)),
        (Some("answered"), Some(0))
    );
}

#[test]
fn the_request_that_was_sent_can_be_opened_byte_for_byte() {
    let mut env = TestEnv::new(FILES);
    env.model(&scenario(&honest()));
    env.air(&["submit", "--wait", REQUEST]).expect_code(0);
    let sent: Vec<_> = env.requests().into_iter().filter(|line| line["kind"] == "request").collect();
    let list = env.json(&["context"]);
    let requests = list["items"].as_array().unwrap();
    assert_eq!(requests.len(), sent.len());
    // The last request of the executor: rebuilt from the log, it has the same texts in the same order.
    let newest = env.json(&["context", requests[0]["ref"].as_str().unwrap()]);
    let rebuilt = &newest["body"]["messages"];
    let wire = &sent.last().unwrap()["body"]["messages"];
    assert_eq!(texts(rebuilt), texts(wire));
}

/// Every text of a list of messages, in order. A content is a text or a list of blocks.
fn texts(messages: &Value) -> Vec<String> {
    match messages {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        Value::Object(block) => {
            let inner = block.get("text").or_else(|| block.get("content"));
            inner.map_or_else(|| vec![block.get("input").unwrap_or(&Value::Null).to_string()], texts)
        }
        _ => Vec::new(),
    }
}
