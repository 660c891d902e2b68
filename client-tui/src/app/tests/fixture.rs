//! A session as a daemon tells it.

use air_contracts::Timestamp;
use air_contracts::api::{Changes, InitializeResult, ProjectView, ProjectionChanged};
use air_contracts::projection::{EvidenceView, ProjectionChange, ProjectionSnapshot, ToolRunView};
use serde_json::{Value, json};

/// An id of a kind with a number.
pub fn id(kind: &str, n: u32) -> String {
    format!("{kind}_00000000-0000-0000-0000-{n:012}")
}

pub fn at(time: &str) -> Timestamp {
    stamp(time).parse().unwrap()
}

fn stamp(time: &str) -> String {
    format!("2026-11-30T{time}.000Z")
}

pub fn server(instance: u32) -> InitializeResult {
    let value = json!({
        "server": { "name": "aird", "version": "0.1.0", "pid": 4121 },
        "protocol_version": 1, "instance_id": id("instance", instance),
    });
    serde_json::from_value(value).unwrap()
}

pub fn project() -> ProjectView {
    let value = json!({
        "id": id("project", 1), "name": "stats", "root": "/src/stats", "trusted": true,
        "profile": air_contracts::project::ProjectProfile::default(),
        "verify": [], "created": false, "rules": [], "warnings": [],
    });
    serde_json::from_value(value).unwrap()
}

pub fn session(state: &str, open: &[&str]) -> Value {
    json!({
        "id": id("session", 3), "ref": "s3", "title": "Fix the percentiles", "state": state,
        "project": id("project", 1), "settings": {}, "turns": 2, "cost_usd": 0.02,
        "created_at": stamp("20:13:00"), "updated_at": stamp("20:14:00"), "open_approvals": open,
    })
}

pub fn turn(n: u32, status: &str, text: &str) -> Value {
    json!({
        "id": id("turn", n), "ref": format!("t{n}"), "session_id": id("session", 3), "status": status,
        "text": text, "answer": null, "error": null, "blockers": [],
        "submitted_at": stamp("20:14:00"), "ended_at": null,
    })
}

pub fn item(seq: u64, body: Value) -> Value {
    json!({ "seq": seq, "turn_id": id("turn", 12), "task": null, "at": stamp("20:14:00"), "body": body })
}

pub fn user(seq: u64, text: &str) -> Value {
    item(seq, json!({ "kind": "user_message", "id": id("message", 1), "text": text }))
}

pub fn assistant(seq: u64, n: u32, text: &str) -> Value {
    item(seq, json!({ "kind": "assistant_message", "id": id("message", n), "text": text, "thinking": "" }))
}

/// A run; `more` is laid over its fields.
pub fn run(n: u32, tool: &str, title: &str, more: Value) -> Value {
    let mut run = json!({
        "id": id("run", n), "ref": format!("r{n}"), "turn_id": id("turn", 12), "task": "k1", "agent": "w1",
        "tool": tool, "title": title, "decision": "allow", "status": "ok", "summary": "", "exit_code": null,
        "started_at": stamp("20:14:05"), "duration_ms": 40, "written": [], "artifacts": [], "error": null,
        "reconciled": "", "content": "",
    });
    for (key, value) in more.as_object().unwrap() {
        run[key] = value.clone();
    }
    run
}

pub fn run_item(seq: u64, run: &Value) -> Value {
    item(seq, json!({ "kind": "tool_run", "run": run }))
}

pub fn run_view(run: &Value) -> ToolRunView {
    serde_json::from_value(run.clone()).unwrap()
}

