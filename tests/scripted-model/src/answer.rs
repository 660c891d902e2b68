//! The vendor's form of an answer: server-sent events, or one document.

use serde_json::{Value, json};

use crate::minted;
use crate::request::{View, plain_name};
use crate::scenario::Reply;

/// An answer before it is put on the wire.
#[derive(Debug)]
pub(crate) struct Answer {
    id: String,
    model: String,
    blocks: Vec<Block>,
    stop_reason: String,
    /// As in `message_start`, before any output.
    usage: Value,
    output_tokens: u64,
    piece: usize,
}

#[derive(Debug)]
enum Block {
    Thinking(String),
    Text(String),
    Tool { id: String, name: String, json: String },
}

impl Answer {
    /// The answer that a reply stands for. `prompt_bytes` is what token counts are estimated from.
    pub fn new(reply: &Reply, view: &View, prompt_bytes: usize) -> Self {
        let mut blocks = Vec::new();
        blocks.extend(reply.thinking.clone().map(Block::Thinking));
        blocks.extend(reply.text.clone().filter(|text| !text.is_empty()).map(Block::Text));
        blocks.extend(reply.tools.iter().map(|call| Block::Tool {
            id: call.id.clone().unwrap_or_else(|| minted::id("toolu")),
            name: view.tool(&call.name).map_or_else(|| plain_name(&call.name), str::to_owned),
            json: call.raw_input.clone().unwrap_or_else(|| call.input.to_string()),
        }));
        let default = if reply.tools.is_empty() { "end_turn" } else { "tool_use" };
        let length: usize = blocks.iter().map(Block::length).sum();
        let usage = reply.usage;
        Self {
            id: minted::id("msg"),
            model: view.model.clone(),
            blocks,
            stop_reason: reply.stop_reason.clone().unwrap_or_else(|| default.to_owned()),
            usage: json!({
                "input_tokens": usage.input_tokens.unwrap_or(estimate(prompt_bytes)),
                "cache_creation_input_tokens": usage.cache_creation_input_tokens.unwrap_or(0),
                "cache_read_input_tokens": usage.cache_read_input_tokens.unwrap_or(0),
                "output_tokens": 1,
                "service_tier": "standard",
            }),
            output_tokens: usage.output_tokens.unwrap_or(estimate(length)),
            piece: reply.piece.max(1),
        }
    }

    /// The events, each whole with its blank line.
    pub fn events(&self) -> Vec<String> {
        let message = json!({
            "model": self.model, "id": self.id, "type": "message", "role": "assistant", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": self.usage,
        });
        let mut events = vec![event("message_start", &json!({"type": "message_start", "message": message}))];
        for (index, block) in self.blocks.iter().enumerate() {
            let start =
                json!({"type": "content_block_start", "index": index, "content_block": block.start()});
            events.push(event("content_block_start", &start));
            if index == 0 {
                events.push(event("ping", &json!({"type": "ping"})));
            }
            events.extend(block.deltas(self.piece).into_iter().map(|delta| {
                event(
                    "content_block_delta",
                    &json!({"type": "content_block_delta", "index": index, "delta": delta}),
                )
            }));
            events.push(event("content_block_stop", &json!({"type": "content_block_stop", "index": index})));
        }
        let delta = json!({"stop_reason": self.stop_reason, "stop_sequence": null});
        let end = json!({"type": "message_delta", "delta": delta, "usage": self.final_usage()});
        events.push(event("message_delta", &end));
        events.push(event("message_stop", &json!({"type": "message_stop"})));
        events
    }

    /// The whole message as one document.
    pub fn document(&self) -> String {
        let content: Vec<Value> = self.blocks.iter().map(Block::whole).collect();
        let message = json!({
            "model": self.model, "id": self.id, "type": "message", "role": "assistant", "content": content,
            "stop_reason": self.stop_reason, "stop_sequence": null, "usage": self.final_usage(),
        });
        message.to_string()
    }

    fn final_usage(&self) -> Value {
        let mut usage = self.usage.clone();
        usage["output_tokens"] = self.output_tokens.into();
        usage
    }
}

impl Block {
    fn length(&self) -> usize {
        match self {
            Self::Thinking(text) | Self::Text(text) => text.len(),
            Self::Tool { name, json, .. } => name.len() + json.len(),
        }
    }

    fn start(&self) -> Value {
        match self {
            Self::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Self::Text(_) => json!({"type": "text", "text": ""}),
            Self::Tool { id, name, .. } => json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
        }
    }

    fn deltas(&self, piece: usize) -> Vec<Value> {
        match self {
            Self::Thinking(text) => {
                let mut deltas: Vec<Value> = pieces(text, piece)
                    .map(|part| json!({"type": "thinking_delta", "thinking": part}))
                    .collect();
                deltas.push(json!({"type": "signature_delta", "signature": signature(text)}));
                deltas
            }
            Self::Text(text) => {
                pieces(text, piece).map(|part| json!({"type": "text_delta", "text": part})).collect()
            }
            Self::Tool { json, .. } => {
                let delta = |part: &str| json!({"type": "input_json_delta", "partial_json": part});
                std::iter::once("").chain(pieces(json, piece)).map(delta).collect()
            }
        }
    }

    fn whole(&self) -> Value {
        match self {
            Self::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": signature(text)})
            }
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Tool { id, name, json } => {
                let input: Value = serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.clone()));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        }
    }
}

/// A form of the vendor's opaque signatures; the same text has the same one.
fn signature(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("ErUBCkYIBxgCIkD{hash:016x}{:016x}==", hash.rotate_left(29))
}

fn estimate(bytes: usize) -> u64 {
    (bytes / 4 + 1) as u64
}

/// Pieces of so many characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (head, tail) = rest.split_at(end);
        rest = tail;
        Some(head)
    })
}

pub(crate) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// An error document, which is also the data of an error event.
pub(crate) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": minted::id("req")})
}
