//! Objects of the API, as a daemon sends them.

use serde_json::{Value, json};

pub const PROJECT: &str = "project_00000000-0000-0000-0000-000000000001";
pub const SESSION: &str = "session_00000000-0000-0000-0000-000000000003";
pub const TURN: &str = "turn_00000000-0000-0000-0000-00000000000c";
pub const TASK: &str = "task_00000000-0000-0000-0000-000000000001";
pub const AT: &str = "2026-11-30T20:14:07.000Z";

fn id(kind: &str, n: u32) -> String {
    format!("{kind}_00000000-0000-0000-0000-{n:012x}")
}

pub fn project() -> Value {
    json!({
        "id": PROJECT, "name": "stats", "root": "/src/stats", "trusted": true,
        "profile": { "languages": ["c++"], "build_systems": ["cmake"], "layout": [] },
        "verify": [], "created": false, "rules": [], "warnings": [],
    })
}

pub fn status() -> Value {
    json!({
        "version": "0.1.0", "pid": std::process::id(), "instance_id": id("instance", 1), "started_at": AT,
        "socket": "/run/air/aird.sock", "air_home": "/home/me/.air", "rss_bytes": 22_020_096, "projects": 2,
        "sessions": 3, "turns_running": 2, "approvals_open": 1, "clients": 4, "workers": 2,
        "started_by": "on demand", "draining": false,
    })
}

pub fn session(state: &str) -> Value {
    json!({
        "id": SESSION, "ref": "s3", "title": "Fix the percentiles", "state": state, "project": PROJECT,
        "settings": {}, "turns": 2, "cost_usd": 0.03, "created_at": AT, "updated_at": AT, "open_approvals": [],
    })
}

pub fn submitted() -> Value {
    json!({ "turn_id": TURN, "turn": "t12", "session_id": SESSION, "session": "s3", "seq": 1841, "queued": false })
}

pub fn snapshot() -> Value {
    json!({
        "seq": 1841, "session": session("working"), "turns": [], "items": [], "tasks": [], "agents": [], "approvals": [],
        "hud": { "model": "anthropic/claude-sonnet-4-5", "context_used": 0, "context_limit": 0, "input_tokens": 0,
                 "cached_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "max_cost_usd": null, "workers": 0,
                 "daemon_version": "0.1.0", "daemon_rss_bytes": 0 },
    })
}

/// A run that ended, as an item.
pub fn run_item(seq: u64, n: u32, tool: &str, summary: &str, exit_code: Option<i32>) -> Value {
    json!({ "kind": "item", "item": {
        "seq": seq, "turn_id": TURN, "task": "k1", "at": AT,
        "body": { "kind": "tool_run", "run": {
            "id": id("run", n), "ref": format!("r{n}"), "turn_id": TURN, "task": "k1", "agent": "w1", "tool": tool,
            "title": summary, "decision": "allow", "status": "ok", "summary": summary, "exit_code": exit_code,
            "started_at": AT, "duration_ms": 2400, "written": [], "artifacts": [], "error": null, "reconciled": "",
            "content": "",
        } },
    } })
}

pub fn changed(changes: &[Value]) -> Value {
    json!({ "session_id": SESSION, "seq": 1850, "changes": changes })
}

pub fn criteria() -> Value {
    json!([
        { "text": "builds without warnings", "state": "proved", "evidence": [id("evidence", 4)], "note": "exit 0, 0 warnings" },
        { "text": "all tests pass", "state": "proved", "evidence": [id("evidence", 5)], "note": "3 of 3, before 2 of 3" },
        { "text": "only src/percentile.cpp changed", "state": "proved", "evidence": [id("evidence", 6)], "note": "1 file" },
    ])
}

