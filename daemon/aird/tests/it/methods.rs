//! Methods, over the wire.

use serde_json::{Value, json};

use crate::env::{Client, Home};

struct Fixture {
    home: Home,
    client: Client,
    project: Value,
}

impl Fixture {
    async fn new(config: &str) -> Self {
        let mut home = Home::new();
        std::fs::create_dir_all(home.air_home()).unwrap();
        std::fs::write(home.air_home().join("config.yaml"), config).unwrap();
        home.start();
        let mut client = home.client().await;
        let project = client.ok("project/open", json!({ "path": home.project() })).await["id"].clone();
        Self { home, client, project }
    }

    /// Parameters with the project in them.
    fn params(&self, more: Value) -> Value {
        let mut params = json!({ "project_id": self.project });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    }

    async fn ok(&mut self, method: &str, more: Value) -> Value {
        let params = self.params(more);
        self.client.ok(method, params).await
    }

    async fn code(&mut self, method: &str, more: Value) -> String {
        let params = self.params(more);
        self.client.code(method, params).await
    }
}

const LOCAL: &str = "providers: { here: { kind: anthropic, base_url: 'http://127.0.0.1:9/' } }\nmodels: { default: here/a }\n";

#[tokio::test]
async fn projects_are_opened_once_trusted_and_closed() {
    let mut air = Fixture::new("").await;
    let root = air.home.project().canonicalize().unwrap();
    let inside = root.join("src");
    std::fs::create_dir_all(&inside).unwrap();
    let again = air.client.ok("project/open", json!({ "path": inside })).await;
    assert_eq!(
        (&again["id"], &again["root"], &again["created"]),
        (&air.project, &json!(root), &json!(false))
    );
    assert_eq!(air.client.code("project/open", json!({ "path": "src" })).await, "rpc.invalid_params");
    assert_eq!(air.client.code("project/open", json!({ "path": "/" })).await, "project.root_refused");
    assert_eq!(air.ok("project/trust", json!({ "trusted": true })).await["trusted"], true);
    air.ok("project/close", json!({})).await;
    let listed = air.client.ok("project/list", json!({})).await;
    assert_eq!(
        (&listed["items"][0]["id"], &listed["items"][0]["trusted"]),
        (&air.project, &json!(true)),
        "{listed}"
    );
    assert_eq!(air.client.ok("daemon/status", json!({})).await["projects"], 0);
    air.ok("session/create", json!({})).await;
    let other = json!({ "project_id": format!("project_{}", uuid::Uuid::nil()) });
    for method in ["project/close", "task/list"] {
        assert_eq!(air.client.code(method, other.clone()).await, "project.not_found", "{method}");
    }
}

#[tokio::test]
async fn sessions_drafts_and_the_state_of_a_screen_are_kept() {
    let mut air = Fixture::new(LOCAL).await;
    let session = air.ok("session/create", json!({ "settings": { "title": "first" } })).await;
    assert_eq!((&session["ref"], &session["state"]), (&json!("s1"), &json!("new")));
    air.ok("draft/set", json!({ "session": "s1", "text": "half a thou" })).await;
    assert_eq!(air.ok("draft/get", json!({ "session": "latest" })).await["text"], "half a thou");
    air.ok("ui_state/set", json!({ "key": "panes", "value": { "left": 30 } })).await;
    assert_eq!(air.ok("ui_state/get", json!({ "key": "panes" })).await["value"]["left"], 30);
    let big = "x".repeat(70_000);
    assert_eq!(air.code("ui_state/set", json!({ "key": "panes", "value": big })).await, "rpc.invalid_params");
    let set = json!({ "session": "s1", "approve": "safe", "limits": { "max_cost_usd": 1.5 } });
    let settings = air.ok("session/configure", set).await["settings"].clone();
    assert_eq!((&settings["title"], &settings["approve"]), (&json!("first"), &json!("safe")));
    assert_eq!(
        air.code("session/configure", json!({ "session": "s1", "model": "moon/x" })).await,
        "model.not_found"
    );
    assert_eq!(air.code("session/get", json!({ "session": "s9" })).await, "session.not_found");
    assert_eq!(air.code("session/get", json!({ "session": "t1" })).await, "id.wrong_kind");
    assert_eq!(air.ok("session/list", json!({})).await["items"].as_array().unwrap().len(), 1);
    let snapshot = air.ok("projection/snapshot", json!({ "session": "s1" })).await;
    assert!(snapshot["hud"]["daemon_rss_bytes"].as_u64().unwrap() > 1_000_000, "{snapshot}");
    for (method, more) in [
        ("turn/list", json!({ "session": "s1" })),
        ("item/list", json!({ "session": "s1" })),
        ("tool_run/list", json!({ "session": "s1" })),
        ("task/list", json!({})),
        ("agent/list", json!({})),
        ("approval/list", json!({})),
        ("evidence/list", json!({})),
    ] {
        assert_eq!(air.ok(method, more).await["items"], json!([]), "{method}");
    }
    assert_eq!(air.ok("context/get", json!({})).await["requests"], json!([]));
    assert_eq!(air.ok("usage/get", json!({ "session": "s1" })).await["total"]["requests"], 0);
    air.ok("session/close", json!({ "session": "s1" })).await;
}

