//! The request body of the Messages API, borrowed from the canonical request.

use air_contracts::message::MessageRole;
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    pub model: &'a str,
    /// Absent when tokens are only counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    // Tools, system, messages: the order in which the server builds the prompt, most stable first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<System<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig>,
    pub messages: Vec<Turn<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Tool<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: &'a str,
    pub input_schema: &'a Value,
}

#[derive(Debug, Serialize)]
pub(super) struct System<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    Adaptive,
    Enabled { budget_tokens: u32 },
}

#[derive(Debug, Serialize)]
pub(super) struct OutputConfig {
    pub effort: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Turn<'a> {
    pub role: MessageRole,
    pub content: Vec<Placed<'a>>,
}

/// A block with its cache breakpoint.
#[derive(Debug, Serialize)]
pub(super) struct Placed<'a> {
    #[serde(flatten)]
    pub block: Block<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CacheControl {
    Ephemeral,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: std::borrow::Cow<'a, str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        source: ImageSource<'a>,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "base64")]
pub(super) struct ImageSource<'a> {
    pub media_type: &'a str,
    pub data: &'a str,
}

impl<'a> Placed<'a> {
    pub fn plain(block: Block<'a>) -> Self {
        Self { block, cache_control: None }
    }

    /// The API takes no breakpoint on thinking.
    pub fn can_carry_mark(&self) -> bool {
        !matches!(self.block, Block::Thinking { .. } | Block::RedactedThinking { .. })
    }
}
