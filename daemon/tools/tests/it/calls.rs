//! What holds for every call: names, inputs, roles, repetition, fencing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use air_contracts::event::{EventSource, NewEvent, RequirementChanged};
use air_contracts::ids::AttemptId;
use air_contracts::port::ToolExecutor;
use air_contracts::task::AgentRole;
use air_contracts::tool::ToolStatus;
use air_tools::ToolService;
use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn wrong_calls_say_what_is_taken() {
    let world = World::new().await;
    let unknown = world.call("teleport", json!({})).await;
    assert!(
        unknown.content.contains("error unknown_tool") && unknown.content.contains("`fs.read`"),
        "{}",
        unknown.content
    );
    assert!(!unknown.content.contains("check.exec"), "{}", unknown.content);
    let input = json!({ "path": "a", "depht": 1 });
    let wrong = world.call("fs.read", input.clone()).await;
    assert!(
        wrong.content.contains("error invalid_input") && wrong.content.contains("offset"),
        "{}",
        wrong.content
    );
    assert!(!wrong.content.contains("failed before"));
    let again = world.call("fs.read", input).await;
    assert!(
        again.content.ends_with("[same call failed before: a different approach is needed]"),
        "{}",
        again.content
    );
    let reviewer = world
        .service
        .call(world.call_with(AgentRole::Reviewer, "r", "shell.run", json!({ "command": "true" })))
        .await;
    assert_eq!(reviewer.status, ToolStatus::Denied, "{}", reviewer.content);
    let hidden =
        world.call("check.exec", json!({ "name": "x", "command": "true", "purpose": "verify" })).await;
    assert_eq!(hidden.status, ToolStatus::Denied, "{}", hidden.content);
}

#[tokio::test]
async fn the_same_call_is_one_run() {
    let world = World::new().await;
    let call = world.call_with(
        AgentRole::Executor,
        "same",
        "shell.run",
        json!({ "command": "echo x >> count; sleep 0.2" }),
    );
    let (a, b) = (world.start(call.clone()), world.start(call.clone()));
    let (a, b) = (a.await.unwrap(), b.await.unwrap());
    let c = world.service.call(call).await;
    assert_eq!(a.status, ToolStatus::Ok, "{}", a.content);
    assert_eq!((a.run_id, b.run_id, c.run_id), (a.run_id, a.run_id, a.run_id));
    assert_eq!((a.content.clone(), a.content), (b.content, c.content));
    assert_eq!(world.text("count"), "x\n");
    assert_eq!((world.count("tool.started").await, world.count("tool.completed").await), (1, 1));
}

#[tokio::test]
async fn events_that_a_call_brings_are_there_before_it() {
    let world = World::new().await;
    let mut call = world.next_call("fs.list", json!({ "path": "." }));
    let body = RequirementChanged { turn_id: world.turn, text: "before".into() };
    call.before.push(NewEvent::new(world.session, EventSource::daemon(), body));
    world.service.call(call).await;
    let kinds: Vec<String> = world
        .deps
        .store
        .events(air_store::EventQuery::default())
        .await
        .unwrap()
        .into_iter()
        .map(|event| event.kind)
        .collect();
    assert_eq!(kinds[kinds.len() - 3..], ["requirement.changed", "tool.started", "tool.completed"]);
}

#[tokio::test]
async fn calls_of_a_lost_attempt_are_refused_and_leave_no_trace() {
    let mut world = World::new().await;
    let live = Arc::new(AtomicBool::new(true));
    let asked = live.clone();
    world.deps.attempt_live = Some(Arc::new(move |_| asked.load(Ordering::SeqCst)));
    world.service = ToolService::new(world.deps.clone());
    let attempt = AttemptId::from_uuid(world.deps.ids.next());
    let call = |id: &str| {
        let mut call = world.call_with(
            AgentRole::Executor,
            id,
            "fs.write",
            json!({ "path": format!("{id}.txt"), "content": "x" }),
        );
        call.context.attempt_id = Some(attempt);
        call
    };
    assert_eq!(world.service.call(call("one")).await.status, ToolStatus::Ok);
    live.store(false, Ordering::SeqCst);
    let refused = world.service.call(call("two")).await;
    assert_eq!(refused.error.unwrap().code, "attempt.fenced");
    assert!(!world.root.join("two.txt").exists());
    // The next attempt makes the same call, and it runs.
    live.store(true, Ordering::SeqCst);
    assert_eq!(world.service.call(call("two")).await.status, ToolStatus::Ok);
}

#[tokio::test]
async fn tool_texts_keep_their_budgets() {
    let world = World::new().await;
    let mut sum = 0;
    for tool in world.service.definitions() {
        assert!(tool.description.len() <= 350, "{}: {} bytes", tool.name, tool.description.len());
        let properties = tool.input_schema["properties"].as_object().map_or(0, serde_json::Map::len);
        let required = tool.input_schema["required"].as_array().map_or(0, Vec::len);
        assert!(properties - required <= 6, "{}", tool.name);
    }
    for tool in world.service.visible(AgentRole::Executor, "claude") {
        let whole = json!({ "name": tool.wire_name, "description": tool.description, "input_schema": tool.input_schema });
        sum += whole.to_string().len();
    }
    assert!(sum <= 4_200, "{sum} bytes");
    let names: Vec<String> =
        world.service.visible(AgentRole::Executor, "local").into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["fs.edit", "fs.read", "fs.search", "fs.write", "shell.run"]);
    assert!(
        world
            .service
            .definitions()
            .iter()
            .all(|tool| tool.input_schema["additionalProperties"] == Value::Bool(false))
    );
}