#[tokio::test]
async fn events_are_read_waited_for_and_followed() {
    let mut air = Fixture::new("").await;
    let first = air.ok("events/read", json!({})).await;
    let types: Vec<&str> =
        first["events"].as_array().unwrap().iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(types, ["workspace.created", "runtime.started"]);
    let after = first["seq"].clone();
    let mut other = air.home.client().await;
    let waits = air.params(json!({ "after_seq": after, "wait_ms": 30_000, "types": ["session.created"] }));
    let created = air.params(json!({}));
    let (read, _) = tokio::join!(air.client.ok("events/read", waits), other.ok("session/create", created));
    assert_eq!(read["events"][0]["type"], "session.created");
    other.ok("events/follow", air.params(json!({ "after_seq": after }))).await;
    let appended = other.next().await.unwrap();
    assert_eq!(appended["params"]["events"][0]["seq"], after.as_u64().unwrap() + 1, "{appended}");
}

#[tokio::test]
async fn configuration_is_shown_without_secrets_and_read_anew() {
    let secret = "providers: { here: { kind: anthropic, base_url: 'http://u:pw@127.0.0.1:9/', api_key: sk-1 } }\nmoon: 1\n";
    let mut air = Fixture::new(secret).await;
    let path = json!({ "path": air.home.project() });
    let shown = air.client.ok("config/get", path.clone()).await;
    assert!(!shown.to_string().contains("sk-1") && !shown.to_string().contains("pw"), "{shown}");
    assert!(shown["warnings"].to_string().contains("moon"), "{shown}");
    std::fs::write(air.home.air_home().join("config.yaml"), "models: [").unwrap();
    let broken = air.client.ok("config/get", path.clone()).await;
    assert_eq!(broken["config"], shown["config"]);
    assert!(broken["warnings"].to_string().contains("config.yaml"), "{broken}");
    std::fs::write(air.home.air_home().join("config.yaml"), LOCAL).unwrap();
    assert_eq!(air.client.ok("config/get", path).await["config"]["models"]["default"], "here/a");
    let providers = air.client.ok("provider/list", json!({})).await;
    assert_eq!(providers["items"][0]["models"][0], "a", "{providers}");
}

#[tokio::test]
async fn the_doctor_names_what_is_missing() {
    let mut air = Fixture::new("").await;
    let path = json!({ "path": air.home.project() });
    let check = |report: &Value, name: &str| {
        report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    let report = air.client.ok("doctor/run", path.clone()).await;
    assert_eq!(
        (&report["ok"], &check(&report, "model")["status"]),
        (&json!(false), &json!("broken")),
        "{report}"
    );
    for name in ["daemon", "project", "git", "landlock"] {
        assert!(check(&report, name)["detail"].is_string(), "{name}: {report}");
    }
    std::fs::write(air.home.air_home().join("config.yaml"), LOCAL).unwrap();
    let report = air.client.ok("doctor/run", path).await;
    assert_eq!(check(&report, "model")["status"], "ok", "{report}");
    let tools = air.client.ok("tool/list", json!({})).await;
    let names: Vec<&str> =
        tools["items"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["fs.read", "shell.run", "task.create", "task.finish", "user.ask"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
}

#[tokio::test]
async fn a_turn_without_a_model_ends_with_the_reason() {
    let mut air = Fixture::new("").await;
    let submit = json!({ "session": "new", "client_id": "c1", "text": "hello" });
    let submitted = air.ok("turn/submit", submit.clone()).await;
    assert_eq!(air.ok("turn/submit", submit).await["turn_id"], submitted["turn_id"]);
    let outcome = air.ok("turn/wait", json!({ "turn": "latest", "timeout_ms": 30_000 })).await;
    assert_eq!(outcome["status"], "failed", "{outcome}");
    assert!(outcome["error"]["code"].as_str().unwrap().starts_with("provider."), "{outcome}");
    assert_eq!(air.code("turn/cancel", json!({ "turn": "t1" })).await, "turn.not_active");
    assert_eq!(air.code("turn/submit", json!({ "session": "new", "text": " " })).await, "turn.empty");
}
