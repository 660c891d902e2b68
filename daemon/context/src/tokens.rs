//! Token counts without a tokenizer: one token for three bytes errs on the safe side for code and prose.

use air_contracts::message::{ContentBlock, Message};
use serde_json::Value;

/// Tokens that a message costs beyond its content.
const PER_MESSAGE: u32 = 8;

/// Estimated tokens of a text.
pub fn estimate_tokens(text: &str) -> u32 {
    tokens_of(text.len())
}

fn tokens_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(3)).unwrap_or(u32::MAX)
}

/// About the length of a value as JSON, without writing it: a transcript is measured for each request.
fn json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(all) => 2 + all.iter().map(|value| json_bytes(value) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(name, value)| name.len() + 4 + json_bytes(value)).sum::<usize>()
        }
    }
}

/// Estimated tokens of a message.
pub fn estimate_message(message: &Message) -> u32 {
    let blocks = message.content.iter().map(|block| match block {
        ContentBlock::Text { text } => estimate_tokens(text),
        ContentBlock::Thinking { thinking, .. } => estimate_tokens(thinking),
        ContentBlock::RedactedThinking { data } => estimate_tokens(data),
        ContentBlock::ToolUse { name, input, .. } => estimate_tokens(name) + tokens_of(json_bytes(input)),
        ContentBlock::ToolResult { content, .. } => estimate_tokens(content),
        ContentBlock::ToolResultRef { .. } => 0,
        // Images are charged by their area; 1,600 tokens is the most that one costs.
        ContentBlock::Image { .. } => 1_600,
    });
    blocks.fold(PER_MESSAGE, u32::saturating_add)
}
