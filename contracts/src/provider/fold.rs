//! Folds the events of an answer into a message.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{BlockStart, ProviderError, ProviderStreamEvent, StopReason, TokenUsage};
use crate::message::{ContentBlock, Message, MessageRole};

/// A call as it came out of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldedCall {
    pub id: String,
    pub name: String,
    /// `Err` holds the text that is not a JSON object: such a call must not run.
    pub input: Result<Value, String>,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The assistant's message; calls with invalid input are in it with an empty object.
    pub message: Message,
    pub calls: Vec<FoldedCall>,
    pub usage: TokenUsage,
    pub stop: StopReason,
}

#[derive(Debug)]
struct OpenBlock {
    start: BlockStart,
    text: String,
    signature: String,
    closed: bool,
}

/// Collects events until the answer is whole or has failed.
#[derive(Debug, Default)]
pub struct CompletionFold {
    blocks: BTreeMap<usize, OpenBlock>,
    usage: TokenUsage,
    stop: Option<StopReason>,
    error: Option<ProviderError>,
}

impl CompletionFold {
    /// Takes the next event.
    pub fn push(&mut self, event: &ProviderStreamEvent) {
        match event {
            ProviderStreamEvent::BlockStart { index, block } => {
                let open = OpenBlock {
                    start: block.clone(),
                    text: String::new(),
                    signature: String::new(),
                    closed: false,
                };
                self.blocks.insert(*index, open);
            }
            ProviderStreamEvent::TextDelta { index, text }
            | ProviderStreamEvent::ThinkingDelta { index, text }
            | ProviderStreamEvent::ToolInputDelta { index, json: text } => {
                if let Some(block) = self.blocks.get_mut(index) {
                    block.text.push_str(text);
                }
            }
            ProviderStreamEvent::SignatureDelta { index, signature } => {
                if let Some(block) = self.blocks.get_mut(index) {
                    block.signature.clone_from(signature);
                }
            }
            ProviderStreamEvent::BlockStop { index } => {
                if let Some(block) = self.blocks.get_mut(index) {
                    block.closed = true;
                }
            }
            ProviderStreamEvent::Usage { usage } => self.usage.overwrite(*usage),
            ProviderStreamEvent::Stop { reason } => self.stop = Some(*reason),
            ProviderStreamEvent::Error { error } => self.error = Some(error.clone()),
            ProviderStreamEvent::MessageStart { .. } | ProviderStreamEvent::Citation { .. } => {}
        }
    }

    /// Tokens so far.
    pub fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// Text so far, for a draft that outlives a cut stream.
    pub fn partial_text(&self) -> String {
        let texts = self.blocks.values().filter(|block| matches!(block.start, BlockStart::Text));
        texts.map(|block| block.text.as_str()).collect()
    }

    /// The whole answer. `Err` when the stream failed, or ended without its terminal event.
    pub fn finish(self) -> Result<Completion, ProviderError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let Some(stop) = self.stop else {
            let error = crate::AirError::new(
                crate::error::codes::PROVIDER_STREAM_INTERRUPTED,
                "the answer of the model was cut before its end",
            );
            let partial = !self.blocks.is_empty();
            return Err(ProviderError { error: error.retryable(true), retry_after_ms: None, partial });
        };
        let mut content = Vec::new();
        let mut calls = Vec::new();
        for block in self.blocks.into_values() {
            match block.start {
                BlockStart::Text => {
                    if !block.text.is_empty() {
                        content.push(ContentBlock::Text { text: block.text });
                    }
                }
                BlockStart::Thinking => {
                    content.push(ContentBlock::Thinking { thinking: block.text, signature: block.signature });
                }
                BlockStart::RedactedThinking { data } => {
                    content.push(ContentBlock::RedactedThinking { data })
                }
                BlockStart::ToolUse { id, name } => {
                    let input = if block.closed { parse_input(&block.text) } else { Err(block.text) };
                    let shown = input.clone().unwrap_or_else(|_| Value::Object(serde_json::Map::new()));
                    content.push(ContentBlock::ToolUse { id: id.clone(), name: name.clone(), input: shown });
                    calls.push(FoldedCall { id, name, input });
                }
            }
        }
        let message = Message { role: MessageRole::Assistant, content };
        Ok(Completion { message, calls, usage: self.usage, stop })
    }
}

fn parse_input(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        _ => Err(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(json: &str, close: bool) -> CompletionFold {
        let mut fold = CompletionFold::default();
        let block = BlockStart::ToolUse { id: "c1".into(), name: "fs.read".into() };
        fold.push(&ProviderStreamEvent::BlockStart { index: 0, block });
        fold.push(&ProviderStreamEvent::ToolInputDelta { index: 0, json: json.into() });
        if close {
            fold.push(&ProviderStreamEvent::BlockStop { index: 0 });
        }
        fold
    }

    #[test]
    fn a_stream_without_its_end_is_an_error() {
        let error = call("{}", true).finish().unwrap_err();
        assert_eq!(error.error.code, crate::error::codes::PROVIDER_STREAM_INTERRUPTED);
        assert!(error.partial);
    }

    #[test]
    fn an_empty_input_is_an_object_and_a_cut_one_must_not_run() {
        for (json, close, runs) in
            [("", true, true), ("{\"path\":\"a\"}", true, true), ("{\"pa", true, false), ("{}", false, false)]
        {
            let mut fold = call(json, close);
            fold.push(&ProviderStreamEvent::Stop { reason: StopReason::ToolUse });
            let whole = fold.finish().unwrap();
            assert_eq!(whole.calls[0].input.is_ok(), runs, "{json:?}");
            assert_eq!(whole.message.tool_uses().count(), 1);
        }
    }
}
