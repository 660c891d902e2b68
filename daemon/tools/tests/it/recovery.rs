//! After a crash: every class of effect is looked at, and each result is delivered once.

use std::time::Duration;

use air_contracts::artifact::Stored;
use air_contracts::event::{EventSource, FileIntent, Intent, NewEvent, SourceKind, ToolStarted};
use air_contracts::ids::{RefKind, ToolRunId};
use air_contracts::path::WirePath;
use air_contracts::permission::{Decision, PermissionDecision, RiskLevel};
use air_contracts::port::ToolExecutor;
use air_contracts::task::AgentRole;
use air_contracts::tool::{EffectClass, ToolResultEnvelope, ToolStatus};
use air_sandbox::{RunFolder, RunState};
use serde_json::{Value, json};

use crate::world::{World, until};

/// Starts a command and takes the daemon away under it.
async fn crash_during(world: &mut World, command: &str) -> RunFolder {
    let call = world.call_with(
        AgentRole::Executor,
        "c",
        "shell.run",
        json!({ "command": command, "timeout_ms": 60_000 }),
    );
    let running = world.start(call);
    let store = world.deps.store.clone();
    let run =
        until("the run begins", || async { store.unfinished_tool_runs().await.unwrap().into_iter().next() })
            .await;
    let path = world.deps.project_dir.join("runs").join(run.started.run_id.to_string());
    let folder = until("the launcher lives", || async {
        let folder = RunFolder::open(&path).ok()?;
        let output = folder.output(100, 100).ok()?;
        (matches!(folder.state(), Ok(RunState::Running(_))) && !output.head.is_empty()).then_some(folder)
    })
    .await;
    world.restart().await;
    running.await.unwrap();
    folder
}

async fn recover(world: &World, call_id: &str) -> ToolResultEnvelope {
    world.service.recover(world.context(AgentRole::Executor), call_id).await.unwrap()
}

async fn reconciled(world: &World, result: &ToolResultEnvelope) -> String {
    world.deps.store.tool_run(result.run_id).await.unwrap().reconciled
}

#[tokio::test]
async fn a_living_command_is_adopted_and_its_result_delivered_once() {
    let mut world = World::new().await;
    crash_during(&mut world, "echo begun | tee -a log; sleep 1; echo done; exit 9").await;
    let result = recover(&world, "c").await;
    assert_eq!((result.status, result.exit_code), (ToolStatus::Ok, Some(9)), "{}", result.content);
    assert!(result.content.contains("begun\ndone"), "{}", result.content);
    assert_eq!(reconciled(&world, &result).await, "adopted");
    let again = recover(&world, "c").await;
    assert_eq!(again.content, result.content);
    let called = world.call_with(AgentRole::Executor, "c", "shell.run", json!({ "command": "echo other" }));
    assert_eq!(world.service.call(called).await.content, result.content);
    assert_eq!(world.text("log"), "begun\n");
    assert_eq!(world.count("tool.completed").await, 1);
}

#[tokio::test]
async fn a_command_that_ended_meanwhile_has_its_real_result() {
    let mut world = World::new().await;
    let folder = crash_during(&mut world, "echo begun; sleep 0.5; exit 4").await;
    until("it ends", || async { matches!(folder.state(), Ok(RunState::Finished(_))).then_some(()) }).await;
    let result = recover(&world, "c").await;
    assert_eq!((result.status, result.exit_code), (ToolStatus::Ok, Some(4)), "{}", result.content);
    assert_eq!(reconciled(&world, &result).await, "exit file");
}

#[tokio::test]
async fn a_vanished_command_is_said_to_be_unknown_and_not_run_again() {
    let mut world = World::new().await;
    let folder = crash_during(&mut world, "echo begun | tee -a log; sleep 60").await;
    // The whole machine went down: record and processes are gone, the log and the output are there.
    folder.cancel().unwrap();
    until("it ends", || async { matches!(folder.state(), Ok(RunState::Finished(_))).then_some(()) }).await;
    std::fs::remove_file(folder.path().join("exit.json")).unwrap();
    let result = recover(&world, "c").await;
    assert_eq!(result.status, ToolStatus::Interrupted, "{}", result.content);
    assert!(
        result.content.contains("outcome is unknown") && result.content.contains("begun"),
        "{}",
        result.content
    );
    assert_eq!(world.text("log"), "begun\n");
}

