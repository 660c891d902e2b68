//! Decodes the events of the Messages API, and whole messages from gateways that do not stream.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use air_contracts::provider::{BlockStart, ProviderError, ProviderStreamEvent, StopReason, TokenUsage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::classify::{Complaint, Source, classify};
use crate::config::ApiKey;
use crate::exchange::AnswerDecoder;
use crate::failure::{interrupted, malformed};
use crate::names::NameMap;
use crate::retry::RetryAdvice;

/// All events in one shape: a tagged enum would buffer each of them.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: Option<usize>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    message: Option<Head>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    text: Option<String>,
    partial_json: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    #[serde(borrow)]
    citation: Option<&'a RawValue>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Head {
    id: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize, Clone, Copy)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "type", default)]
    kind: String,
    id: Option<String>,
    #[serde(default)]
    content: Vec<Content>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Tool,
    /// Of a type that is not known here: skipped, with its deltas.
    Opaque,
}

/// The state of one answer.
pub(super) struct Decoder {
    provider: Arc<str>,
    key: Option<ApiKey>,
    names: Arc<NameMap>,
    blocks: BTreeMap<usize, Kind>,
    /// A call whose block has ended, while the end of the answer is not known: when the token limit cut
    /// the answer there, the block is left open, and the call counts as invalid.
    held_stop: Option<usize>,
    called: bool,
    stop: Option<StopReason>,
    finished: bool,
}

impl Decoder {
    pub fn new(provider: Arc<str>, key: Option<ApiKey>, names: Arc<NameMap>) -> Self {
        Self {
            provider,
            key,
            names,
            blocks: BTreeMap::new(),
            held_stop: None,
            called: false,
            stop: None,
            finished: false,
        }
    }

    fn malformed(&self, what: &str) -> ProviderError {
        malformed(&self.provider, what)
    }

    fn failed(&self, body: &[u8]) -> ProviderError {
        let source = Source { provider: &self.provider, key: self.key.as_ref().map(ApiKey::expose) };
        let no_advice = RetryAdvice { after_ms: None, should: None };
        classify(source, None, no_advice, &Complaint::parse(body))
    }

    fn start(
        &mut self,
        index: usize,
        content: Content,
        out: &mut Vec<ProviderStreamEvent>,
    ) -> Result<(), ProviderError> {
        self.release(out);
        let (kind, block) = match content.kind.as_str() {
            "text" => (Kind::Plain, BlockStart::Text),
            "thinking" => (Kind::Plain, BlockStart::Thinking),
            "redacted_thinking" => {
                (Kind::Plain, BlockStart::RedactedThinking { data: content.data.unwrap_or_default() })
            }
            "tool_use" => {
                let (Some(id), Some(name)) = (content.id, content.name) else {
                    return Err(self.malformed("a call has no id or no name"));
                };
                self.called = true;
                let name = self.names.canonical(&name).to_owned();
                (Kind::Tool, BlockStart::ToolUse { id, name })
            }
            other => {
                tracing::debug!(
                    provider = &*self.provider,
                    kind = other,
                    "a block of unknown type is skipped"
                );
                self.blocks.insert(index, Kind::Opaque);
                return Ok(());
            }
        };
        self.blocks.insert(index, kind);
        out.push(ProviderStreamEvent::BlockStart { index, block });
        // Servers may put the beginning of a text, or the whole input, into the start already.
        if let Some(text) = content.text.filter(|text| !text.is_empty()) {
            out.push(ProviderStreamEvent::TextDelta { index, text });
        }
        if let Some(text) = content.thinking.filter(|text| !text.is_empty()) {
            out.push(ProviderStreamEvent::ThinkingDelta { index, text });
        }
        if let Some(signature) = content.signature.filter(|text| !text.is_empty()) {
            out.push(ProviderStreamEvent::SignatureDelta { index, signature });
        }
        if let Some(input) =
            content.input.filter(|input| input.as_object().is_none_or(|object| !object.is_empty()))
        {
            out.push(ProviderStreamEvent::ToolInputDelta { index, json: input.to_string() });
        }
        Ok(())
    }

    fn delta(
        &mut self,
        index: usize,
        delta: Delta<'_>,
        out: &mut Vec<ProviderStreamEvent>,
    ) -> Result<(), ProviderError> {
        match self.blocks.get(&index) {
            None => return Err(self.malformed("a delta belongs to no block")),
            Some(Kind::Opaque) => return Ok(()),
            Some(_) => {}
        }
        let event = match &*delta.kind {
            "text_delta" => delta.text.map(|text| ProviderStreamEvent::TextDelta { index, text }),
            "input_json_delta" => {
                delta.partial_json.map(|json| ProviderStreamEvent::ToolInputDelta { index, json })
            }
            "thinking_delta" => delta.thinking.map(|text| ProviderStreamEvent::ThinkingDelta { index, text }),
            "signature_delta" => {
                delta.signature.map(|signature| ProviderStreamEvent::SignatureDelta { index, signature })
            }
            "citations_delta" => delta
                .citation
                .map(|citation| ProviderStreamEvent::Citation { index, citation: citation.get().to_owned() }),
            _ => None,
        };
        out.extend(event);
        Ok(())
    }

