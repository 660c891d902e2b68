//! The providers of a daemon: made from the configuration once, shared by cloning.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use air_contracts::error::codes;
use air_contracts::port::BoxStream;
use air_contracts::provider::{ModelRequest, ProviderError, ProviderStatus, ProviderStreamEvent};
use air_contracts::{AirError, Result};
use futures_util::StreamExt;
use reqwest::Url;

use crate::adapter::{ListedModel, ProviderAdapter};
use crate::anthropic::{Anthropic, BASE_URL, Settings};
use crate::breaker::Breaker;
use crate::catalogue::{self, ModelRow};
use crate::config::{ApiKey, ModelsConfig, ProviderConfig, ProviderKind};
use crate::report::ConversionReport;
use crate::select::none_configured;
use crate::transport::{Transport, is_loopback, shown_url};

/// Where the key of the vendor is looked for when the configuration names no place.
const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
const URL_VARIABLE: &str = "ANTHROPIC_BASE_URL";

/// One provider: its configuration and the adapter that speaks to it, or why there is none.
pub(crate) struct Provider {
    pub config: ProviderConfig,
    base_url: String,
    key_source: String,
    adapter: Result<Arc<dyn ProviderAdapter>>,
    listed: Mutex<Vec<String>>,
}

impl Provider {
    pub fn adapter(&self) -> Result<&Arc<dyn ProviderAdapter>> {
        self.adapter.as_ref().map_err(Clone::clone)
    }

    pub fn key_source(&self) -> &str {
        &self.key_source
    }
}

struct Inner {
    providers: BTreeMap<String, Provider>,
    models: ModelsConfig,
    breaker: Breaker,
}

/// All configured providers. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct ProviderManager {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for ProviderManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderManager")
            .field("providers", &self.inner.providers.keys())
            .finish_non_exhaustive()
    }
}

impl ProviderManager {
    /// Reads keys from `env` and makes the adapters; contacts nobody. Without any provider in the
    /// configuration, `ANTHROPIC_API_KEY` (and `ANTHROPIC_BASE_URL`) make one named `anthropic`.
    ///
    /// Fails with `config.invalid` for a name or an address that cannot be one. A missing key is not a
    /// failure here: it is one when the provider is selected.
    pub fn new(
        mut providers: BTreeMap<String, ProviderConfig>,
        models: ModelsConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        if providers.is_empty() && filled(env, KEY_VARIABLE).is_some() {
            let mut config = ProviderConfig::new(ProviderKind::Anthropic);
            config.api_key_env = Some(KEY_VARIABLE.to_owned());
            config.base_url = filled(env, URL_VARIABLE);
            providers.insert("anthropic".to_owned(), config);
        }
        let transport = Transport::default();
        let made: Result<BTreeMap<String, Provider>> = providers
            .into_iter()
            .map(|(id, config)| {
                let provider = make(&id, config, env, &transport)?;
                Ok((id, provider))
            })
            .collect();
        let inner = Inner { providers: made?, models, breaker: Breaker::default() };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn providers(&self) -> &BTreeMap<String, Provider> {
        &self.inner.providers
    }

    pub(crate) fn models(&self) -> &ModelsConfig {
        &self.inner.models
    }

    pub(crate) fn breaker(&self) -> &Breaker {
        &self.inner.breaker
    }

    pub(crate) fn provider(&self, id: &str) -> Result<&Provider> {
        if self.inner.providers.is_empty() {
            return Err(none_configured());
        }
        self.inner.providers.get(id).ok_or_else(|| {
            AirError::new(codes::MODEL_NOT_FOUND, format!("no provider {id} is configured"))
                .hint("air provider list")
        })
    }

    /// Streams an answer; it ends with `stop` or `error`. Dropping the stream closes the connection.
    /// Transient failures before the first content are retried, within bounds.
    pub fn complete(&self, request: &ModelRequest) -> BoxStream<'static, ProviderStreamEvent> {
        let (adapter, row) = match self.target(&request.model) {
            Ok(target) => target,
            Err(error) => return failed(error),
        };
        let (breaker, model) = (self.inner.breaker.clone(), row.matrix.model.clone());
        let events = adapter.complete(request, &row);
        Box::pin(events.inspect(move |event| breaker.observe(&model, event)))
    }

    /// The tokens of a request, as its server counts them.
    pub async fn count_tokens(&self, request: &ModelRequest) -> Result<u64> {
        let (adapter, row) = self.target(&request.model)?;
        adapter.count_tokens(request, &row).await
    }

    /// The body that `complete` would send, and what the conversion changed. Sends nothing.
    pub fn preview(&self, request: &ModelRequest) -> Result<(Vec<u8>, ConversionReport)> {
        let (adapter, row) = self.target(&request.model)?;
        adapter.preview(request, &row)
    }

    pub(crate) fn target(&self, model: &str) -> Result<(Arc<dyn ProviderAdapter>, ModelRow)> {
        let (id, name) = model.split_once('/').ok_or_else(|| {
            AirError::new(codes::MODEL_NOT_FOUND, format!("{model} is not written PROVIDER/MODEL"))
        })?;
        let provider = self.provider(id)?;
        let row = catalogue::row(id, &provider.config, name)?;
        Ok((Arc::clone(provider.adapter()?), row))
    }

