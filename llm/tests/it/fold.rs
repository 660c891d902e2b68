//! Events of an answer in the form in which the cases state them.

use std::collections::BTreeMap;

use air_contracts::message::ContentBlock;
use air_contracts::provider::{BlockStart, Completion, CompletionFold, ProviderError, ProviderStreamEvent};
use serde_json::{Value, json};

use crate::TOOLS;

pub fn finish(events: &[ProviderStreamEvent]) -> Result<Completion, ProviderError> {
    let mut fold = CompletionFold::default();
    for event in events {
        fold.push(event);
    }
    fold.finish()
}

/// One entry for each block, then `usage`, then `end` or `error`.
pub fn fold(events: &[ProviderStreamEvent]) -> Vec<Value> {
    match finish(events) {
        Ok(whole) => complete(&whole),
        Err(error) => failed(events, &error),
    }
}

fn complete(whole: &Completion) -> Vec<Value> {
    let mut calls = whole.calls.iter();
    let mut out: Vec<Value> = Vec::new();
    for block in &whole.message.content {
        out.push(match block {
            ContentBlock::Text { text } => json!({"type": "text", "text": text}),
            ContentBlock::Thinking { thinking, signature } => {
                json!({"type": "thinking", "text": thinking, "signature": signature})
            }
            ContentBlock::RedactedThinking { data } => json!({"type": "redacted_thinking", "data": data}),
            ContentBlock::ToolUse { .. } => {
                let call = calls.next().unwrap();
                match &call.input {
                    Ok(input) if TOOLS.contains(&call.name.as_str()) => {
                        json!({"type": "tool_call", "id": call.id, "name": call.name, "input": input})
                    }
                    _ => json!({"type": "tool_call_invalid", "id": call.id, "name": call.name}),
                }
            }
            other => panic!("{other:?} in an answer"),
        });
    }
    let usage = whole.usage;
    out.push(
        json!({"type": "usage", "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}),
    );
    out.push(json!({"type": "end", "reason": whole.stop}));
    out
}

fn failed(events: &[ProviderStreamEvent], error: &ProviderError) -> Vec<Value> {
    let mut texts: BTreeMap<usize, String> = BTreeMap::new();
    for event in events {
        match event {
            ProviderStreamEvent::BlockStart { index, block: BlockStart::Text } => {
                texts.insert(*index, String::new());
            }
            ProviderStreamEvent::TextDelta { index, text } => texts.entry(*index).or_default().push_str(text),
            _ => {}
        }
    }
    let texts = texts.into_values().filter(|text| !text.is_empty());
    let mut out: Vec<Value> = texts.map(|text| json!({"type": "text", "text": text})).collect();
    let kind = error.error.code.strip_prefix("provider.").unwrap();
    let mut last = json!({"type": "error", "kind": kind, "retryable": error.error.retryable});
    if let Some(ms) = error.retry_after_ms {
        last["retry_after_ms"] = json!(ms);
    }
    if error.partial {
        last["partial"] = json!(true);
    }
    out.push(last);
    out
}
