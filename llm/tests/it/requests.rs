//! The request cases: canonical messages in, the body that a server saw out.

use air_contracts::message::{ContentBlock, Message};
use air_contracts::provider::BlockStart;
use air_contracts::provider::{CacheMark, ModelRequest, ProviderStreamEvent, SystemBlock};
use serde_json::{Value, json};

use crate::server::{Reply, Server};
use crate::{cases, complete, manager, request, tool};

fn canonical(case: &Value) -> ModelRequest {
    let input = &case["request"]["canonical"];
    let messages: Vec<Message> = serde_json::from_value(input["messages"].clone()).unwrap();
    let mut out = request(messages);
    if let Some(tools) = input["tools"].as_array() {
        out.tools = tools.iter().map(|spec| tool(spec["name"].as_str().unwrap())).collect();
    }
    for block in input["system"].as_array().into_iter().flatten() {
        let text = block["text"].as_str().unwrap().to_owned();
        out.system.push(SystemBlock { text, cache: block["cache_control"].is_object() });
    }
    for (message, turn) in input["messages"].as_array().unwrap().iter().enumerate() {
        for (block, content) in turn["content"].as_array().unwrap().iter().enumerate() {
            if content["cache_control"].is_object() {
                out.cache_marks.push(CacheMark { message, block });
            }
        }
    }
    out
}

fn blocks(body: &Value) -> Vec<(usize, &Value)> {
    let turns = body["messages"].as_array().unwrap().iter().enumerate();
    turns
        .flat_map(|(turn, message)| message["content"].as_array().unwrap().iter().map(move |b| (turn, b)))
        .collect()
}

fn result<'a>(body: &'a Value, id: &Value) -> Option<&'a Value> {
    let found = blocks(body).into_iter().find(|(_, b)| b["type"] == "tool_result" && &b["tool_use_id"] == id);
    found.map(|(_, block)| block)
}