    /// All providers with the models that were configured for them, or listed by their servers so far.
    pub fn statuses(&self) -> Vec<ProviderStatus> {
        let status = |(id, provider): (&String, &Provider)| ProviderStatus {
            id: id.clone(),
            kind: provider.config.kind.as_str().to_owned(),
            base_url: provider.base_url.clone(),
            key_source: provider.key_source.clone(),
            models: self.selectable(id, provider),
        };
        self.inner.providers.iter().map(status).collect()
    }

    fn selectable(&self, id: &str, provider: &Provider) -> Vec<String> {
        let models = &self.inner.models;
        let chosen = models.default.iter().chain(models.roles.values()).chain(&models.fallback);
        let chosen = chosen.filter_map(|text| text.split_once('/').filter(|(owner, _)| *owner == id));
        let mut names: Vec<String> = chosen.map(|(_, name)| name.to_owned()).collect();
        names.extend(provider.config.models.keys().cloned());
        names.extend(provider.listed.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        names.extend(catalogue::default_model(provider.config.kind).map(str::to_owned));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Asks a provider's server for its models.
    pub async fn list_models(&self, provider: &str) -> Result<Vec<ListedModel>> {
        let entry = self.provider(provider)?;
        let models = entry.adapter()?.list_models().await?;
        let ids = models.iter().map(|model| model.id.clone()).collect();
        *entry.listed.lock().unwrap_or_else(PoisonError::into_inner) = ids;
        Ok(models)
    }
}

/// A stream that only fails.
pub(crate) fn failed(error: AirError) -> BoxStream<'static, ProviderStreamEvent> {
    let error = ProviderError { error, retry_after_ms: None, partial: false };
    Box::pin(futures_util::stream::iter([ProviderStreamEvent::Error { error }]))
}

fn filled(env: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    env(name).filter(|value| !value.trim().is_empty())
}

fn make(
    id: &str,
    config: ProviderConfig,
    env: &dyn Fn(&str) -> Option<String>,
    transport: &Transport,
) -> Result<Provider> {
    let invalid = |what: String| AirError::new(codes::CONFIG_INVALID, what);
    if id.is_empty() || id.contains('/') || id.contains(char::is_whitespace) {
        return Err(invalid(format!("{id:?} cannot be the name of a provider")));
    }
    let text = config.base_url.as_deref().unwrap_or(match config.kind {
        ProviderKind::Anthropic => BASE_URL,
        ProviderKind::OpenaiCompatible => "https://api.openai.com/v1",
    });
    let base_url = Url::parse(text.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| invalid(format!("providers.{id}.base_url is not an http or https address")))?;
    let (key, key_source) = key_of(&config, env);
    let shown = shown_url(&base_url);
    let adapter = adapter(id, &config, base_url, key, transport);
    Ok(Provider { config, base_url: shown, key_source, adapter, listed: Mutex::default() })
}

/// The key and where it is from. The vendor's variable counts only for the vendor's own address: a key
/// must not go to a server that it was not meant for.
fn key_of(config: &ProviderConfig, env: &dyn Fn(&str) -> Option<String>) -> (Option<ApiKey>, String) {
    if let Some(key) = config.api_key.clone().filter(|key| !key.expose().is_empty()) {
        return (Some(key), "credentials file".to_owned());
    }
    let own = config.kind == ProviderKind::Anthropic && config.base_url.is_none();
    let variable = config.api_key_env.as_deref().or_else(|| own.then_some(KEY_VARIABLE));
    let key = variable.and_then(|name| filled(env, name));
    match (key, variable) {
        (Some(key), Some(name)) => (Some(ApiKey::new(&key)), name.to_owned()),
        _ => (None, "none".to_owned()),
    }
}

fn adapter(
    id: &str,
    config: &ProviderConfig,
    base_url: Url,
    key: Option<ApiKey>,
    transport: &Transport,
) -> Result<Arc<dyn ProviderAdapter>> {
    if config.kind == ProviderKind::OpenaiCompatible {
        let message = format!("provider {id}: this build has no adapter for kind openai_compatible");
        return Err(
            AirError::new(codes::PROVIDER_UNSUPPORTED, message).hint("use a provider of kind anthropic")
        );
    }
    if key.is_none() && !is_loopback(&base_url) {
        let place = config.api_key_env.as_deref().unwrap_or(KEY_VARIABLE);
        let message =
            format!("provider {id} has no key: {place} is not set in the environment of the daemon");
        return Err(AirError::new(codes::PROVIDER_AUTH, message).hint(format!("export the variable that providers.{id}.api_key_env names in ~/.air/config.yaml, then air daemon restart")));
    }
    if key.is_some() && base_url.scheme() == "http" && !is_loopback(&base_url) {
        tracing::warn!(provider = id, "the key of this provider travels unencrypted: base_url is http");
    }
    let settings = Settings {
        id: Arc::from(id),
        base_url,
        key,
        version: config.version.clone(),
        limits: config.limits(),
        transport: transport.clone(),
    };
    Ok(Arc::new(Anthropic::new(settings)?))
}
