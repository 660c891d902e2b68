//! Which turn a request gets.

use serde_json::json;

use crate::client::{Model, say, say_with_result};

#[test]
fn agents_do_not_take_each_others_turns() {
    let model = Model::start(
        "
agents:
  worker:
    match: [Executor, fs.read]
    cursor: conversation
    turns:
      - reply: {text: 'w{{n}} {{user}}'}
      - reply: {text: second}
  main:
    match: Main Agent
    turns:
      - repeat: forever
        reply: {text: 'm{{n}} r{{request}}'}
turns:
  - reply: {text: other}
",
    );
    let check = |system: &str, user: &str, expected: &str| {
        assert_eq!(model.message(&say(system, user)).joined("text"), expected);
    };
    check("You are the Main Agent", "go", "m1 r1");
    check("You are an Executor", "task a", "w1 task a");
    check("You are an Executor", "task b", "w1 task b");
    check("You are the Main Agent", "go on", "m2 r2");
    check("You are an Executor", "task a", "second");
    check("nobody", "x", "other");
    check("You are an Executor", "task a", "script is at its end");
}

#[test]
fn conditions_captures_and_variables() {
    let model = Model::start(
        "
turns:
  - when: {tool_result: failed}
    reply: {text: 'saw {{last_tool_result}}'}
  - when: {user: [fix, now], tool: fs.read, model: sonnet}
    capture: {id: 'task {} '}
    reply: {tools: [{name: fs_read, input: {path: ['{{id}}.txt']}}, {name: no.such, input: {}}]}
  - reply: {text: 'id {{id}} {{unknown}}'}
",
    );
    let first = model.message(&say("", "fix task k4 now"));
    assert_eq!(first.joined("partial_json"), r#"{"path":["k4.txt"]}{}"#);
    let names: Vec<_> = first
        .events()
        .into_iter()
        .filter_map(|(_, d)| d["content_block"]["name"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(names, ["fs_read", "no_such"]);
    assert_eq!(model.message(&say("", "fix it now")).joined("text"), "id k4 {{unknown}}");
    assert_eq!(model.message(&say_with_result("", "x", "it failed")).joined("text"), "saw it failed");
    let turns: Vec<_> =
        model.record().into_iter().filter(|l| l["kind"] == "request").map(|l| l["turn"].clone()).collect();
    assert_eq!(turns, [json!(1), json!(2), json!(0)]);
}

#[test]
fn a_turn_repeats() {
    let model = Model::start("turns:\n  - {repeat: 200, reply: {text: 'n{{n}}'}}\n  - reply: {text: done}\n");
    let mut client = model.connect();
    let mut next = || client.post("/v1/messages", &say("", "x").to_string()).joined("text");
    for n in 1..=200 {
        assert_eq!(next(), format!("n{n}"));
    }
    assert_eq!(next(), "done");
}

#[test]
fn by_its_history_a_repeated_request_gets_the_same_answer() {
    let model = Model::start(
        "
agents:
  worker:
    match: Executor
    cursor: history
    turns:
      - reply: {text: first}
      - repeat: 2
        reply: {text: 'again {{n}}'}
      - reply: {text: last}
",
    );
    let check = |answers: usize, expected: &str| {
        let mut request = say("Executor", "go");
        let messages = request["messages"].as_array_mut().unwrap();
        for n in 0..answers {
            messages.push(json!({ "role": "assistant", "content": format!("a{n}") }));
            messages.push(json!({ "role": "user", "content": "go on" }));
        }
        assert_eq!(model.message(&request).joined("text"), expected);
    };
    for _ in 0..2 {
        check(0, "first");
        check(2, "again 2");
    }
    check(1, "again 1");
    check(3, "last");
    check(4, "script is at its end");
}
