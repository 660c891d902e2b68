//! The scenario file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::fault::Fault;

/// Why a scenario cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("{path}: {error}")]
    Read { path: String, error: std::io::Error },
    /// The text names the line and the column.
    #[error("{path}: {text}")]
    Invalid { path: String, text: String },
}

/// A whole scenario; the crate's documentation describes its form.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default = "yes")]
    pub strict: bool,
    #[serde(default)]
    pub require_key: Option<String>,
    #[serde(default = "default_models")]
    pub models: Vec<String>,
    #[serde(default, deserialize_with = "in_order")]
    pub agents: Vec<(String, Agent)>,
    #[serde(default)]
    pub turns: Vec<Turn>,
}

fn yes() -> bool {
    true
}

fn default_models() -> Vec<String> {
    ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"].map(str::to_owned).to_vec()
}

impl Scenario {
    /// Reads a file. The error names the line of what is wrong.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ScenarioError::Read { path: name.clone(), error })?;
        Self::parse(&name, &text)
    }

    /// Parses a text; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let invalid = |text: String| ScenarioError::Invalid { path: name.to_owned(), text };
        let scenario: Self = serde_saphyr::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if scenario.turns.is_empty() && scenario.agents.iter().all(|(_, agent)| agent.turns.is_empty()) {
            return Err(invalid("line 1: the scenario has no turns".to_owned()));
        }
        Ok(scenario)
    }
}

/// Whose place in the script a request moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CursorScope {
    #[default]
    Agent,
    Conversation,
    /// None: the place is how many answers the request's own history holds, so a repeated request gets the
    /// same answer. `when` is not asked.
    History,
}

/// One kind of conversation and its script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    #[serde(rename = "match")]
    pub wanted: Texts,
    #[serde(default)]
    pub cursor: CursorScope,
    pub turns: Vec<Turn>,
}

/// One answer of the script.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "TurnFields")]
pub struct Turn {
    pub when: When,
    /// `None`: forever.
    pub repeat: Option<u32>,
    pub capture: BTreeMap<String, String>,
    pub reply: Reply,
    pub fault: Option<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnFields {
    #[serde(default)]
    when: When,
    #[serde(default)]
    repeat: Repeat,
    #[serde(default)]
    capture: BTreeMap<String, String>,
    reply: Option<Reply>,
    fault: Option<Fault>,
}

impl TryFrom<TurnFields> for Turn {
    type Error = String;

    fn try_from(fields: TurnFields) -> Result<Self, String> {
        match (&fields.reply, &fields.fault) {
            (None, None) => return Err("a turn needs a reply or a fault".to_owned()),
            (Some(_), Some(Fault::Refuse { .. } | Fault::Drop)) => {
                return Err(
                    "a fault with status or drop takes the place of a reply: remove one of them".to_owned()
                );
            }
            _ => {}
        }
        if let Some((name, _)) = fields.capture.iter().find(|(_, pattern)| pattern.matches("{}").count() != 1)
        {
            return Err(format!("capture {name} needs exactly one {{}} in its pattern"));
        }
        Ok(Self {
            when: fields.when,
            repeat: fields.repeat.0,
            capture: fields.capture,
            reply: fields.reply.unwrap_or_default(),
            fault: fields.fault,
        })
    }
}

/// Conditions of a turn; empty ones hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    pub contains: Texts,
    pub system: Texts,
    pub user: Texts,
    pub tool_result: Texts,
    pub tool: Texts,
    pub model: Texts,
}

/// What a turn answers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    pub thinking: Option<String>,
    pub text: Option<String>,
    pub tools: Vec<ToolCall>,
    pub usage: Usage,
    pub stop_reason: Option<String>,
    pub delay_ms: u64,
    pub piece: usize,
    pub piece_delay_ms: u64,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            thinking: None,
            text: None,
            tools: Vec::new(),
            usage: Usage::default(),
            stop_reason: None,
            delay_ms: 0,
            piece: 24,
            piece_delay_ms: 0,
        }
    }
}

/// Tokens to report; what is absent is estimated.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cache_read_input_tokens: Option<u64>,
    pub cache_creation_input_tokens: Option<u64>,
}

/// A call of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    pub name: String,
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default = "empty_object")]
    pub input: Value,
    /// Sent in place of the input, valid or not.
    #[serde(default)]
    pub raw_input: Option<String>,
}

fn empty_object() -> Value {
    Value::Object(serde_json::Map::new())
}

/// How often a turn plays; `None` inside: forever.
#[derive(Debug, Clone, Copy)]
struct Repeat(Option<u32>);

impl Default for Repeat {
    fn default() -> Self {
        Self(Some(1))
    }
}

impl<'de> Deserialize<'de> for Repeat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Repeat;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 1, or forever")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Repeat, E> {
                let number = u32::try_from(number).ok().filter(|number| *number > 0);
                number
                    .map(|number| Repeat(Some(number)))
                    .ok_or_else(|| E::custom("repeat is a number from 1"))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Repeat, E> {
                self.visit_u64(u64::try_from(number).unwrap_or(0))
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Repeat, E> {
                match word {
                    "forever" => Ok(Repeat(None)),
                    _ => Err(E::custom("repeat is a number from 1, or forever")),
                }
            }
        }
        deserializer.deserialize_any(Word)
    }
}

/// A text, or a list of texts of which all are meant.
#[derive(Debug, Clone, Default)]
pub struct Texts(pub Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = seq.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// A map whose entries keep the order of the file.
fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Agent)>, D::Error> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(String, Agent)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map from names to agents")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, parts: &[&str]) {
        let error = Scenario::parse("s.yaml", text).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{part:?} in {error}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        check("turns:\n  - reply: {text: a}\n  - reply:\n      txt: b\n", &["s.yaml", "line 4", "txt"]);
        check("turns:\n  - reply: {text: a}\n    repeat: never\n", &["line 3", "forever"]);
        check("turns:\n  - repeat: 2\n", &["a turn needs a reply or a fault", "line 2"]);
        check("turns:\n  - fault: {status: 500, drop: true}\n", &["line 2", "one kind"]);
        check("turns:\n  - {reply: {text: a}, fault: {drop: true}}\n", &["place of a reply", "line 2"]);
        check("turns:\n  - reply: {text: [}\n", &["line 2"]);
        check("strict: false\n", &["no turns"]);
    }

    #[test]
    fn a_full_scenario_parses() {
        for name in ["one-file-fix.yaml", "faults.yaml"] {
            let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).join(name);
            let scenario = Scenario::read(&path).unwrap();
            assert!(!scenario.turns.is_empty() || !scenario.agents.is_empty());
        }
        let text = "turns:\n  - repeat: forever\n    reply:\n      tools: [{name: a, input: {n: 3, yes: true, s: '3'}}]\n";
        let scenario = Scenario::parse("s", text).unwrap();
        assert_eq!(scenario.turns[0].repeat, None);
        assert_eq!(
            scenario.turns[0].reply.tools[0].input,
            serde_json::json!({"n": 3, "yes": true, "s": "3"})
        );
    }
}
