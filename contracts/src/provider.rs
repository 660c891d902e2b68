//! Requests to models, the events of their answers, and what a model can do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::AirError;
use crate::ids::{RequestId, SessionId};
use crate::message::Message;
use crate::task::AgentRole;

mod fold;

pub use fold::{Completion, CompletionFold, FoldedCall};

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    /// Canonical: `fs.read`.
    pub name: String,
    /// What goes over the wire: `fs_read`. Adapters map both ways, in history too.
    pub wire_name: String,
    pub description: String,
    /// JSON Schema of the input, an object.
    pub input_schema: Value,
}

/// A part of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemBlock {
    pub text: String,
    /// Whether a cache breakpoint follows.
    #[serde(default)]
    pub cache: bool,
}

/// A cache breakpoint in the messages: behind this block of this message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheMark {
    pub message: usize,
    pub block: usize,
}

/// How much a model may think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    Low,
    Medium,
    High,
}

/// A request to a model, in canonical form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    pub request_id: RequestId,
    /// For provider-side cache keys.
    pub session_id: SessionId,
    /// `<provider>/<model>`.
    pub model: String,
    pub role: AgentRole,
    pub system: Vec<SystemBlock>,
    /// Sorted by name.
    pub tools: Vec<ToolSpec>,
    pub messages: Vec<Message>,
    #[serde(default)]
    pub cache_marks: Vec<CacheMark>,
    /// Tokens of the answer, at most.
    pub max_output_tokens: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

/// Tokens of one answer, as the server counted them. Absent is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TokenUsage {
    /// Prompt tokens that were neither read from nor written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
}

impl TokenUsage {
    /// Takes over what `later` states: the values of a stream are cumulative.
    pub fn overwrite(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_read_tokens = later.cache_read_tokens.or(self.cache_read_tokens);
        self.cache_write_tokens = later.cache_write_tokens.or(self.cache_write_tokens);
    }

    /// The whole prompt in tokens.
    pub fn prompt_tokens(&self) -> u64 {
        [self.input_tokens, self.cache_read_tokens, self.cache_write_tokens].iter().flatten().sum()
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    MaxTokens,
    StopSequence,
    Refusal,
    PauseTurn,
    ContentFilter,
    ContextWindow,
    Other,
}

/// The beginning of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BlockStart {
    Text,
    Thinking,
    RedactedThinking { data: String },
    ToolUse { id: String, name: String },
}

/// One event of an answer. A block is known by `index`; an answer that ends in `error` runs nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ProviderStreamEvent {
    MessageStart {
        #[serde(default)]
        message_id: Option<String>,
    },
    BlockStart {
        index: usize,
        block: BlockStart,
    },
    TextDelta {
        index: usize,
        text: String,
    },
    ThinkingDelta {
        index: usize,
        text: String,
    },
    /// Replaces the signature so far.
    SignatureDelta {
        index: usize,
        signature: String,
    },
    ToolInputDelta {
        index: usize,
        json: String,
    },
    Citation {
        index: usize,
        citation: String,
    },
    BlockStop {
        index: usize,
    },
    Usage {
        usage: TokenUsage,
    },
    Stop {
        reason: StopReason,
    },
    Error {
        error: ProviderError,
    },
}

/// A failure of a provider, classified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderError {
    /// Its `code` begins with `provider.`.
    pub error: AirError,
    /// How long the server asks to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Whether part of an answer came before it.
    #[serde(default)]
    pub partial: bool,
}

/// What one model can do and costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderCapabilityMatrix {
    /// `<provider>/<model>`.
    pub model: String,
    /// Prompt families: `claude`, `openai`, `local`, `other`.
    pub family: String,
    /// Tokens of prompt and answer together.
    pub context_window: u32,
    pub max_output_tokens: u32,
    pub tools: bool,
    pub vision: bool,
    pub thinking: bool,
    pub caching: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Where these facts come from: `catalogue 2026-11-30`, `server`, `default`.
    pub source: String,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

impl Price {
    /// The cost of an answer in US dollars.
    pub fn cost_usd(&self, usage: &TokenUsage) -> f64 {
        let million = |tokens: Option<u64>, price: f64| tokens.unwrap_or(0) as f64 * price / 1e6;
        million(usage.input_tokens, self.input)
            + million(usage.output_tokens, self.output)
            + million(usage.cache_read_tokens, self.cache_read)
            + million(usage.cache_write_tokens, self.cache_write)
    }
}

/// The model that was chosen for a role, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelAssignment {
    pub matrix: ProviderCapabilityMatrix,
    pub reason: String,
}

/// One selectable model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderStatus {
    pub id: String,
    /// `anthropic`, `openai_compatible`.
    pub kind: String,
    pub base_url: String,
    /// Where the key comes from: `ANTHROPIC_API_KEY`, `credentials file`, `none`.
    pub key_source: String,
    pub models: Vec<String>,
}