pub fn task(n: u32, title: &str, status: &str, more: Value) -> Value {
    let criterion = |text: &str, state: &str| json!({ "text": text, "state": state });
    let state = if status == "completed" { "proved" } else { "unproved" };
    let mut task = json!({
        "id": id("task", n), "ref": format!("k{n}"), "session_id": id("session", 3), "turn_id": id("turn", 12),
        "type": "implement", "title": title, "status": status, "reason": "", "summary": "", "wave": n,
        "after": [], "attempts": [{ "id": id("attempt", n), "n": 1, "status": "running" }],
        "criteria": [criterion("builds without warnings", state), criterion("all tests pass", state),
                     criterion("only src/percentile.cpp changed", state)],
        "changed_files": [], "foreign_files": [], "blocker": null,
        "created_at": stamp("20:14:00"), "updated_at": stamp("20:14:00"),
    });
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

pub fn agent(n: u32, role: &str, task: &str, more: Value) -> Value {
    let mut agent = json!({
        "id": id("agent", n), "ref": format!("w{n}"), "session_id": id("session", 3), "role": role,
        "state": "running", "task": task, "model": "anthropic/claude-sonnet-4-5", "context_used": 62_000,
        "context_limit": 200_000, "cost_usd": 0.02, "rss_bytes": 6_291_456, "since": stamp("20:14:02"),
        "waiting": null,
    });
    for (key, value) in more.as_object().unwrap() {
        agent[key] = value.clone();
    }
    agent
}

pub fn approval(n: u32) -> Value {
    json!({
        "id": id("approval", n), "ref": format!("a{n}"), "session_id": id("session", 3), "session": "s3",
        "turn_id": id("turn", 12), "task": "k2", "state": "open", "asked_at": stamp("20:13:33"), "answer": null,
        "subject": { "kind": "tool_call", "tool": "shell.run",
            "input": { "command": "curl -fsSLO https://example.org/eigen-3.4.0.tar.gz" },
            "effects": [{ "kind": "network", "target": "example.org:443" },
                        { "kind": "write", "target": "./eigen-3.4.0.tar.gz" }],
            "reason": "k2 needs Eigen headers; none found by CMake",
            "scopes": [{ "scope": "once", "covers": "this command, byte for byte", "key": "" },
                       { "scope": "session", "covers": "curl to example.org:443; new files inside the project", "key": "k" },
                       { "scope": "project", "covers": "the same, kept: air permissions list shows it", "key": "k" }] },
    })
}

pub fn question(n: u32) -> Value {
    let mut value = approval(n);
    value["subject"] = json!({ "kind": "question", "text": "Is p = 50 of {1,2} 1.5 or 2?",
        "options": ["1.5", "2"], "free_text": true });
    value
}

fn hud() -> Value {
    json!({
        "model": "anthropic/claude-sonnet-4-5", "context_used": 9_310, "context_limit": 200_000,
        "input_tokens": 11_400, "cached_tokens": 8_900, "output_tokens": 900, "cost_usd": 0.02,
        "max_cost_usd": 20.0, "workers": 1, "daemon_version": "0.1.0", "daemon_rss_bytes": 22_020_096,
    })
}

/// A session in the middle of its work.
pub fn working() -> Value {
    let failed = run(
        1,
        "cpp.test",
        "ctest --preset default",
        json!({
            "summary": "1 of 3 failed: stats.percentile", "exit_code": 8, "duration_ms": 2_400,
            "content": "[exit 8]\npercentile_test.cpp:11  stats::median({4, 1, 3, 2}) is 3, expected 2.5\n",
        }),
    );
    let read = run(2, "fs.read", "src/percentile.cpp  include/stats/percentile.hpp", json!({}));
    let edit = run(3, "fs.edit", "src/percentile.cpp", json!({ "summary": "src/percentile.cpp: 1 place" }));
    let build = run(
        4,
        "cpp.build",
        "cmake --build --preset default -j2",
        json!({
            "status": null, "duration_ms": null, "started_at": stamp("20:14:11"),
        }),
    );
    json!({
        "seq": 40, "session": session("working", &[]),
        "turns": [turn(12, "running", "why does stats.percentile fail? fix it")],
        "items": [
            user(1, "why does stats.percentile fail? fix it"),
            assistant(5, 5, "The header asks for interpolation over n - 1. I run the tests first, then look at the rank."),
            run_item(10, &failed), run_item(14, &read), run_item(18, &edit), run_item(22, &build),
        ],
        "tasks": [task(1, "Fix the rank in percentile()", "running", json!({}))],
        "agents": [agent(1, "executor", "k1", json!({}))],
        "approvals": [], "hud": hud(),
    })
}

/// With a finished task, a second one, and a question.
pub fn busy() -> Value {
    let mut value = working();
    value["session"] = session("waiting_for_you", &["a7"]);
    value["approvals"] = json!([approval(7)]);
    value["tasks"] = json!([
        task(1, "Fix the rank", "completed", json!({ "changed_files": [{ "path": "src/percentile.cpp" }] })),
        task(2, "Say it in the header", "running", json!({ "after": ["k1"] })),
    ]);
    value["agents"] = json!([
        agent(1, "executor", "k2", json!({})),
        agent(
            2,
            "reviewer",
            "k2",
            json!({ "context_used": 8_000,
            "waiting": { "reason": "rate limit", "until": stamp("21:40:00") } })
        ),
    ]);
    let items = value["items"].as_array_mut().unwrap();
    for (n, (seq, criterion)) in
        [(24, "builds without warnings"), (26, "all tests pass")].into_iter().enumerate()
    {
        let evidence = self::evidence(4 + u32::try_from(n).unwrap(), criterion, false);
        items.push(item(seq, json!({ "kind": "evidence", "evidence": evidence })));
    }
    value
}

pub fn evidence(n: u32, criterion: &str, stale: bool) -> Value {
    json!({
        "id": id("evidence", n), "ref": format!("e{n}"), "task": "k1", "criterion": criterion,
        "kind": "check_passed", "stale": stale, "weaker": false, "run": format!("r{n}"), "baseline": "r1",
        "tree": "9f3c1ad2aabbccdd", "command": "ctest --preset default -j2", "exit_code": 0, "artifact": null,
        "note": "3 of 3, before 2 of 3", "recorded_at": stamp("20:14:09"),
    })
}

pub fn evidence_views() -> Vec<EvidenceView> {
    let all = [
        evidence(4, "builds without warnings", false),
        evidence(5, "all tests pass", false),
        evidence(2, "all tests pass", true),
    ];
    all.into_iter().map(|one| serde_json::from_value(one).unwrap()).collect()
}

pub fn changes() -> Changes {
    let patch = "diff --git a/src/percentile.cpp b/src/percentile.cpp\nindex 1..2 100644\n--- a/src/percentile.cpp\n+++ b/src/percentile.cpp\n@@ -17,4 +17,4 @@ double percentile(std::vector<double> values, double p)\n     std::sort(values.begin(), values.end());\n     const double last = static_cast<double>(values.size() - 1);\n-    const double rank = std::min(p / 100.0 * static_cast<double>(values.size()), last);\n+    const double rank = p / 100.0 * last;\n     const auto below = static_cast<std::size_t>(std::floor(rank));\ndiff --git a/notes.txt b/notes.txt\nnew file mode 100644\n--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1 @@\n+\x1b[2Jsly\n";
    let value = json!({ "from": "", "to": "", "patch": patch, "files": [
        { "path": { "path": "src/percentile.cpp" }, "status": "modified", "added": 1, "removed": 1 },
        { "path": { "path": "notes.txt" }, "status": "added", "added": 1, "removed": 0 },
    ] });
    serde_json::from_value(value).unwrap()
}

pub fn snapshot(value: Value) -> ProjectionSnapshot {
    serde_json::from_value(value).unwrap()
}

/// Changed objects at a place in the log.
pub fn changed(seq: u64, changes: &[(&str, Value)]) -> ProjectionChanged {
    let change = |(kind, object): &(&str, Value)| -> ProjectionChange {
        serde_json::from_value(json!({ "kind": kind, *kind: object })).unwrap()
    };
    let session_id = id("session", 3).parse().unwrap();
    ProjectionChanged { session_id, seq, changes: changes.iter().map(change).collect() }
}

/// A piece of a message.
pub fn delta(n: u32, text: &str) -> crate::rpc::Notification {
    let value = json!({ "session_id": id("session", 3), "turn": id("turn", 12), "item": id("message", n), "text": text });
    crate::rpc::Notification::StreamDelta(serde_json::from_value(value).unwrap())
}

/// A piece of a run's output.
pub fn output(n: u32, text: &str) -> crate::rpc::Notification {
    let value =
        json!({ "session_id": id("session", 3), "turn": id("turn", 12), "run": id("run", n), "text": text });
    crate::rpc::Notification::StreamDelta(serde_json::from_value(value).unwrap())
}
