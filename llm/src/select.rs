//! Which model a role gets.

use air_contracts::error::codes;
use air_contracts::provider::ModelAssignment;
use air_contracts::task::AgentRole;
use air_contracts::{AirError, Result};

use crate::catalogue;
use crate::config::ProviderKind;
use crate::manager::{Provider, ProviderManager};

/// A model that was found, before it is checked for use.
struct Choice {
    provider: String,
    model: String,
    reason: String,
    /// Whether a fallback may take its place: not when a person named this very model.
    replaceable: bool,
}

impl ProviderManager {
    /// The model for a role: the wanted one, else that of the role, the default, or the default of the
    /// only provider. A failing model is replaced by the first fallback that works, unless it was wanted.
    ///
    /// Fails with `provider.none_configured`, `model.not_found` for an unknown provider,
    /// `provider.auth` when the key is missing, `provider.unsupported` for a kind of provider
    /// that this build has no adapter for.
    pub fn select(&self, role: AgentRole, wanted: Option<&str>) -> Result<ModelAssignment> {
        if self.providers().is_empty() {
            return Err(none_configured());
        }
        let choice = self.choose(role, wanted)?;
        let assignment = self.assign(&choice.provider, &choice.model, choice.reason)?;
        if !choice.replaceable || !self.breaker().is_open(&assignment.matrix.model) {
            return Ok(assignment);
        }
        Ok(self.fallback_for(&assignment).unwrap_or(assignment))
    }

    fn choose(&self, role: AgentRole, wanted: Option<&str>) -> Result<Choice> {
        let models = self.models();
        let word = role_word(role);
        let configured = [
            (wanted, "it was asked for".to_owned(), false),
            (models.roles.get(&role).map(String::as_str), format!("models.roles.{word}"), true),
            (models.default.as_deref(), "models.default".to_owned(), true),
        ];
        for (text, reason, replaceable) in configured {
            if let Some(text) = text {
                let (provider, model) = self.resolve(text)?;
                return Ok(Choice { provider, model, reason, replaceable });
            }
        }
        self.default_choice()
    }

    /// Without any word on models: the first provider that has a default, or names exactly one model.
    fn default_choice(&self) -> Result<Choice> {
        for (id, provider) in self.providers() {
            let mut named = provider.config.models.keys();
            let only = match (named.next(), named.next()) {
                (Some(model), None) => Some(model.clone()),
                _ => None,
            };
            let default = catalogue::default_model(provider.config.kind).map(str::to_owned);
            if let Some(model) = only.or(default) {
                let reason = format!("the default of provider {id}");
                return Ok(Choice { provider: id.clone(), model, reason, replaceable: true });
            }
        }
        let error =
            AirError::new(codes::PROVIDER_NONE_CONFIGURED, "no model is chosen: models.default is not set");
        Err(error.hint("air model use PROVIDER/MODEL"))
    }

    /// Splits `<provider>/<model>`. A bare model name goes to the provider that has it, or to the only one.
    pub(crate) fn resolve(&self, text: &str) -> Result<(String, String)> {
        if let Some((provider, model)) = text.split_once('/')
            && self.providers().contains_key(provider)
            && !model.is_empty()
        {
            return Ok((provider.to_owned(), model.to_owned()));
        }
        let has = |provider: &Provider| {
            provider.config.models.contains_key(text)
                || (provider.config.kind == ProviderKind::Anthropic && catalogue::knows(text))
        };
        let mut ids = self.providers().iter();
        let owner = ids.clone().find(|(_, provider)| has(provider)).map(|(id, _)| id);
        let only = match (ids.next(), ids.next()) {
            (Some((id, _)), None) if !text.is_empty() && !text.contains('/') => Some(id),
            _ => None,
        };
        if let Some(id) = owner.or(only) {
            return Ok((id.clone(), text.to_owned()));
        }
        let known: Vec<&str> = self.providers().keys().map(String::as_str).collect();
        let error = AirError::new(codes::MODEL_NOT_FOUND, format!("{text} names no configured provider"));
        Err(error.hint(format!("a model is written PROVIDER/MODEL; providers: {}", known.join(", "))))
    }

    fn assign(&self, id: &str, model: &str, reason: String) -> Result<ModelAssignment> {
        let provider = self.provider(id)?;
        provider.adapter()?;
        let matrix = catalogue::row(id, &provider.config, model)?.matrix;
        Ok(ModelAssignment { matrix, reason })
    }

    fn fallback_for(&self, failing: &ModelAssignment) -> Option<ModelAssignment> {
        for text in &self.models().fallback {
            let Ok((provider, model)) = self.resolve(text) else { continue };
            let reason = format!("models.fallback, while {} is failing", failing.matrix.model);
            let Ok(assignment) = self.assign(&provider, &model, reason) else { continue };
            let name = &assignment.matrix.model;
            if assignment.matrix.tools && *name != failing.matrix.model && !self.breaker().is_open(name) {
                return Some(assignment);
            }
        }
        None
    }
}

fn role_word(role: AgentRole) -> &'static str {
    match role {
        AgentRole::Main => "main",
        AgentRole::ArchitectureDesigner => "architecture_designer",
        AgentRole::Scheduler => "scheduler",
        AgentRole::Executor => "executor",
        AgentRole::Reviewer => "reviewer",
        AgentRole::Debugger => "debugger",
        AgentRole::Compactor => "compactor",
        AgentRole::ExperienceMiner => "experience_miner",
        AgentRole::Runtime => "runtime",
    }
}

/// Says what was looked for.
pub(crate) fn none_configured() -> AirError {
    AirError::new(codes::PROVIDER_NONE_CONFIGURED, "no model provider is configured")
        .hint("looked for: `providers` in config.yaml, ANTHROPIC_API_KEY in the environment of the daemon")
        .hint("export ANTHROPIC_API_KEY=…, or name a server under `providers` in ~/.air/config.yaml; then air daemon restart")
}
