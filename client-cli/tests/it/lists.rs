//! Lists and results, on a pipe and on a terminal.

use serde_json::{Value, json};

use crate::air::run;
use crate::daemon::{Daemon, Reply, unknown};
use crate::fixtures;
use crate::terminal::Terminal;

fn full() -> Daemon {
    Daemon::start(|method, params, _| match method {
        "session/list" => Reply::Now(fixtures::page(&[fixtures::session("working")])),
        "session/get" => Reply::Now(fixtures::session("working")),
        "task/list" => Reply::Now(fixtures::page(&[fixtures::task("completed", 1)])),
        "task/get" => Reply::Now(fixtures::task("completed", 1)),
        "agent/list" => Reply::Now(fixtures::page(&[json!({
            "id": "agent_00000000-0000-0000-0000-000000000001", "ref": "w3", "session_id": fixtures::SESSION,
            "role": "executor", "state": "running", "task": "k1", "model": "anthropic/claude-sonnet-4-5",
            "context_used": 62_000, "context_limit": 200_000, "cost_usd": 0.11, "rss_bytes": 6_291_456,
            "since": fixtures::AT, "waiting": null,
        })])),
        "approval/list" => Reply::Now(fixtures::page(&[fixtures::approval("open")])),
        "evidence/list" => Reply::Now(fixtures::evidence()),
        "tool_run/list" => {
            let n = if params["run"] == "r1" { 1 } else { 5 };
            let item = fixtures::run_item(1, n, "check.exec", "2 of 3", Some(0));
            Reply::Now(fixtures::page(&[item["item"]["body"]["run"].clone()]))
        }
        "changes/get" => Reply::Now(fixtures::changes()),
        other => unknown(other),
    })
}

#[test]
fn lists_on_a_pipe_are_tab_separated_with_a_header() {
    let daemon = full();
    let check = |args: &[&str], expected: &str| {
        let ran = run(&daemon, args);
        let found: String = ran.out.lines().map(|line| mask_times(line) + "\n").collect();
        assert_eq!((found.as_str(), ran.code), (expected, Some(0)), "{args:?}: {}", ran.err);
    };
    check(
        &["sessions"],
        "ID\tSTATE\tTITLE\tTURNS\tCOST\tLAST\t\ns3\trunning\tFix the percentiles\t2\t$0.03\tnow\t\n",
    );
    check(
        &["tasks"],
        "ID\tSTATE\tTITLE\tATTEMPTS\tPROVED\tFILES\tWHY\nk1\tdone\tFix the rank in percentile()\t1\t3/3\t1\t\n",
    );
    check(
        &["tasks", "--graph"],
        "WAVE\tTASK\tSTATE\tAFTER\tBY\tFILES\tPROVED\n1\tk1 Fix the rank in percentile()\tdone\t-\tw3\t1\te4 e5 e6\n",
    );
    check(
        &["approvals"],
        "ID\tWAITING\tASKS\tFOR\tSESSION\na7\t<time>\treach the network: curl -O https://example.org/x\tk1\ts3\n",
    );
    check(
        &["agents"],
        "ID\tROLE\tSTATE\tTASK\tMODEL\tCONTEXT\tCOST\tRSS\tSINCE\n\
         w3\texecutor\trunning\tk1\tanthropic/claude-sonnet-4-5\t31 %\t$0.11\t6.0 MB\t<time>\n",
    );
}

/// Ages depend on the clock.
fn mask_times(line: &str) -> String {
    let is_age = |cell: &str| {
        let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
        (number.parse::<u64>().is_ok() && ["s", "m", "h", "d"].contains(&unit))
            || (cell.contains(':') && cell.chars().all(|c| c.is_ascii_digit() || c == ':'))
    };
    line.split('\t').map(|cell| if is_age(cell) { "<time>" } else { cell }).collect::<Vec<_>>().join("\t")
}

#[test]
fn json_lists_have_items_and_next_and_jsonl_one_object_a_line() {
    let daemon = full();
    let ran = run(&daemon, &["sessions", "--output", "json"]);
    let object: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&object["items"][0]["ref"], &object["next"]), (&json!("s3"), &Value::Null));
    for field in
        ["id", "ref", "title", "state", "project", "turns", "cost_usd", "updated_at", "open_approvals"]
    {
        assert!(object["items"][0].get(field).is_some(), "{field}");
    }
    let ran = run(&daemon, &["tasks", "--output", "jsonl"]);
    let task: Value = serde_json::from_str(ran.out.trim()).unwrap();
    assert_eq!((&task["ref"], &task["status"]), (&json!("k1"), &json!("completed")));
}

#[test]
fn evidence_names_the_runs_behind_it() {
    let ran = run(&full(), &["evidence", "k1"]);
    let expected = "\
✓ e5  all tests pass
      ran     check.exec r5: cmake --build build && ctest --test-dir build · exit 0 · 2.4 s · ok
      tree    9f3c1ad2, after the last write
      before  r1, same command: 2 of 3
";
    assert!(ran.out.contains(expected), "{}", ran.out);
    assert!(ran.out.starts_with("k1  Fix the rank in percentile()"), "{}", ran.out);
    assert!(ran.out.lines().next().unwrap().ends_with("done · 3 of 3 fresh"), "{}", ran.out);
}

#[test]
fn a_diff_on_a_pipe_is_the_patch_itself() {
    let daemon = full();
    let patch = fixtures::changes()["patch"].as_str().unwrap().to_owned();
    assert_eq!(run(&daemon, &["diff"]).out, patch);
    assert_eq!(run(&daemon, &["diff", "--stat"]).out, "src/percentile.cpp  +1 -1\n");
    run(&daemon, &["diff", "--task", "k1", "src"]);
    let params = daemon.calls("changes/get").pop().unwrap();
    assert_eq!(
        (&params["task"], &params["session"], &params["paths"]),
        (&json!("k1"), &Value::Null, &json!(["src"]))
    );
}

#[test]
fn a_terminal_gets_columns_and_symbols() {
    let daemon = full();
    let mut terminal = Terminal::start(&daemon, &["sessions"]);
    assert_eq!(terminal.end(), Some(0));
    terminal.wait_for("now");
    let text = terminal.text().replace('\r', "");
    assert!(text.contains("ID  STATE      TITLE                TURNS   COST  LAST\n"), "{text}");
    assert!(text.contains("s3  ▸ running  Fix the percentiles      2  $0.03  now"), "{text}");
}
