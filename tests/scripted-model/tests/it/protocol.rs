//! The bytes of the protocol, and the command line.

use serde_json::{Value, json};

use crate::client::{Model, binary, say};

const REPLY: &str = "
turns:
  - repeat: 2
    reply:
      thinking: Hm.
      text: Grüße, ok
      tools: [{name: fs.read, input: {path: a.txt, n: 1}}]
      piece: 4
      usage: {input_tokens: 11, output_tokens: 7, cache_read_input_tokens: 5}
";

#[test]
fn a_streamed_answer_has_the_events_of_the_vendor() {
    let model = Model::start(REPLY);
    let answer = model.message(&say("", "hi"));
    assert_eq!((answer.status, answer.complete), (200, true));
    assert!(answer.head.contains("content-type: text/event-stream"), "{}", answer.head);
    assert!(answer.head.contains("request-id: req_01"), "{}", answer.head);
    let events = answer.events();
    assert!(events.iter().all(|(name, data)| data["type"] == name.as_str()));
    let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let first = ["content_block_start", "ping", "content_block_delta", "content_block_stop"];
    let expected =
        [&["message_start"][..], &first, &block, &block, &["message_delta", "message_stop"]].concat();
    assert_eq!(names, expected);
    let message = &events[0].1["message"];
    assert!(message["id"].as_str().unwrap().starts_with("msg_01"));
    assert_eq!(message["usage"]["input_tokens"], 11);
    assert_eq!(message["usage"]["cache_read_input_tokens"], 5);
    assert_eq!(
        (answer.joined("thinking"), answer.joined("text")),
        ("Hm.".to_owned(), "Grüße, ok".to_owned())
    );
    assert_eq!(answer.joined("partial_json"), r#"{"path":"a.txt","n":1}"#);
    assert!(!answer.joined("signature").is_empty());
    let starts: Vec<&Value> =
        events.iter().map(|(_, data)| &data["content_block"]).filter(|b| b.is_object()).collect();
    assert_eq!((&starts[2]["name"], &starts[2]["input"]), (&json!("fs_read"), &json!({})));
    assert!(starts[2]["id"].as_str().unwrap().starts_with("toolu_01"));
    let end = &events[events.len() - 2].1;
    assert_eq!(
        (&end["delta"]["stop_reason"], &end["usage"]["output_tokens"]),
        (&json!("tool_use"), &json!(7))
    );
}

#[test]
fn the_other_calls_work_over_one_connection() {
    let model = Model::start(REPLY);
    let mut client = model.connect();
    let mut request = say("", "hi");
    request["stream"] = json!(false);
    let whole = client.post("/v1/messages", &request.to_string());
    assert!(whole.complete);
    let message = whole.json();
    assert_eq!(message["content"][1]["text"], "Grüße, ok");
    assert_eq!(message["content"][2]["input"], json!({"path": "a.txt", "n": 1}));
    let count = client.post("/v1/messages/count_tokens", &request.to_string()).json();
    assert!(count["input_tokens"].as_u64().unwrap() > 10);
    let models = client.ask("GET", "/v1/models?limit=1000", "", "").json();
    assert_eq!(models["data"][0]["id"], "claude-sonnet-5-5");
    assert_eq!(client.ask("GET", "/elsewhere", "", "").status, 404);
    assert_eq!(client.post("/v1/messages", "{").json()["error"]["type"], "invalid_request_error");
    let flawed = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": "x"}]});
    assert_eq!(client.post("/v1/messages", &flawed.to_string()).status, 400);
    assert_eq!(client.post("/v1/messages", &say("", "x").to_string()).status, 200);
    let after = client.post("/v1/messages", &say("", "x").to_string());
    assert_eq!(after.joined("text"), "script is at its end");
    let port = std::fs::read_to_string(model.folder.path().join("port")).unwrap();
    assert!(model.address.ends_with(&format!(":{}", port.trim())));
}

#[test]
fn keys_are_asked_for_and_not_recorded() {
    let model = Model::start("require_key: sk-secret\nturns: [{reply: {text: ok}}]\n");
    let mut client = model.connect();
    let body = say("sys", "hi").to_string();
    assert_eq!(client.ask("POST", "/v1/messages", "x-api-key: other\r\n", &body).status, 401);
    assert_eq!(client.ask("POST", "/v1/messages", "authorization: Bearer sk-secret\r\n", &body).status, 200);
    let record = model.record();
    let requests: Vec<&Value> = record.iter().filter(|line| line["kind"] == "request").collect();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1]["body"], say("sys", "hi"));
    assert_eq!((&requests[1]["agent"], &requests[1]["turn"]), (&json!("default"), &json!(0)));
    assert_eq!((&requests[0]["status"], &requests[0]["turn"]), (&json!(401), &Value::Null));
    assert!(!format!("{requests:?}").contains("sk-secret"));
}

#[test]
fn a_wrong_scenario_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, "turns:\n  - reply:\n      speech: hi\n").unwrap();
    let output = binary().arg("--scenario").arg(&file).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("line 3") && said.contains("speech"), "{said}");
}
