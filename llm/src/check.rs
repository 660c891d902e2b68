//! An explicit check of one provider, the only place that sends a prompt no user wrote.

use std::time::Instant;

use air_contracts::Result;
use air_contracts::ids::{RequestId, SessionId};
use air_contracts::message::Message;
use air_contracts::provider::{CompletionFold, ModelRequest, TokenUsage};
use air_contracts::task::AgentRole;
use futures_util::StreamExt;
use serde::Serialize;

use crate::adapter::ListedModel;
use crate::catalogue;
use crate::manager::ProviderManager;

/// What a check found.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderCheck {
    pub provider: String,
    /// `ANTHROPIC_API_KEY`, `credentials file`, `none`.
    pub key_source: String,
    /// The models that the server lists; absent when it has no list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<Vec<String>>,
    /// The model that was asked, `<provider>/<model>`.
    pub model: String,
    /// From the request to the end of its answer.
    pub answered_in_ms: u64,
    pub usage: TokenUsage,
}

impl ProviderManager {
    /// Lists a provider's models and lets one of them answer a prompt of a few tokens. Fails with what the
    /// server says: `provider.auth`, `provider.network`.
    pub async fn check(&self, provider: &str) -> Result<ProviderCheck> {
        let entry = self.provider(provider)?;
        entry.adapter()?;
        let listed = match self.list_models(provider).await {
            Ok(models) => Some(models),
            // A server without a list may still answer; a refused key will not.
            Err(error) if error.is(air_contracts::error::codes::PROVIDER_AUTH) => return Err(error),
            Err(error) => {
                tracing::debug!(provider, error = error.message, "the server lists no models");
                None
            }
        };
        let model =
            format!("{provider}/{}", self.model_to_ask(provider, listed.as_deref().unwrap_or_default())?);
        let started = Instant::now();
        let mut fold = CompletionFold::default();
        let mut events = self.complete(&probe(&model));
        while let Some(event) = events.next().await {
            fold.push(&event);
        }
        let answer = fold.finish().map_err(|error| error.error)?;
        Ok(ProviderCheck {
            provider: provider.to_owned(),
            key_source: entry.key_source().to_owned(),
            listed: listed.map(|models| models.into_iter().map(|model| model.id).collect()),
            model,
            answered_in_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            usage: answer.usage,
        })
    }

    /// The configured model, else the kind's default, else the first that is listed.
    fn model_to_ask(&self, provider: &str, listed: &[ListedModel]) -> Result<String> {
        let own = |text: &String| {
            text.split_once('/').filter(|(owner, _)| *owner == provider).map(|(_, model)| model.to_owned())
        };
        let models = self.models();
        let chosen = models.default.iter().chain(models.roles.values()).find_map(own);
        let config = &self.provider(provider)?.config;
        let default = catalogue::default_model(config.kind).map(str::to_owned);
        let named = config.models.keys().next().cloned();
        let first = listed.first().map(|model| model.id.clone());
        chosen.or(named).or(default).or(first).ok_or_else(|| {
            air_contracts::AirError::new(
                air_contracts::error::codes::MODEL_NOT_FOUND,
                format!("provider {provider} has no model to ask"),
            )
        })
    }
}

fn probe(model: &str) -> ModelRequest {
    ModelRequest {
        request_id: RequestId::from_uuid(uuid::Uuid::nil()),
        session_id: SessionId::from_uuid(uuid::Uuid::nil()),
        model: model.to_owned(),
        role: AgentRole::Runtime,
        system: Vec::new(),
        tools: Vec::new(),
        messages: vec![Message::user("Answer with the word: ready")],
        cache_marks: Vec::new(),
        max_output_tokens: 64,
        effort: None,
    }
}
