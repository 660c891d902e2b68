//! Configuration and the choice of a model.

use std::collections::BTreeMap;

use air_contracts::message::Message;
use air_contracts::task::AgentRole;
use air_llm::{ModelsConfig, ProviderConfig, ProviderManager};
use serde_json::{Value, json};

use crate::server::{Reply, Server};
use crate::{complete, request};

fn manager(providers: Value, models: Value, env: &[(&str, &str)]) -> air_contracts::Result<ProviderManager> {
    let providers: BTreeMap<String, ProviderConfig> = serde_json::from_value(providers).unwrap();
    let models: ModelsConfig = serde_json::from_value(models).unwrap();
    let read =
        |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    ProviderManager::new(providers, models, &read)
}

fn two() -> Value {
    json!({
        "anthropic": {"kind": "anthropic"},
        "local": {"kind": "anthropic", "base_url": "http://127.0.0.1:9", "models": {"tiny": {"context_window": 4096}}},
        "other": {"kind": "openai_compatible", "base_url": "http://127.0.0.1:9/v1"},
    })
}

#[test]
fn a_role_gets_the_wanted_model_then_its_own_then_the_default() {
    let models = json!({"default": "anthropic/claude-opus-5-5", "roles": {"compactor": "local/tiny"}});
    let manager = manager(two(), models, &[("ANTHROPIC_API_KEY", "k")]).unwrap();
    let check = |role: AgentRole, wanted: Option<&str>, model: &str| {
        assert_eq!(manager.select(role, wanted).unwrap().matrix.model, model);
    };
    check(AgentRole::Executor, None, "anthropic/claude-opus-5-5");
    check(AgentRole::Compactor, None, "local/tiny");
    check(AgentRole::Compactor, Some("anthropic/claude-x"), "anthropic/claude-x");
    check(AgentRole::Main, Some("claude-haiku-4-5"), "anthropic/claude-haiku-4-5");
    check(AgentRole::Main, Some("tiny"), "local/tiny");
    assert_eq!(manager.select(AgentRole::Compactor, None).unwrap().matrix.context_window, 4096);
}

#[test]
fn what_cannot_be_selected_says_why() {
    let check = |providers: Value, env: &[(&str, &str)], wanted: Option<&str>, code: &str, part: &str| {
        let error = manager(providers, json!({}), env).unwrap().select(AgentRole::Main, wanted).unwrap_err();
        let said = format!("{} {}", error.message, error.hints.join(" "));
        assert!(error.is(code) && said.contains(part), "{} {said}", error.code);
    };
    let key = [("ANTHROPIC_API_KEY", "k")];
    check(json!({}), &[], None, "provider.none_configured", "ANTHROPIC_API_KEY");
    check(two(), &[], None, "provider.auth", "ANTHROPIC_API_KEY is not set");
    check(two(), &key, Some("nobody/m"), "model.not_found", "local");
    check(two(), &key, Some("other/m"), "provider.unsupported", "openai_compatible");
    let elsewhere = json!({"far": {"kind": "anthropic", "base_url": "https://models.example"}});
    check(elsewhere, &key, None, "provider.auth", "far has no key");
    let error =
        manager(json!({"a": {"kind": "anthropic", "base_url": "ftp://x"}}), json!({}), &[]).unwrap_err();
    assert!(error.is("config.invalid"));
}

#[test]
fn the_environment_alone_makes_a_provider() {
    let env = [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://user:pw@127.0.0.1:9/?key=s")];
    let manager = manager(json!({}), json!({}), &env).unwrap();
    let status = &manager.statuses()[0];
    assert_eq!(
        (status.base_url.as_str(), status.key_source.as_str()),
        ("http://127.0.0.1:9", "ANTHROPIC_API_KEY")
    );
    let chosen = manager.select(AgentRole::Executor, None).unwrap();
    assert_eq!(chosen.matrix.model, "anthropic/claude-sonnet-5-5");
    assert_eq!(chosen.matrix.family, "claude");
}

#[test]
fn a_fallback_stands_in_while_a_model_is_failing() {
    let reply = Reply::sized("503 Down", "content-type: text/plain\r\n", "");
    let server = Server::start(vec![reply]);
    let providers = json!({
        "a": {"kind": "anthropic", "base_url": server.url, "max_retries": 0},
        "b": {"kind": "anthropic", "base_url": "http://127.0.0.1:9"},
    });
    let manager = manager(providers, json!({"default": "a/m", "fallback": ["a/m", "b/n"]}), &[]).unwrap();
    assert_eq!(manager.select(AgentRole::Main, None).unwrap().matrix.model, "a/m");
    let mut request = request(vec![Message::user("hi")]);
    request.model = "a/m".into();
    complete(&manager, request);
    let stand_in = manager.select(AgentRole::Main, None).unwrap();
    assert_eq!(stand_in.matrix.model, "b/n");
    assert!(stand_in.reason.contains("a/m is failing"));
    assert_eq!(manager.select(AgentRole::Main, Some("a/m")).unwrap().matrix.model, "a/m");
}
