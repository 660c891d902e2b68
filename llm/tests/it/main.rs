//! The manager and its adapters against servers that play bytes over real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod behaviour;
mod captures;
mod fold;
mod requests;
mod selection;
mod server;

use std::collections::BTreeMap;
use std::path::PathBuf;

use air_contracts::ids::{RequestId, SessionId};
use air_contracts::message::Message;
use air_contracts::provider::{ModelRequest, ProviderStreamEvent, ToolSpec};
use air_contracts::task::AgentRole;
use air_llm::{ModelsConfig, ProviderConfig, ProviderKind, ProviderManager};
use futures_util::StreamExt;
use serde_json::{Value, json};

const TOOLS: [&str; 4] = ["fs.read", "fs.write", "git.status", "shell.run"];

/// A part of the case folder; `AIR_CASES_DIR` replaces the folder as far as it has the part.
fn case_file(name: &str) -> PathBuf {
    let own = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases")).join(name);
    let other = std::env::var_os("AIR_CASES_DIR").map(|folder| PathBuf::from(folder).join(name));
    other.filter(|path| path.exists()).unwrap_or(own)
}

/// The streaming cases in the dialect that this build speaks.
fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string(case_file("streaming.jsonl")).unwrap();
    let all =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).unwrap());
    all.filter(|case: &Value| case["dialect"] == "anthropic").collect()
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        wire_name: name.replace('.', "_"),
        description: "d".into(),
        input_schema: json!({"type": "object", "properties": {}}),
    }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        request_id: RequestId::from_uuid(uuid::Uuid::nil()),
        session_id: SessionId::from_uuid(uuid::Uuid::nil()),
        model: "anthropic/claude-test".into(),
        role: AgentRole::Executor,
        system: Vec::new(),
        tools: TOOLS.map(tool).to_vec(),
        messages,
        cache_marks: Vec::new(),
        max_output_tokens: 1000,
        effort: None,
    }
}

fn manager_with(base_url: &str, change: impl FnOnce(&mut ProviderConfig)) -> ProviderManager {
    let mut config = ProviderConfig::new(ProviderKind::Anthropic);
    config.base_url = Some(base_url.to_owned());
    config.max_retries = Some(0);
    config.api_key_env = Some("TEST_KEY".into());
    change(&mut config);
    let providers = BTreeMap::from([("anthropic".to_owned(), config)]);
    let env = |name: &str| (name == "TEST_KEY").then(|| "sk-test-secret".to_owned());
    ProviderManager::new(providers, ModelsConfig::default(), &env).unwrap()
}

fn manager(base_url: &str) -> ProviderManager {
    manager_with(base_url, |_| {})
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn complete(manager: &ProviderManager, request: ModelRequest) -> Vec<ProviderStreamEvent> {
    run(manager.complete(&request).collect())
}