/// A run that the log has as begun and nothing else knows.
async fn begun(world: &World, call_id: &str, tool: &str, class: EffectClass, input: Value, intent: Intent) {
    let decision = PermissionDecision {
        decision: Decision::Allow,
        level: RiskLevel::Safe,
        reason: String::new(),
        effects: Vec::new(),
        scopes: Vec::new(),
        granted_by: None,
    };
    let started = ToolStarted {
        run_id: ToolRunId::from_uuid(world.deps.ids.next()),
        n: world.deps.store.next_ref(RefKind::ToolRun),
        session_id: world.session,
        turn_id: world.turn,
        task_id: None,
        agent_id: world.agent,
        attempt_id: None,
        workspace_id: world.workspace,
        call_id: call_id.to_owned(),
        tool: tool.to_owned(),
        input: Stored::Inline { value: input },
        aliases: Vec::new(),
        class,
        intent,
        decision,
        title: tool.to_owned(),
    };
    let source = EventSource::new(SourceKind::Tool, tool);
    world
        .deps
        .store
        .ingest(vec![NewEvent::new(world.session, source, started).agent(world.agent)])
        .await
        .unwrap();
}

fn sha(text: &str) -> Option<String> {
    let digits = std::process::Command::new("sh")
        .args(["-c", &format!("printf '{text}' | sha256sum")])
        .output()
        .unwrap()
        .stdout;
    Some(String::from_utf8(digits).unwrap().split(' ').next().unwrap().to_owned())
}

#[tokio::test]
async fn a_command_that_never_began_says_so() {
    let world = World::new().await;
    let intent =
        Intent::Command { command: "true".into(), cwd: world.root.clone(), timeout_ms: 1, background: false };
    begun(&world, "c", "shell.run", EffectClass::Command, json!({ "command": "true" }), intent).await;
    let result = recover(&world, "c").await;
    assert_eq!(result.status, ToolStatus::Interrupted);
    assert!(result.content.contains("Nothing was run"), "{}", result.content);
}

#[tokio::test]
async fn a_write_is_found_applied_not_applied_or_foreign() {
    let world = World::new().await;
    for (name, now, status, words) in [
        ("applied", Some("new"), ToolStatus::Ok, "found whole"),
        ("untouched", Some("old"), ToolStatus::Interrupted, "as it was before the call"),
        ("foreign", Some("other"), ToolStatus::Interrupted, "somebody else wrote it"),
        ("absent", None, ToolStatus::Interrupted, "somebody else wrote it"),
    ] {
        if let Some(now) = now {
            world.file(name, now);
        }
        let file = FileIntent { path: WirePath::Path(name.into()), before: sha("old"), after: sha("new") };
        let intent = Intent::Files { files: vec![file] };
        let input = json!({ "path": name, "content": "new" });
        begun(&world, name, "fs.write", EffectClass::Verifiable, input, intent).await;
        let result = recover(&world, name).await;
        assert_eq!(result.status, status, "{name}: {}", result.content);
        assert!(result.content.contains(words), "{name}: {}", result.content);
        assert_eq!(now.map(|_| world.text(name)), now.map(str::to_owned), "{name} was touched");
        assert_eq!(reconciled(&world, &result).await, "hashes");
    }
    // What was applied counts as read.
    let edit =
        world.call("fs.edit", json!({ "path": "applied", "old_string": "new", "new_string": "newer" })).await;
    assert_eq!(edit.status, ToolStatus::Ok, "{}", edit.content);
}

#[tokio::test]
async fn a_read_is_made_again_and_an_unknown_call_is_none() {
    let world = World::new().await;
    world.file("a", "x\n");
    begun(&world, "r", "fs.read", EffectClass::Pure, json!({ "path": "a" }), Intent::None).await;
    assert!(recover(&world, "r").await.content.ends_with("1|x"));
    assert!(world.service.recover(world.context(AgentRole::Executor), "nobody").await.is_none());
}

#[tokio::test]
async fn no_temporary_file_is_left() {
    let mut world = World::new().await;
    world.deps.tasks.shutdown(Duration::from_secs(1)).await;
    begun(
        &world,
        "w",
        "fs.write",
        EffectClass::Verifiable,
        json!({}),
        Intent::Files {
            files: vec![FileIntent { path: WirePath::Path("a".into()), before: None, after: sha("new") }],
        },
    )
    .await;
    let run = world.deps.store.unfinished_tool_runs().await.unwrap().remove(0);
    world.file(&format!(".air-{}.tmp", run.started.run_id.hex()), "half");
    world.restart().await;
    let result = recover(&world, "w").await;
    assert!(result.content.contains("as it was before"), "{}", result.content);
    assert_eq!(std::fs::read_dir(&world.root).unwrap().count(), 0);
}
