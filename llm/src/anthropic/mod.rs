//! The adapter for the Anthropic Messages API (`/v1/messages`) and servers that speak it.

mod body;
mod decode;
#[cfg(test)]
mod pauses;
mod sanitise;
mod wire;

use std::sync::Arc;

use air_contracts::error::codes;
use air_contracts::port::{BoxFuture, BoxStream};
use air_contracts::provider::{ModelRequest, ProviderError, ProviderStreamEvent};
use air_contracts::{AirError, Result};
use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;

use self::body::{Built, Purpose, build};
use self::decode::Decoder;
use crate::adapter::{ListedModel, ModelCheck, ProviderAdapter};
use crate::catalogue::ModelRow;
use crate::config::{ApiKey, Limits};
use crate::exchange::{DecoderFactory, Outgoing, exchange, fetch};
use crate::names::NameMap;
use crate::report::ConversionReport;
use crate::transport::Transport;

/// The vendor's own address.
pub(crate) const BASE_URL: &str = "https://api.anthropic.com";
const VERSION: &str = "2023-06-01";
/// Pages of the model list that are read, of a thousand models each.
const PAGES: usize = 10;

/// What an adapter is made of.
pub(crate) struct Settings {
    pub id: Arc<str>,
    pub base_url: Url,
    pub key: Option<ApiKey>,
    pub version: Option<String>,
    pub limits: Limits,
    pub transport: Transport,
}

/// Speaks to one server.
pub(crate) struct Anthropic {
    settings: Settings,
    headers: HeaderMap,
}

impl Anthropic {
    /// Fails when the key or the version cannot stand in a header.
    pub fn new(settings: Settings) -> Result<Self> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let version = settings.version.as_deref().unwrap_or(VERSION);
        let version = HeaderValue::from_str(version).map_err(|_| {
            AirError::new(
                codes::CONFIG_INVALID,
                format!("providers.{}.version is not a version", settings.id),
            )
        })?;
        headers.insert(HeaderName::from_static("anthropic-version"), version);
        if let Some(key) = &settings.key {
            let mut value = HeaderValue::from_str(key.expose()).map_err(|_| {
                AirError::new(
                    codes::PROVIDER_AUTH,
                    format!("the key of {} has characters that no key has", settings.id),
                )
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static("x-api-key"), value);
        }
        Ok(Self { settings, headers })
    }

    fn outgoing(&self, path: &str, body: Vec<u8>) -> Result<Outgoing> {
        let settings = &self.settings;
        Ok(Outgoing {
            provider: Arc::clone(&settings.id),
            client: settings.transport.client(&settings.base_url)?,
            url: endpoint(&settings.base_url, path),
            headers: self.headers.clone(),
            body: Bytes::from(body),
            limits: settings.limits,
            key: settings.key.clone(),
        })
    }

    fn decoders(&self, names: NameMap) -> DecoderFactory {
        let (id, key, names) = (Arc::clone(&self.settings.id), self.settings.key.clone(), Arc::new(names));
        Arc::new(move || Box::new(Decoder::new(Arc::clone(&id), key.clone(), Arc::clone(&names))))
    }

    async fn get<T: for<'de> Deserialize<'de>>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<T, ProviderError> {
        let wrap = |error: AirError| ProviderError { error, retry_after_ms: None, partial: false };
        let mut outgoing = self.outgoing(path, Vec::new()).map_err(wrap)?;
        if !query.is_empty() {
            outgoing.url.query_pairs_mut().extend_pairs(query);
        }
        parse(&self.settings.id, &fetch(&outgoing, true).await?)
    }
}

/// Puts a path behind the base, which may or may not end in `/v1`.
fn endpoint(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let stem = base.path().trim_end_matches('/');
    let stem = stem.strip_suffix("/v1").unwrap_or(stem);
    let full = format!("{stem}/v1/{path}");
    url.set_path(&full);
    url
}

fn parse<T: for<'de> Deserialize<'de>>(provider: &str, body: &[u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(body).map_err(|error| crate::failure::malformed(provider, &error.to_string()))
}

#[derive(Deserialize)]
struct ModelPage {
    data: Vec<ModelEntry>,
    #[serde(default)]
    has_more: bool,
    last_id: Option<String>,
}

#[derive(Deserialize)]
struct ModelEntry {
    id: String,
    display_name: Option<String>,
    max_input_tokens: Option<u32>,
    max_tokens: Option<u32>,
}

#[derive(Deserialize)]
struct TokenCount {
    input_tokens: u64,
}

impl ProviderAdapter for Anthropic {
    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ListedModel>>> {
        Box::pin(async move {
            let mut models = Vec::new();
            let mut after: Option<String> = None;
            for _ in 0..PAGES {
                let mut query = vec![("limit", "1000")];
                query.extend(after.as_deref().map(|id| ("after_id", id)));
                let page: ModelPage = self.get("models", &query).await.map_err(|error| error.error)?;
                models.extend(page.data.into_iter().map(|entry| ListedModel {
                    id: entry.id,
                    display_name: entry.display_name,
                    context_window: entry.max_input_tokens,
                    max_output_tokens: entry.max_tokens,
                }));
                after = page.last_id.filter(|_| page.has_more);
                if after.is_none() {
                    break;
                }
            }
            Ok(models)
        })
    }

    fn validate_model<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelCheck>> {
        Box::pin(async move {
            let listed = self.list_models().await?;
            let found =
                listed.iter().any(|entry| entry.id == model || entry.id.starts_with(&format!("{model}-20")));
            Ok(if found { ModelCheck::Available } else { ModelCheck::Missing })
        })
    }

    fn complete(&self, request: &ModelRequest, row: &ModelRow) -> BoxStream<'static, ProviderStreamEvent> {
        let prepare = || {
            let Built { json, names, report } = build(request, row, Purpose::Complete)?;
            report.log(&request.model);
            Ok((self.outgoing("messages", json)?, self.decoders(names)))
        };
        match prepare() {
            Ok((outgoing, decoders)) => exchange(outgoing, decoders),
            Err(error) => crate::manager::failed(error),
        }
    }

    fn count_tokens<'a>(
        &'a self,
        request: &'a ModelRequest,
        row: &'a ModelRow,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            let built = build(request, row, Purpose::CountTokens)?;
            let outgoing = self.outgoing("messages/count_tokens", built.json)?;
            let counted = async { parse::<TokenCount>(&self.settings.id, &fetch(&outgoing, false).await?) };
            counted.await.map(|count| count.input_tokens).map_err(|error| error.error)
        })
    }

    fn preview(&self, request: &ModelRequest, row: &ModelRow) -> Result<(Vec<u8>, ConversionReport)> {
        build(request, row, Purpose::Complete).map(|built| (built.json, built.report))
    }
}
