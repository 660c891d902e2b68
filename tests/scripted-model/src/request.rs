//! A request as the server reads it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

#[derive(Debug, Deserialize)]
pub(crate) struct Request<'a> {
    pub model: Cow<'a, str>,
    pub max_tokens: Option<u64>,
    #[serde(default)]
    pub stream: bool,
    #[serde(default)]
    pub system: Option<Content>,
    #[serde(default)]
    pub tools: Vec<Tool>,
    pub messages: Vec<Message>,
    #[serde(borrow)]
    pub temperature: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Tool {
    pub name: String,
    pub cache_control: Option<Present>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    pub role: String,
    pub content: Content,
}

/// A text or blocks.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

// By hand, because an untagged enum would copy long transcripts once more.
impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;
        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of content blocks")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        deserializer.deserialize_any(TextOrBlocks)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Block {
    #[serde(rename = "type")]
    pub kind: String,
    pub text: Option<String>,
    pub id: Option<String>,
    pub tool_use_id: Option<String>,
    /// Of a tool result.
    pub content: Option<Box<Content>>,
    pub signature: Option<String>,
    pub cache_control: Option<Present>,
}

/// Something whose value does not matter.
#[derive(Debug, Deserialize)]
pub(crate) struct Present {}

impl Content {
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// All text in it, joined by newlines.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(|block| block.text.as_deref()).collect();
                texts.join("\n")
            }
        }
    }
}

/// What conditions and variables look at.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub system: String,
    pub first_user: String,
    pub last_user: String,
    /// The results of the last message, joined by newlines.
    pub tool_result: String,
    pub tools: Vec<String>,
    pub model: String,
    /// Answers that the history holds.
    pub answers: usize,
}

impl View {
    pub fn of(request: &Request<'_>) -> Self {
        let texts =
            || request.messages.iter().filter(|message| message.role == "user").map(|m| m.content.text());
        let results = request.messages.last().map(|message| message.content.blocks()).unwrap_or_default();
        let results: Vec<String> = results
            .iter()
            .filter(|block| block.kind == "tool_result")
            .filter_map(|block| block.content.as_ref().map(|content| content.text()))
            .collect();
        Self {
            system: request.system.as_ref().map(Content::text).unwrap_or_default(),
            first_user: texts().find(|text| !text.is_empty()).unwrap_or_default(),
            last_user: texts().rfind(|text| !text.is_empty()).unwrap_or_default(),
            tool_result: results.join("\n"),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            model: request.model.to_string(),
            answers: request.messages.iter().filter(|message| message.role == "assistant").count(),
        }
    }

    /// The offered tool that a name of the script means, in wire or canonical form.
    pub fn tool(&self, name: &str) -> Option<&str> {
        let exact = self.tools.iter().find(|tool| *tool == name);
        let plain = plain_name(name);
        exact.or_else(|| self.tools.iter().find(|tool| plain_name(tool) == plain)).map(String::as_str)
    }
}

/// A name as it can stand on the wire.
pub(crate) fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