fn wire_names(body: &Value) -> Vec<String> {
    body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn is_wire_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Lets a model call every tool by its wire name, and compares what comes back.
fn round_trips(case: &Value, names: &[String]) -> bool {
    let call = |(index, name): (usize, &String)| json!({"type": "tool_use", "id": format!("t{index}"), "name": name, "input": {}});
    let content: Vec<Value> = names.iter().enumerate().map(call).collect();
    let answer = json!({"type": "message", "content": content, "stop_reason": "tool_use"}).to_string();
    let server = Server::start(vec![Reply::sized("200 OK", "content-type: application/json\r\n", &answer)]);
    let request = canonical(case);
    let expected: Vec<String> = request.tools.iter().map(|tool| tool.name.clone()).collect();
    let called = |event: ProviderStreamEvent| match event {
        ProviderStreamEvent::BlockStart { block: BlockStart::ToolUse { name, .. }, .. } => Some(name),
        _ => None,
    };
    let found: Vec<String> =
        complete(&manager(&server.url), request).into_iter().filter_map(called).collect();
    found == expected
}

fn answered_in_next(body: &Value) -> bool {
    let all = blocks(body);
    all.iter().filter(|(_, block)| block["type"] == "tool_use").all(|(turn, call)| {
        let next: Vec<&Value> =
            all.iter().filter(|(at, _)| *at == turn + 1).map(|(_, block)| *block).collect();
        let results = next.iter().take_while(|block| block["type"] == "tool_result");
        results.clone().any(|block| block["tool_use_id"] == call["id"])
    })
}

fn holds(case: &Value, body: &Value, name: &str, wanted: &Value) -> bool {
    let turns = body["messages"].as_array().unwrap();
    match name {
        "every_tool_name_matches" => wire_names(body).iter().all(|name| is_wire_name(name)),
        "tool_names_distinct" => {
            let mut names = wire_names(body);
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            names.len() == count
        }
        "tool_names_round_trip" => round_trips(case, &wire_names(body)),
        "no_empty_text" => {
            !blocks(body).iter().any(|(_, block)| block["text"] == "" || block["content"] == "")
        }
        "tool_result_present" => result(body, wanted).is_some(),
        "tool_result_is_error" => result(body, wanted).is_some_and(|block| block["is_error"] == true),
        "last_assistant_text_has_no_trailing_whitespace" => {
            let last = turns.iter().rev().find(|turn| turn["role"] == "assistant").unwrap();
            let text = last["content"].as_array().unwrap().last().unwrap()["text"].as_str().unwrap();
            text.trim_end() == text
        }
        "every_tool_use_answered_in_next_message" => answered_in_next(body),
        "roles_alternate" => turns.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"]),
        "cache_control_count_at_most" => {
            body.to_string().matches("cache_control").count() as u64 <= wanted.as_u64().unwrap()
        }
        "block_unchanged" => blocks(body).iter().any(|(_, block)| *block == wanted),
        other => panic!("no check named {other}"),
    }
}

#[test]
fn requests_are_built_as_the_cases_say() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases().iter().filter(|case| case["request"].is_object()) {
        count += 1;
        let server = Server::start(vec![crate::server::streamed("ok")]);
        complete(&manager(&server.url), canonical(case));
        let body = server.request().body;
        for check in case["expect"]["body"].as_array().unwrap() {
            let (name, wanted) = check.as_object().unwrap().iter().next().unwrap();
            if !holds(case, &body, name, wanted) {
                wrong.push(format!("{} {name}: {body}", case["id"]));
            }
        }
    }
    assert!(count >= 9, "{count} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_reference_to_a_stored_result_is_never_sent() {
    let run = air_contracts::ids::ToolRunId::from_uuid(uuid::Uuid::nil());
    let mut message = Message::user("go");
    message.content.push(ContentBlock::ToolResultRef { tool_use_id: "t1".into(), run });
    let events = complete(&manager("http://127.0.0.1:9"), request(vec![message]));
    let [ProviderStreamEvent::Error { error }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(error.error.code, "internal");
}

#[test]
fn every_repair_is_reported() {
    let text = r#"[
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t0", "content": "late"}]},
        {"role": "user", "content": [{"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "fs.read", "input": null}]}
    ]"#;
    let (body, report) =
        manager("http://127.0.0.1:9").preview(&request(serde_json::from_str(text).unwrap())).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let roles: Vec<&str> =
        body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(body["messages"][2]["content"][0]["text"], "Result of an earlier call: late");
    assert_eq!(body["messages"][3]["content"][0]["input"], json!({}));
    assert_eq!(body["messages"][4]["content"][0]["is_error"], true);
    let said = report.changes.iter().map(|change| change.what.as_str()).collect::<Vec<_>>().join("; ");
    for part in
        ["thinking without", "t0 has no call", "input of call t1", "call t1 has no result", "began with"]
    {
        assert!(said.contains(part), "{part:?} in {said}");
    }
}

#[test]
fn thinking_is_asked_for_as_the_model_takes_it() {
    let check = |model: &str, effort: Value, thinking: Value, output: Value| {
        let mut request = request(vec![Message::user("hi")]);
        request.model = format!("anthropic/{model}");
        request.max_output_tokens = 10_000;
        request.effort = serde_json::from_value(effort).unwrap();
        let (body, _) = manager("http://127.0.0.1:9").preview(&request).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((&body["thinking"], &body["output_config"]), (&thinking, &output), "{model}");
        for sampling in ["temperature", "top_p", "top_k"] {
            assert!(body.get(sampling).is_none());
        }
    };
    check("claude-sonnet-5-5", json!("high"), json!({"type": "adaptive"}), json!({"effort": "high"}));
    check(
        "claude-haiku-4-5",
        json!("medium"),
        json!({"type": "enabled", "budget_tokens": 5000}),
        Value::Null,
    );
    check("claude-sonnet-5-5", Value::Null, Value::Null, Value::Null);
    check("claude-unknown", json!("low"), Value::Null, Value::Null);
}