/// The outcome of the turn.
pub fn outcome(status: &str) -> Value {
    let with_task = matches!(status, "completed" | "failed" | "blocked" | "waiting");
    let task_status = match status {
        "completed" => "completed",
        "failed" => "failed",
        "blocked" => "blocked",
        _ => "running",
    };
    let task = json!({
        "id": TASK, "ref": "k1", "title": "Fix the rank in percentile()", "status": task_status,
        "criteria": if status == "completed" { criteria() } else { failed_criteria() },
        "changed_files": [{ "path": "src/percentile.cpp" }],
    });
    json!({
        "turn_id": TURN, "turn": "t12", "session_id": SESSION, "session": "s3", "status": status,
        "answer": "The rank was taken from n instead of n - 1.",
        "tasks": if with_task { json!([task]) } else { json!([]) },
        "changed_files": if with_task { json!([{ "path": "src/percentile.cpp" }]) } else { json!([]) },
        "usage": { "role": null, "agent": null, "task": null, "model": "", "requests": 4, "input": 11_400,
                   "cached": 8_900, "output": 900, "cost_usd": 0.03 },
        "blockers": [], "approvals": if status == "waiting" { json!(["a7"]) } else { json!([]) },
        "duration_ms": 31_000, "tree": "9f3c1ad2f00d",
    })
}

fn failed_criteria() -> Value {
    json!([
        { "text": "builds without warnings", "state": "proved", "evidence": [id("evidence", 4)], "note": "exit 0, 0 warnings" },
        { "text": "all tests pass", "state": "failed", "note": "2 of 3" },
        { "text": "only src/percentile.cpp changed", "state": "stale", "evidence": [id("evidence", 6)] },
    ])
}

pub fn evidence() -> Value {
    let one = |n: u32, kind: &str, criterion: &str, command: Value| {
        json!({
            "id": id("evidence", n), "ref": format!("e{n}"), "task": "k1", "criterion": criterion, "kind": kind,
            "stale": false, "weaker": false, "run": "r5", "baseline": "r1", "tree": "9f3c1ad2f00d", "command": command,
            "exit_code": 0, "artifact": null, "note": "ok", "recorded_at": AT,
        })
    };
    json!({ "next": null, "items": [
        one(4, "check_passed", "builds without warnings", json!("cmake --build build -j2")),
        one(5, "check_passed", "all tests pass", json!("cmake --build build && ctest --test-dir build")),
        one(6, "diff", "only src/percentile.cpp changed", Value::Null),
    ] })
}

pub fn task(status: &str, attempts: u32) -> Value {
    let attempts: Vec<Value> = (1..=attempts)
        .map(|n| json!({ "id": id("attempt", n), "n": n, "status": "succeeded", "note": "same failure" }))
        .collect();
    json!({
        "id": TASK, "ref": "k1", "session_id": SESSION, "turn_id": TURN, "type": "implement",
        "title": "Fix the rank in percentile()", "status": status, "reason": "", "summary": "", "wave": 1, "after": [],
        "attempts": attempts, "criteria": criteria(), "changed_files": [{ "path": "src/percentile.cpp" }],
        "foreign_files": [], "blocker": null, "created_at": AT, "updated_at": AT,
    })
}

pub fn changes() -> Value {
    json!({
        "from": "a", "to": "b",
        "files": [{ "path": { "path": "src/percentile.cpp" }, "status": "modified", "added": 1, "removed": 1 }],
        "patch": "diff --git a/src/percentile.cpp b/src/percentile.cpp\n--- a/src/percentile.cpp\n+++ b/src/percentile.cpp\n\
                  @@ -19 +19 @@ double percentile()\n-    old;\n+    new;\n",
    })
}

pub fn approval(state: &str) -> Value {
    let answer = match state {
        "answered" => {
            json!({ "decision": "allow", "scope": "once", "by": "air attach on pts/3", "at": "2026-11-30T20:14:48.000Z" })
        }
        _ => Value::Null,
    };
    json!({
        "id": id("approval", 7), "ref": "a7", "session_id": SESSION, "session": "s3", "turn_id": TURN, "task": "k1",
        "state": state, "asked_at": AT, "answer": answer,
        "subject": { "kind": "tool_call", "tool": "shell.run", "input": { "command": "curl -O https://example.org/x" },
                     "effects": [{ "kind": "network", "target": "example.org:443" }], "reason": "k1 needs x",
                     "scopes": [{ "scope": "once", "covers": "this command, byte for byte", "key": "" }] },
    })
}

pub fn page(items: &[Value]) -> Value {
    json!({ "items": items, "next": null })
}
