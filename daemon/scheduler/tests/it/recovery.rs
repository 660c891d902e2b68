//! Interruptions, restarts, cancels.

use std::time::Duration;

use air_contracts::message::ContentBlock;
use air_contracts::provider::ModelRequest;
use air_contracts::task::{AgentRole, AttemptStatus, TaskStatus};
use air_store::Store;
use serde_json::json;

use crate::attempts::{finish, fix};
use crate::bed::{Bed, draft, status, tests};
use crate::gateway::{Reply, call, calls};

fn hang_then_write() -> Reply {
    calls(&[
        ("h", "shell.run", json!({ "command": "hang" })),
        ("n", "fs.write", json!({ "path": "never.txt", "content": "x" })),
    ])
}

async fn hangs(store: &Store) -> bool {
    store.unfinished_tool_runs().await.unwrap().iter().any(|run| run.tool == "shell.run")
}

fn last_results(request: &ModelRequest) -> Vec<String> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks
        .filter_map(|block| match block {
            ContentBlock::ToolResult { content, .. } => Some(content.clone()),
            _ => None,
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_turn_has_a_result_for_every_call_and_goes_on() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [hang_then_write()]);
    bed.create(vec![draft("Fix")]).await;
    let scheduler = bed.scheduler.clone();
    let turn = bed.turn;
    let running = tokio::spawn(async move { scheduler.run_turn(turn).await });
    bed.until("the hanging call", hangs).await;
    tokio::time::timeout(Duration::from_secs(5), bed.scheduler.interrupt_turn(turn)).await.unwrap().unwrap();
    let task = running.await.unwrap().unwrap().tasks.remove(0);
    assert_eq!(status(&task), (TaskStatus::Ready, None));
    assert_eq!(bed.attempt_states(&task).await, [AttemptStatus::Cancelled]);
    assert_eq!(bed.scheduler.worker_count(), 0);

    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    let request = bed.script.requests_of(AgentRole::Executor)[1].clone();
    let results = last_results(&request);
    assert!(results[0].contains("hang was stopped") && results[1].contains("not_started"), "{results:?}");
    assert!(!bed.root.join("never.txt").exists());
    bed.requests_are_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_request_is_asked_again() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [Reply::Hang]);
    bed.create(vec![draft("Fix")]).await;
    let scheduler = bed.scheduler.clone();
    let turn = bed.turn;
    let running = tokio::spawn(async move { scheduler.run_turn(turn).await });
    bed.until("the request", async |_: &Store| !bed.script.requests.lock().unwrap().is_empty()).await;
    bed.scheduler.interrupt_turn(turn).await.unwrap();
    running.await.unwrap().unwrap();
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    assert_eq!(bed.run().await.status, TaskStatus::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_daemon_goes_on_where_the_last_one_died() {
    let bed = Bed::new(tests()).await;
    bed.script
        .say(AgentRole::Executor, [call("r", "fs.read", json!({ "path": "a.txt" })), hang_then_write()]);
    bed.create(vec![draft("Fix")]).await;
    let scheduler = bed.scheduler.clone();
    let turn = bed.turn;
    let running = tokio::spawn(async move { scheduler.run_turn(turn).await });
    bed.until("the hanging call", hangs).await;
    let bed = bed.restart().await;
    let task = bed.store.tasks_of_turn(turn).await.unwrap().remove(0);
    assert_eq!(task.status, TaskStatus::Running, "nothing was said at the end of the first daemon");
    assert_eq!(bed.attempt_states(&task).await, [AttemptStatus::Running]);
    drop(running);

    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    let attempts = bed.attempts(&task).await;
    assert_eq!((attempts[0].status, attempts[0].note.as_str()), (AttemptStatus::Lost, "aird restarted"));
    assert_eq!(attempts[1].status, AttemptStatus::Succeeded);
    let request = bed.script.requests_of(AgentRole::Executor)[2].clone();
    let results = last_results(&request);
    assert_eq!(results.len(), 3);
    assert!(results[1].contains("interrupted") && results[2].contains("not_started"), "{results:?}");
    assert!(!bed.root.join("never.txt").exists());
    bed.requests_are_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_was_made_before_the_restart_is_verified_after_it() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    bed.create(vec![draft("Fix")]).await;
    // The daemon stops while the first check of the verification runs.
    let token = bed.tasks.token().clone();
    *bed.executor.meddle.lock().unwrap() = Some(("verify".to_owned(), Box::new(move || token.cancel())));
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Verifying);
    let bed = bed.restart().await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(bed.script.requests.lock().unwrap().len(), 2, "the model was not asked again");
    assert_eq!(task.summary, "Fixed it.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_task_ends_with_its_dependants_and_a_retry_takes_the_note_along() {
    let bed = Bed::new(tests()).await;
    let second = air_scheduler::TaskDraft { depends_on: vec![0], ..draft("Then that") };
    let made = bed.create(vec![draft("Fix"), second]).await;
    bed.script.say(AgentRole::Executor, [hang_then_write()]);
    let scheduler = bed.scheduler.clone();
    let turn = bed.turn;
    let running = tokio::spawn(async move { scheduler.run_turn(turn).await });
    bed.until("the hanging call", hangs).await;
    bed.scheduler.cancel_task(made[0].0, "not needed").await.unwrap();
    let tasks = running.await.unwrap().unwrap().tasks;
    assert!(tasks.iter().all(|task| task.status == TaskStatus::Cancelled), "{tasks:?}");
    assert_eq!(tasks[0].reason, "not needed");
    assert_eq!(bed.attempt_states(&tasks[0]).await, [AttemptStatus::Cancelled]);
    assert!(bed.scheduler.cancel_task(made[0].0, "again").await.is_err());
    assert!(bed.scheduler.retry_task(made[0].0, None, None).await.is_err(), "a cancelled task stays so");

    let bed = Bed::new(tests()).await;
    let made = bed.create(vec![draft("Fix")]).await;
    let blocked = json!({ "status": "blocked", "summary": "?", "blocker": "Which word?" });
    bed.script.say(AgentRole::Executor, [call("b", "task.finish", blocked), fix(), finish()]);
    assert_eq!(bed.run().await.status, TaskStatus::Blocked);
    bed.scheduler.retry_task(made[0].0, Some("The word is fixed.".into()), None).await.unwrap();
    assert_eq!(bed.store.task(made[0].0).await.unwrap().status, TaskStatus::Ready);
    assert_eq!(bed.run().await.status, TaskStatus::Completed);
    let told = format!("{:?}", bed.script.requests_of(AgentRole::Executor)[1]);
    assert!(told.contains("The word is fixed."), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_two_turns_do_not_meet_in_the_tree() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [hang_then_write()]);
    bed.create(vec![draft("Fix")]).await;
    let scheduler = bed.scheduler.clone();
    let (first, second) = (bed.turn, bed.another_turn().await);
    let running = tokio::spawn(async move { scheduler.run_turn(first).await });
    bed.until("the hanging call", hangs).await;
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    let context = air_contracts::tool::CallContext { turn_id: second, ..bed.main_context() };
    bed.scheduler.create_tasks(&context, "And that", vec![draft("That")], "call_2").await.unwrap();
    let scheduler = bed.scheduler.clone();
    let waiting = tokio::spawn(async move { scheduler.run_turn(second).await });
    let started = async |store: &Store| {
        store.agents(None, true).await.unwrap().iter().any(|agent| agent.turn_id == second)
    };
    bed.until("the second attempt", started).await;
    bed.scheduler.interrupt_turn(first).await.unwrap();
    running.await.unwrap().unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().tasks[0].status, TaskStatus::Completed);
    let query = air_store::EventQuery {
        types: vec!["agent.ended".into(), "workspace.checkpointed".into()],
        ..Default::default()
    };
    let events = bed.store.events(query).await.unwrap();
    let begins = |event: &&air_contracts::event::RuntimeEvent| {
        event.payload["purpose"] == "task_start" && event.payload["turn_id"] == second.to_string()
    };
    let ended = events.iter().find(|event| event.kind == "agent.ended").unwrap().seq;
    assert!(ended < events.iter().find(begins).unwrap().seq, "the second began after the first had ended");
}
