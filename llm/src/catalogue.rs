//! What models can do and cost: a pinned table, and what the user says over it.
//!
//! The table only describes; it makes no model selectable. A model that it does not know gets a
//! conservative row, never a failure.

use std::sync::OnceLock;

use air_contracts::provider::{Price, ProviderCapabilityMatrix};
use air_contracts::{AirError, Result};
use serde::{Deserialize, Serialize};

use crate::config::{ModelOverride, ProviderConfig, ProviderKind};

/// How a model is told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingMode {
    /// Nothing is sent.
    None,
    /// A budget in tokens.
    Manual,
    /// The model decides; only the effort is sent.
    Adaptive,
}

/// One model: its capability matrix and the details that only adapters need.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRow {
    pub matrix: ProviderCapabilityMatrix,
    pub thinking: ThinkingMode,
    /// Whether `output_config.effort` is understood.
    pub effort: bool,
    /// Whether a request may end with an assistant turn.
    pub prefill: bool,
}

#[derive(Debug, Deserialize)]
struct Entry {
    id: String,
    family: String,
    context_window: u32,
    max_output_tokens: u32,
    vision: bool,
    caching: bool,
    thinking: ThinkingMode,
    effort: bool,
    prefill: bool,
    price: Price,
}

#[derive(Debug, Deserialize)]
struct Catalogue {
    as_of: String,
    default_model: String,
    models: Vec<Entry>,
}

fn catalogue() -> Result<&'static Catalogue> {
    static TABLE: OnceLock<std::result::Result<Catalogue, String>> = OnceLock::new();
    let parse =
        || serde_json::from_str(include_str!("../data/catalogue.json")).map_err(|error| error.to_string());
    TABLE
        .get_or_init(parse)
        .as_ref()
        .map_err(|error| AirError::internal(format!("the model catalogue: {error}")))
}

/// The model that a provider of this kind has without any configuration.
pub(crate) fn default_model(kind: ProviderKind) -> Option<&'static str> {
    match kind {
        ProviderKind::Anthropic => catalogue().ok().map(|table| table.default_model.as_str()),
        ProviderKind::OpenaiCompatible => None,
    }
}

/// Whether the catalogue describes this model.
pub(crate) fn knows(model: &str) -> bool {
    entry(model).is_some()
}

/// The row of a model: the user's word over the catalogue's over a conservative default.
pub(crate) fn row(provider: &str, config: &ProviderConfig, model: &str) -> Result<ModelRow> {
    let known = match config.kind {
        ProviderKind::Anthropic => entry(model),
        ProviderKind::OpenaiCompatible => None,
    };
    let name = format!("{provider}/{model}");
    let mut row = match known {
        Some(entry) => described(name, entry, &catalogue()?.as_of),
        None => conservative(name, config.kind, model),
    };
    if let Some(user) = config.models.get(model) {
        overlay(&mut row, user);
    }
    Ok(row)
}

/// Finds a model by its name, with or without the date of a snapshot: `claude-haiku-4-5-20251001`.
fn entry(model: &str) -> Option<&'static Entry> {
    let table = catalogue().ok()?;
    let undated = match model.rsplit_once('-') {
        Some((stem, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => model,
    };
    table.models.iter().find(|entry| entry.id == model || entry.id == undated)
}

fn described(name: String, entry: &Entry, as_of: &str) -> ModelRow {
    let matrix = ProviderCapabilityMatrix {
        model: name,
        family: entry.family.clone(),
        context_window: entry.context_window,
        max_output_tokens: entry.max_output_tokens,
        tools: true,
        vision: entry.vision,
        thinking: entry.thinking != ThinkingMode::None,
        caching: entry.caching,
        price: Some(entry.price),
        source: format!("catalogue {as_of}"),
    };
    ModelRow { matrix, thinking: entry.thinking, effort: entry.effort, prefill: entry.prefill }
}

fn conservative(name: String, kind: ProviderKind, model: &str) -> ModelRow {
    let claude = kind == ProviderKind::Anthropic && model.to_ascii_lowercase().contains("claude");
    let matrix = ProviderCapabilityMatrix {
        model: name,
        family: if claude { "claude" } else { "other" }.to_owned(),
        context_window: 128_000,
        max_output_tokens: if claude { 32_000 } else { 8_192 },
        tools: true,
        vision: false,
        thinking: false,
        caching: claude,
        price: None,
        source: "default".to_owned(),
    };
    ModelRow { matrix, thinking: ThinkingMode::None, effort: false, prefill: false }
}

fn overlay(row: &mut ModelRow, user: &ModelOverride) {
    let matrix = &mut row.matrix;
    matrix.context_window = user.context_window.unwrap_or(matrix.context_window);
    matrix.max_output_tokens = user.max_output_tokens.unwrap_or(matrix.max_output_tokens);
    matrix.tools = user.tools.unwrap_or(matrix.tools);
    matrix.vision = user.vision.unwrap_or(matrix.vision);
    matrix.caching = user.caching.unwrap_or(matrix.caching);
    matrix.price = user.price.or(matrix.price);
    if let Some(family) = &user.family {
        matrix.family.clone_from(family);
    }
    if let Some(mode) = user.thinking {
        row.thinking = mode;
        row.effort = mode == ThinkingMode::Adaptive;
        matrix.thinking = mode != ThinkingMode::None;
    }
    matrix.source = format!("{} and configuration", matrix.source);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_from_the_user_then_the_catalogue_then_a_default() {
        let mut config = ProviderConfig::new(ProviderKind::Anthropic);
        let user = ModelOverride { context_window: Some(50_000), ..ModelOverride::default() };
        config.models.insert("claude-haiku-5-5".into(), user);
        let check = |model: &str, context: u32, family: &str, source: &str| {
            let row = row("anthropic", &config, model).unwrap().matrix;
            assert_eq!(
                (row.context_window, row.family.as_str(), row.source.as_str()),
                (context, family, source)
            );
        };
        check("claude-sonnet-4-6", 1_000_000, "claude", "catalogue 2026-11-30");
        check("claude-haiku-4-5-20251001", 200_000, "claude", "catalogue 2026-11-30");
        check("claude-haiku-5-5", 50_000, "claude", "catalogue 2026-11-30 and configuration");
        check("claude-of-tomorrow", 128_000, "claude", "default");
        check("smollm2", 128_000, "other", "default");
        assert!(knows(default_model(ProviderKind::Anthropic).unwrap()));
    }
}
