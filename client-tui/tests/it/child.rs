//! This test binary again, as the program on the other side of a pseudoterminal.

use std::sync::Arc;

use air_client_tui::attach::{AttachOptions, ConnectFuture, Connector, Programs};
use air_client_tui::rpc::{FakeClient, ProjectionClient};
use air_contracts::api::{
    ClientRole, ProjectOpen, ProjectionSnapshotMethod, ProjectionSubscribe, SubscribeResult, TurnInterrupt,
};
use serde_json::{Value, json};

/// Set for the child.
pub const MARK: &str = "AIR_TUI_PTY_CHILD";

struct Fake;

impl Connector for Fake {
    fn connect(&self, _: ClientRole) -> ConnectFuture<'_> {
        Box::pin(async { Ok(Arc::new(daemon()) as Arc<dyn ProjectionClient>) })
    }
}

impl Programs for Fake {
    fn edit(&self, text: &str) -> air_contracts::Result<String> {
        Ok(format!("{text} edited"))
    }

    fn page(&self, _: &str) -> air_contracts::Result<()> {
        Ok(())
    }
}

fn id(kind: &str) -> String {
    format!("{kind}_00000000-0000-0000-0000-000000000001")
}

fn of<T: serde::de::DeserializeOwned>(value: Value) -> air_contracts::Result<T> {
    Ok(serde_json::from_value(value).unwrap())
}

fn daemon() -> FakeClient {
    FakeClient::new()
        .on::<ProjectOpen>(|_| {
            of(json!({ "id": id("project"), "name": "stats", "root": "/", "trusted": true, "created": false,
                "profile": { "languages": [], "build_systems": [], "layout": [] },
                "verify": [], "rules": [], "warnings": [] }))
        })
        .on::<ProjectionSnapshotMethod>(|_| of(snapshot()))
        .on::<ProjectionSubscribe>(|params| Ok(SubscribeResult { seq: params.after_seq }))
        .on::<TurnInterrupt>(|_| panic!("boom"))
}

fn snapshot() -> Value {
    let at = "2026-11-30T20:14:00.000Z";
    let text = "the median is 2.5 \u{1b}[2J\u{1b}]0;sly\u{7}";
    json!({
        "seq": 9,
        "session": { "id": id("session"), "ref": "s3", "title": "Fix the percentiles", "state": "working",
            "project": id("project"), "settings": {}, "turns": 1, "cost_usd": 0.0, "created_at": at,
            "updated_at": at, "open_approvals": [] },
        "turns": [{ "id": id("turn"), "ref": "t1", "session_id": id("session"), "status": "running", "text": "why",
            "answer": null, "error": null, "blockers": [], "submitted_at": at, "ended_at": null }],
        "items": [{ "seq": 4, "turn_id": id("turn"), "task": null, "at": at,
            "body": { "kind": "assistant_message", "id": id("message"), "text": text, "thinking": "" } }],
        "tasks": [], "agents": [], "approvals": [],
        "hud": { "model": "scripted", "context_used": 0, "context_limit": 0, "input_tokens": 0, "cached_tokens": 0,
            "output_tokens": 0, "cost_usd": 0.0, "max_cost_usd": null, "workers": 0, "daemon_version": "0.1.0",
            "daemon_rss_bytes": 0 },
    })
}

/// Not a test: what `pty::Terminal::start` runs.
#[test]
#[ignore = "started by the tests of this binary"]
fn attached() {
    if std::env::var_os(MARK).is_none() {
        return;
    }
    let options = AttachOptions {
        connector: Arc::new(Fake),
        programs: Arc::new(Fake),
        folder: "/src/stats".into(),
        session: None,
        observer: false,
        plain: false,
        colour: true,
        ascii: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(air_client_tui::run_attach(options));
    println!("ended: {result:?}");
}
