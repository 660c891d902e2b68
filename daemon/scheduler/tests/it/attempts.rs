//! Attempts: calls, limits, workers that misbehave.

use air_contracts::AirError;
use air_contracts::error::codes;
use air_contracts::message::ContentBlock;
use air_contracts::provider::ModelRequest;
use air_contracts::task::{AgentRole, AttemptStatus, FailureClass, TaskStatus};
use serde_json::json;

use crate::bed::{Bed, draft, script_worker, status, tests};
use crate::gateway::{Reply, call, calls, text};

pub fn fix() -> Reply {
    call("w", "fs.write", json!({ "path": "a.txt", "content": "fixed\n" }))
}

pub fn finish() -> Reply {
    call("f", "task.finish", json!({ "status": "done", "summary": "Fixed it." }))
}

fn results(request: &ModelRequest) -> Vec<(String, bool)> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks
        .filter_map(|block| match block {
            ContentBlock::ToolResult { content, is_error, .. } => Some((content.clone(), *is_error)),
            _ => None,
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_costs_three_requests_and_is_proved_by_the_run_that_the_worker_asked_for() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [fix(), call("c", "check.run", json!({})), finish()]);
    let made = bed.create(vec![draft("Fix a.txt")]).await;
    assert_eq!(bed.create(vec![draft("Fix a.txt")]).await, made, "the same call again is the same task");
    let task = bed.run().await;
    assert_eq!((status(&task), task.summary.as_str()), ((TaskStatus::Completed, None), "Fixed it."));
    assert_eq!(bed.attempt_states(&task).await, [AttemptStatus::Succeeded]);
    assert_eq!(
        *bed.executor.purposes.lock().unwrap(),
        ["baseline", "worker"],
        "a fresh green run is not repeated"
    );
    let requests = bed.script.requests_of(AgentRole::Executor);
    assert_eq!(requests.len(), 3);
    assert!(
        results(&requests[2])[1].0.contains("pass test · 3 of 3 tests passed"),
        "{:?}",
        results(&requests[2])
    );
    assert!(results(&requests[2])[1].0.contains("fixed: t1"));
    bed.requests_are_sound().await;
    let result = bed.scheduler.worker_result(task.id).await.unwrap().unwrap();
    assert_eq!((result.changed_files.len(), result.evidence_refs.len()), (1, 2));
    assert_eq!(bed.scheduler.worker_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_at_the_end_of_green_work_needs_no_reminder() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [fix(), call("c", "check.run", json!({})), text("I fixed it.")]);
    bed.create(vec![draft("Fix a.txt")]).await;
    let task = bed.run().await;
    assert_eq!((task.status, task.summary.as_str()), (TaskStatus::Completed, "I fixed it."));
    assert_eq!(bed.script.requests.lock().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_get_their_results_in_order_also_those_that_cannot_run() {
    let bed = Bed::new(tests()).await;
    let broken = ("b".to_owned(), "fs.read".to_owned(), "{\"path\": \"a".to_owned());
    let read = |id: &str| (id.to_owned(), "fs.read".to_owned(), "{\"path\": \"a.txt\"}".to_owned());
    bed.script.say(AgentRole::Executor, [Reply::Calls(vec![read("r"), broken, read("r")])]);
    // An id that was used before is a new call all the same.
    let again = calls(&[
        ("r", "fs.read", json!({ "path": "a.txt" })),
        ("w", "fs.write", json!({ "path": "a.txt", "content": "fixed" })),
    ]);
    let together = calls(&[
        ("x", "fs.write", json!({ "path": "b.txt", "content": "b" })),
        ("f", "task.finish", json!({ "status": "done", "summary": "s" })),
    ]);
    bed.script.say(AgentRole::Executor, [again, together, finish()]);
    bed.create(vec![draft("Read")]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    let requests = bed.script.requests_of(AgentRole::Executor);
    let last = results(&requests[3]);
    let errors: Vec<bool> = last.iter().map(|(_, is_error)| *is_error).collect();
    assert_eq!(errors, [false, true, false, false, false, false, true], "{last:?}");
    assert!(last[1].0.contains("not a JSON object"));
    assert!(last[6].0.contains("stands beside fs.write"), "{}", last[6].0);
    bed.requests_are_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_answer_is_asked_for_again_and_a_refused_request_blocks() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [Reply::Cut("half".into()), fix(), finish()]);
    bed.create(vec![draft("Fix")]).await;
    assert_eq!(bed.run().await.status, TaskStatus::Completed);

    let bed = Bed::new(tests()).await;
    let refused = || Reply::Fail(AirError::new(codes::PROVIDER_AUTH, "the key is refused"));
    bed.script.say(AgentRole::Executor, [refused()]);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(status(&task), (TaskStatus::Blocked, Some("provider")));
    assert!(task.reason.contains("the key is refused"), "{}", task.reason);

    bed.script.selectable.lock().unwrap().clear();
    bed.scheduler.retry_task(task.id, None, None).await.unwrap();
    let task = bed.run().await;
    assert_eq!(status(&task), (TaskStatus::Blocked, Some("provider")));
    assert!(task.reason.contains("no model to talk to"), "{}", task.reason);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reached_budget_blocks_and_a_higher_one_goes_on_with_the_transcript() {
    let bed = Bed::new(tests()).await;
    bed.limit(0.5).await;
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(status(&task), (TaskStatus::Blocked, Some("budget")));
    bed.limit(20.0).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    let requests = bed.script.requests_of(AgentRole::Executor);
    assert_eq!(requests.len(), 2, "the write was not made twice");
    assert_eq!(results(&requests[1]).len(), 1);
    bed.requests_are_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_worker_is_replaced_and_the_transcript_goes_on() {
    let home = tempfile::tempdir().unwrap();
    // The first worker asks for its first call and vanishes; the next one is real.
    let body = "if [ -e $DIR/once ]; then exec $WORKER role; fi\n: > $DIR/once\n\
                echo '{\"type\":\"agent.ready\",\"ipc_version\":1,\"version\":\"0\",\"pid\":1}'\nread -r start\n\
                echo '{\"type\":\"llm.request\",\"answered\":[]}'\nread -r done\n\
                echo '{\"type\":\"tool.call\",\"call_id\":\"w\"}'\nread -r result";
    let bed = Bed::with_worker(tests(), script_worker(home.path(), body)).await;
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(bed.attempt_states(&task).await, [AttemptStatus::Lost, AttemptStatus::Succeeded]);
    assert_eq!(bed.script.requests_of(AgentRole::Executor).len(), 2);
    bed.requests_are_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_does_not_keep_to_the_protocol_fails() {
    let ready = "echo '{\"type\":\"agent.ready\",\"ipc_version\":1,\"version\":\"0\",\"pid\":1}'";
    let bodies = [
        format!("{ready}\necho nonsense\nread -r x"),
        "echo '{\"type\":\"agent.ready\",\"ipc_version\":99,\"version\":\"0\",\"pid\":1}'\nread -r x"
            .to_owned(),
        format!("{ready}\nread -r start\necho '{{\"type\":\"tool.call\",\"call_id\":\"never\"}}'\nread -r x"),
    ];
    for body in bodies {
        let home = tempfile::tempdir().unwrap();
        let bed = Bed::with_worker(Vec::new(), script_worker(home.path(), &body)).await;
        bed.create(vec![draft("Fix")]).await;
        let task = bed.run().await;
        assert_eq!(task.status, TaskStatus::Failed, "{body}");
        let attempts = bed.attempts(&task).await;
        assert!(
            attempts.iter().all(|attempt| attempt.failure_class == Some(FailureClass::Tool)),
            "{attempts:?}"
        );
        assert_eq!(attempts.len(), 3);
        bed.tasks.shutdown(std::time::Duration::from_secs(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_run_after_their_dependencies() {
    let bed = Bed::new(tests()).await;
    let second = air_scheduler::TaskDraft { depends_on: vec![0], ..draft("Then document it") };
    bed.create(vec![draft("Fix"), second]).await;
    let document = call("d", "fs.write", json!({ "path": "doc.txt", "content": "documented" }));
    // Two tasks in one turn are reviewed.
    let accept = call(
        "v",
        "task.finish",
        json!({ "status": "done", "summary": "good", "result": { "verdict": "accept" } }),
    );
    bed.script.say(AgentRole::Executor, [fix(), finish(), document, finish()]);
    bed.script.say(AgentRole::Reviewer, [accept.clone(), accept]);
    bed.run().await;
    let tasks = bed.store.tasks_of_turn(bed.turn).await.unwrap();
    assert!(tasks.iter().all(|task| task.status == TaskStatus::Completed), "{tasks:?}");
    assert!(tasks.iter().any(|task| task.changed_files.iter().any(|path| path.display() == "doc.txt")));
    assert!(tasks.iter().all(|task| task.changed_files.len() == 1), "each has its own change");
    assert_eq!(bed.read("a.txt"), "fixed\n");
}
