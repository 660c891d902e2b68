//! Questions: what they are bound to, who answers first, and what outlives the daemon.

use air_contracts::approval::ApprovalSubject;
use air_contracts::permission::{ApproveMode, GrantScope};
use air_contracts::port::{CancelScope, ToolExecutor};
use air_contracts::task::AgentRole;
use air_contracts::tool::ToolStatus;
use serde_json::json;

use crate::world::{World, no, text, until, yes};

/// Asks: it contacts a host.
const ASKS: &str = "curl -s http://127.0.0.1:9/";
/// Asks, and runs a script of the project.
const SCRIPT: &str = "curl -s http://127.0.0.1:9/; sh scripts/run.sh";

#[tokio::test]
async fn a_yes_runs_exactly_what_was_asked_and_a_no_runs_nothing() {
    let world = World::new().await;
    let running = world.start(world.next_call("shell.run", json!({ "command": ASKS })));
    let question = world.question().await;
    let ApprovalSubject::ToolCall { tool, input, .. } = &question.approval.subject else {
        panic!("not a call")
    };
    assert_eq!((tool.as_str(), input["command"].as_str()), ("shell.run", Some(ASKS)));
    assert_eq!(world.count("tool.started").await, 0);
    world.answer(&question, yes(GrantScope::Once)).await.unwrap();
    let result = running.await.unwrap();
    assert_eq!((result.status, result.exit_code), (ToolStatus::Ok, Some(7)), "{}", result.content);

    let running = world.start(world.next_call("shell.run", json!({ "command": ASKS })));
    let question = world.question().await;
    world.answer(&question, no("use the mirror")).await.unwrap();
    let result = running.await.unwrap();
    assert_eq!(result.status, ToolStatus::Denied);
    assert!(
        result.content.contains("error denied_by_user") && result.content.contains("use the mirror"),
        "{}",
        result.content
    );
    assert_eq!(world.count("tool.started").await, 1);
}

#[tokio::test]
async fn the_first_answer_wins() {
    let world = World::new().await;
    let running = world.start(world.next_call("shell.run", json!({ "command": ASKS })));
    let question = world.question().await;
    let answers =
        tokio::join!(world.answer(&question, no("")), world.answer(&question, yes(GrantScope::Once)));
    let outcomes = [answers.0, answers.1];
    let errors: Vec<&str> =
        outcomes.iter().filter_map(|outcome| Some(outcome.as_ref().err()?.code.as_str())).collect();
    assert_eq!(errors, ["approval.answered"]);
    assert_eq!(world.count("approval.answered").await, 1);
    running.await.unwrap();
}

#[tokio::test]
async fn a_changed_script_is_asked_anew() {
    let world = World::new().await;
    let script = world.file("scripts/run.sh", "exit 5\n");
    let running = world.start(world.next_call("shell.run", json!({ "command": SCRIPT })));
    let first = world.question().await;
    std::fs::write(&script, "exit 6\n").unwrap();
    world.answer(&first, yes(GrantScope::Session)).await.unwrap();
    let second = world.question().await;
    assert_ne!(first.approval.id, second.approval.id);
    world.answer(&second, yes(GrantScope::Session)).await.unwrap();
    assert_eq!(running.await.unwrap().exit_code, Some(6));
    // The grant holds for this script in this folder.
    let again = world.shell(SCRIPT).await;
    assert_eq!(again.exit_code, Some(6), "{}", again.content);
    std::fs::write(&script, "exit 8\n").unwrap();
    let changed = world.start(world.next_call("shell.run", json!({ "command": SCRIPT })));
    world.answer(&world.question().await, no("")).await.unwrap();
    assert_eq!(changed.await.unwrap().status, ToolStatus::Denied);
}

#[tokio::test]
async fn a_grant_holds_for_its_folder_and_a_project_grant_for_good() {
    let mut world = World::new().await;
    std::fs::create_dir(world.root.join("sub")).unwrap();
    let running = world.start(world.next_call("shell.run", json!({ "command": ASKS })));
    world.answer(&world.question().await, yes(GrantScope::Project)).await.unwrap();
    running.await.unwrap();
    world.restart().await;
    assert_eq!(world.shell(ASKS).await.exit_code, Some(7));
    let elsewhere = world.start(world.next_call("shell.run", json!({ "command": ASKS, "cwd": "sub" })));
    world.answer(&world.question().await, no("")).await.unwrap();
    assert_eq!(elsewhere.await.unwrap().status, ToolStatus::Denied);
    assert!(world.deps.project_dir.join("grants.yaml").exists());
}

