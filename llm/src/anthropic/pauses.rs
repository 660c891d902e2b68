//! The answers with long pauses, on a paused clock.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use air_contracts::provider::{CompletionFold, ProviderStreamEvent};
use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;

use super::{Anthropic, Settings};
use crate::config::{ProviderConfig, ProviderKind};
use crate::exchange::tests::play;
use crate::names::NameMap;
use crate::transport::Transport;

fn cases() -> Vec<Value> {
    let folder = std::env::var_os("AIR_CASES_DIR").map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases")));
    let text = std::fs::read_to_string(folder.join("streaming.jsonl")).unwrap();
    let pauses = |case: &Value| {
        let chunks = case["chunks"].as_array();
        chunks.is_some_and(|chunks| chunks.iter().any(|chunk| chunk["pause_ms"].is_u64()))
    };
    let all = text.lines().map(|line| serde_json::from_str(line).unwrap());
    all.filter(|case: &Value| case["dialect"] == "anthropic" && pauses(case)).collect()
}

async fn events(case: &Value) -> Vec<ProviderStreamEvent> {
    let mut config = ProviderConfig::new(ProviderKind::Anthropic);
    config.max_retries = Some(0);
    let settings = Settings {
        id: Arc::from("anthropic"),
        base_url: Url::parse("http://127.0.0.1:9").unwrap(),
        key: None,
        version: None,
        limits: config.limits(),
        transport: Transport::default(),
    };
    let adapter = Anthropic::new(settings).unwrap();
    let outgoing = adapter.outgoing("messages", Vec::new()).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    let chunks = case["chunks"].as_array().unwrap().clone();
    let body = futures_util::stream::iter(chunks).filter_map(|chunk| async move {
        if let Some(ms) = chunk["pause_ms"].as_u64() {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            return None;
        }
        Some(Ok(Bytes::from(chunk.as_str().unwrap().to_owned())))
    });
    play(outgoing, adapter.decoders(NameMap::default()), 200, &headers, Box::pin(body)).await
}

#[tokio::test(start_paused = true)]
async fn pings_keep_an_answer_alive_and_silence_ends_it() {
    let cases = cases();
    assert!(cases.len() >= 2);
    for case in cases {
        let mut fold = CompletionFold::default();
        for event in events(&case).await {
            fold.push(&event);
        }
        let expected = case["expect"]["events"].as_array().unwrap();
        let last = expected.last().unwrap();
        match fold.finish() {
            Ok(whole) => assert_eq!(whole.message.plain_text(), expected[0]["text"], "{}", case["id"]),
            Err(error) => {
                let kind = error.error.code.trim_start_matches("provider.");
                assert_eq!(
                    (kind, error.error.retryable),
                    (last["kind"].as_str().unwrap(), true),
                    "{}",
                    case["id"]
                );
            }
        }
    }
}
