//! The `providers` and `models` sections of the configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use air_contracts::provider::Price;
use air_contracts::task::AgentRole;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize};

use crate::catalogue::ThinkingMode;

/// Which adapter speaks to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    Anthropic,
    OpenaiCompatible,
}

impl ProviderKind {
    /// The word used in configuration and statuses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiCompatible => "openai_compatible",
        }
    }
}

/// A key: never printed, never serialised, wiped from memory when dropped.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// Takes over a key; white space around it is dropped.
    pub fn new(text: &str) -> Self {
        Self(SecretString::from(text.trim()))
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl<'de> Deserialize<'de> for ApiKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

/// One entry of `providers`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    pub kind: ProviderKind,
    /// Where the server is; `http` or `https`. Absent: the vendor's own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The key itself, from the credentials file.
    #[serde(default, skip_serializing)]
    pub api_key: Option<ApiKey>,
    /// The `anthropic-version` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the user knows better than the catalogue, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelOverride>,
    /// Seconds until the head of an answer must have come; 120.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_timeout_s: Option<u64>,
    /// Seconds of silence that end an answer; 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_s: Option<u64>,
    /// How often a request is repeated after a transient failure; 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl ProviderConfig {
    /// A provider with nothing but its kind.
    pub fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            base_url: None,
            api_key_env: None,
            api_key: None,
            version: None,
            models: BTreeMap::new(),
            first_byte_timeout_s: None,
            idle_timeout_s: None,
            max_retries: None,
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        let seconds = |value: Option<u64>, default: u64| Duration::from_secs(value.unwrap_or(default).max(1));
        Limits {
            first_byte: seconds(self.first_byte_timeout_s, 120),
            idle: seconds(self.idle_timeout_s, 300),
            max_retries: self.max_retries.unwrap_or(4),
        }
    }
}

/// Limits of one exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub first_byte: Duration,
    pub idle: Duration,
    pub max_retries: u32,
}

/// Facts about one model that replace those of the catalogue.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOverride {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caching: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingMode>,
}

/// The `models` section. Models are written `<provider>/<model>`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelsConfig {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<AgentRole, String>,
    /// Chosen, in this order, while the model that a role would have is failing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
}
