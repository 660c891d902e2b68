//! Token counts without a tokenizer: one token for three bytes errs on the safe side for code and prose.

use air_contracts::message::{ContentBlock, Message};

/// Tokens that a message costs beyond its content.
const PER_MESSAGE: u32 = 8;

/// Estimated tokens of a text.
pub fn estimate_tokens(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(3)).unwrap_or(u32::MAX)
}

/// Estimated tokens of a message.
pub fn estimate_message(message: &Message) -> u32 {
    let blocks = message.content.iter().map(|block| match block {
        ContentBlock::Text { text } => estimate_tokens(text),
        ContentBlock::Thinking { thinking, .. } => estimate_tokens(thinking),
        ContentBlock::RedactedThinking { data } => estimate_tokens(data),
        ContentBlock::ToolUse { name, input, .. } => estimate_tokens(name) + estimate_tokens(&input.to_string()),
        ContentBlock::ToolResult { content, .. } => estimate_tokens(content),
        ContentBlock::ToolResultRef { .. } => 0,
        // Images are charged by their area; 1,600 tokens is the most that one costs.
        ContentBlock::Image { .. } => 1_600,
    });
    blocks.fold(PER_MESSAGE, u32::saturating_add)
}