    fn close(&mut self, index: usize, out: &mut Vec<ProviderStreamEvent>) {
        match self.blocks.get(&index) {
            Some(Kind::Plain) => out.push(ProviderStreamEvent::BlockStop { index }),
            Some(Kind::Tool) => {
                self.release(out);
                self.held_stop = Some(index);
            }
            Some(Kind::Opaque) | None => {}
        }
    }

    fn release(&mut self, out: &mut Vec<ProviderStreamEvent>) {
        if let Some(index) = self.held_stop.take() {
            out.push(ProviderStreamEvent::BlockStop { index });
        }
    }

    fn complete(&mut self, out: &mut Vec<ProviderStreamEvent>) {
        let reason = match self.stop {
            Some(StopReason::EndTurn) | None if self.called => StopReason::ToolUse,
            other => other.unwrap_or(StopReason::Other),
        };
        if matches!(reason, StopReason::MaxTokens | StopReason::ContextWindow) {
            self.held_stop = None;
        }
        self.release(out);
        out.push(ProviderStreamEvent::Stop { reason });
        self.finished = true;
    }
}

impl AnswerDecoder for Decoder {
    fn event(&mut self, data: &[u8], out: &mut Vec<ProviderStreamEvent>) -> Result<(), ProviderError> {
        if data.trim_ascii().is_empty() {
            return Ok(());
        }
        let frame: Frame<'_> = serde_json::from_slice(data)
            .map_err(|error| self.malformed(&format!("an event does not parse ({error})")))?;
        match (&*frame.kind, frame.index) {
            ("message_start", _) => {
                let (message_id, usage) = frame.message.map_or((None, None), |head| (head.id, head.usage));
                out.push(ProviderStreamEvent::MessageStart { message_id });
                out.extend(usage.map(usage_event));
            }
            ("content_block_start", Some(index)) => {
                let raw = frame.content_block.ok_or_else(|| self.malformed("a block has no content"))?;
                let content = serde_json::from_str(raw.get())
                    .map_err(|error| self.malformed(&format!("a block does not parse ({error})")))?;
                self.start(index, content, out)?;
            }
            ("content_block_delta", Some(index)) => {
                let delta = frame.delta.ok_or_else(|| self.malformed("a delta has no content"))?;
                self.delta(index, delta, out)?;
            }
            ("content_block_stop", Some(index)) => self.close(index, out),
            ("content_block_start" | "content_block_delta" | "content_block_stop", None) => {
                return Err(self.malformed("an event of a block names no block"));
            }
            ("message_delta", _) => {
                out.extend(frame.usage.map(usage_event));
                if let Some(reason) = frame.delta.and_then(|delta| delta.stop_reason) {
                    self.stop = Some(stop_reason(&reason));
                }
            }
            ("message_stop", _) => self.complete(out),
            ("error", _) => return Err(self.failed(data)),
            // Pings, and whatever is added later.
            _ => {}
        }
        Ok(())
    }

    fn finished(&self) -> bool {
        self.finished
    }

    fn end(&mut self, how: &str, out: &mut Vec<ProviderStreamEvent>) -> Result<(), ProviderError> {
        // The stop reason says that all content has come; only the farewell is missing.
        if self.stop.is_none() {
            return Err(interrupted(&self.provider, how));
        }
        if !self.finished {
            self.complete(out);
        }
        Ok(())
    }

    fn document(&mut self, body: &[u8], out: &mut Vec<ProviderStreamEvent>) -> Result<(), ProviderError> {
        let document: Document = serde_json::from_slice(body)
            .map_err(|error| self.malformed(&format!("the document does not parse ({error})")))?;
        if document.kind != "message" {
            return Err(self.failed(body));
        }
        out.push(ProviderStreamEvent::MessageStart { message_id: document.id });
        out.extend(document.usage.map(usage_event));
        for (index, content) in document.content.into_iter().enumerate() {
            self.start(index, content, out)?;
            self.close(index, out);
        }
        self.stop = document.stop_reason.as_deref().map(stop_reason);
        self.complete(out);
        Ok(())
    }
}

fn usage_event(usage: Usage) -> ProviderStreamEvent {
    ProviderStreamEvent::Usage {
        usage: TokenUsage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_input_tokens,
            cache_write_tokens: usage.cache_creation_input_tokens,
        },
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::PauseTurn,
        "content_filter" => StopReason::ContentFilter,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        _ => StopReason::Other,
    }
}
