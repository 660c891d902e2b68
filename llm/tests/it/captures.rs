//! Captured answers of servers that nobody here wrote: whole, and one byte at a time.

use air_contracts::message::{ContentBlock, Message};
use air_contracts::provider::{Completion, ProviderError};
use serde_json::{Value, json};

use crate::fold::finish;
use crate::server::{Reply, Server};
use crate::{case_file, complete, manager, request};

/// The corpus's own word for a code.
fn word(code: &str) -> &str {
    match code.trim_start_matches("provider.") {
        "rate_limited" => "rate_limit",
        "server_error" => "server",
        "context_too_long" => "context_overflow",
        "stream_interrupted" => "stream_truncated",
        "malformed_stream" => "stream_malformed",
        other => other,
    }
}

fn same_error(found: &ProviderError, expected: &Value) -> bool {
    let kind = match expected["kind"].as_str().unwrap() {
        "authentication" | "permission" => "auth",
        other => other,
    };
    word(&found.error.code) == kind
        && expected["retryable"] == found.error.retryable
        && expected["retry_after_ms"].as_u64() == found.retry_after_ms
}

fn same_message(found: &Completion, expected: &Value) -> bool {
    let mut calls = found.calls.iter();
    let block = |block: &ContentBlock| match block {
        ContentBlock::ToolUse { id, name, .. } => {
            let input = calls.next().and_then(|call| call.input.clone().ok()).unwrap_or(Value::Null);
            json!({"type": "tool_use", "id": id, "name": name.replace('.', "_"), "input": input})
        }
        other => serde_json::to_value(other).unwrap(),
    };
    let content: Vec<Value> = found.message.content.iter().map(block).collect();
    let mut wanted = expected["content"].clone();
    for block in wanted.as_array_mut().unwrap() {
        block.as_object_mut().unwrap().remove("raw_input");
    }
    let usage = &expected["usage"];
    Value::Array(content) == wanted
        && expected["stop_reason"] == json!(found.stop)
        && usage["input_tokens"].as_u64() == found.usage.input_tokens
        && usage["output_tokens"].as_u64() == found.usage.output_tokens
}

#[test]
fn captured_answers_decode_as_recorded() {
    let read = |path: std::path::PathBuf| -> Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    let mut count = 0;
    for entry in std::fs::read_dir(case_file("providers")).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() || read(folder.join("capture.json"))["dialect"] != "anthropic" {
            continue;
        }
        count += 1;
        let expected = read(folder.join("expect.json"));
        let bytes = std::fs::read(folder.join("response.http")).unwrap();
        for size in [bytes.len(), 1] {
            let server = Server::start(vec![Reply::raw(bytes.chunks(size).map(<[u8]>::to_vec).collect())]);
            let found = finish(&complete(&manager(&server.url), request(vec![Message::user("hi")])));
            let same = match &found {
                Ok(message) => {
                    expected["outcome"] == "message" && same_message(message, &expected["message"])
                }
                Err(error) => expected["outcome"] == "error" && same_error(error, &expected["error"]),
            };
            assert!(same, "{} in pieces of {size}: {found:?}", folder.display());
        }
    }
    assert!(count > 25, "{count} captures");
}