#[tokio::test]
async fn a_question_outlives_the_daemon() {
    let mut world = World::new().await;
    let call = world.call_with(AgentRole::Executor, "q", "shell.run", json!({ "command": ASKS }));
    let first = world.start(call.clone());
    let question = world.question().await;
    // The end of the daemon: its futures are dropped, nothing is withdrawn.
    world.deps.tasks.token().cancel();
    first.abort();
    let _ = first.await;
    world.restart().await;
    assert_eq!(world.count("approval.withdrawn").await, 0);
    assert!(world.service.recover(world.context(AgentRole::Executor), "q").await.is_none());
    let second = world.start(call);
    let same = world.question().await;
    assert_eq!(same.approval.id, question.approval.id);
    world.answer(&same, yes(GrantScope::Once)).await.unwrap();
    assert_eq!(second.await.unwrap().exit_code, Some(7));
    assert_eq!(world.count("approval.requested").await, 1);
}

#[tokio::test]
async fn a_question_that_no_longer_fits_is_withdrawn() {
    let mut world = World::new().await;
    let script = world.file("scripts/run.sh", "exit 1\n");
    let call = world.call_with(AgentRole::Executor, "q", "shell.run", json!({ "command": SCRIPT }));
    let first = world.start(call.clone());
    let old = world.question().await;
    world.deps.tasks.token().cancel();
    first.abort();
    let _ = first.await;
    world.restart().await;
    std::fs::write(script, "exit 2\n").unwrap();
    let second = world.start(call);
    let new = until("a new question", || async {
        world
            .deps
            .store
            .open_approvals(None)
            .await
            .unwrap()
            .into_iter()
            .find(|row| row.approval.id != old.approval.id)
    })
    .await;
    let late = world.answer(&old, yes(GrantScope::Once)).await.unwrap_err();
    assert_eq!(late.code, "approval.withdrawn");
    world.answer(&new, no("")).await.unwrap();
    assert_eq!(second.await.unwrap().status, ToolStatus::Denied);
}

#[tokio::test]
async fn a_call_that_goes_away_or_is_cancelled_withdraws_its_question() {
    let world = World::new().await;
    let gone = world.start(world.next_call("shell.run", json!({ "command": ASKS })));
    world.question().await;
    gone.abort();
    until("it is withdrawn", || async { (world.count("approval.withdrawn").await == 1).then_some(()) }).await;
    let waiting = world.start(world.next_call("shell.run", json!({ "command": ASKS })));
    world.question().await;
    assert_eq!(world.service.cancel(CancelScope::Turn(world.turn), "the user interrupted").await, 1);
    let result = waiting.await.unwrap();
    assert_eq!(result.status, ToolStatus::Cancelled, "{}", result.content);
    assert!(world.deps.store.open_approvals(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn modes_ask_nobody() {
    let mut world = World::new().await;
    world.approve = ApproveMode::Safe;
    let refused = world.shell(ASKS).await;
    assert_eq!(refused.status, ToolStatus::Denied, "{}", refused.content);
    assert!(refused.content.contains("--approve safe"), "{}", refused.content);
    world.approve = ApproveMode::All;
    assert_eq!(world.shell(ASKS).await.exit_code, Some(7));
    let never = world.shell("rm -rf /").await;
    assert_eq!(never.status, ToolStatus::Denied, "{}", never.content);
    assert_eq!(world.count("approval.requested").await, 0);
}

#[tokio::test]
async fn a_model_asks_one_question() {
    let world = World::new().await;
    let input = json!({ "question": "Which one?", "options": ["left", "right"], "free_text": false });
    let asked = world.start(world.call_with(AgentRole::Main, "q", "user.ask", input));
    let question = world.question().await;
    assert_eq!(world.answer(&question, text("up")).await.unwrap_err().code, "usage.value");
    assert_eq!(world.answer(&question, yes(GrantScope::Once)).await.unwrap_err().code, "usage.value");
    world.answer(&question, text("2")).await.unwrap();
    assert_eq!(asked.await.unwrap().content, "right");
}
