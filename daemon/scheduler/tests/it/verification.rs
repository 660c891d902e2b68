//! Claims against what the runtime sees.

use air_contracts::evidence::EvidenceKind;
use air_contracts::project::CheckKind;
use air_contracts::task::{AgentRole, AttemptStatus, CriterionState, TaskStatus};
use air_scheduler::TaskDraft;
use air_store::{EvidenceFilter, TaskRow};
use serde_json::json;

use crate::attempts::{finish, fix};
use crate::bed::{Bed, check, criterion, draft, status, tests};
use crate::gateway::{Reply, call, text};

fn write(path: &str, content: &str) -> Reply {
    call("w", "fs.write", json!({ "path": path, "content": content }))
}

fn states(task: &TaskRow) -> Vec<(&str, CriterionState, &str)> {
    task.criteria.iter().map(|one| (one.text.as_str(), one.state, one.note.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_names_the_run_the_tree_and_what_was_before() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    let criteria = vec![criterion("a.txt says fixed", "grep -q fixed a.txt"), criterion("tests", "test")];
    bed.create(vec![TaskDraft { criteria, write: vec!["*.txt".into()], ..draft("Fix") }]).await;
    let task = bed.run().await;
    let expected = [
        ("a.txt says fixed", CriterionState::Proved, "exit 0, before exit 1"),
        ("tests", CriterionState::Proved, "3 of 3, before 2 of 3"),
        ("only *.txt changed", CriterionState::Proved, "1 file"),
    ];
    assert_eq!(states(&task), expected);
    let filter = EvidenceFilter { task: Some(task.id), ..EvidenceFilter::default() };
    let evidence = bed.store.evidence(filter).await.unwrap();
    let start = bed.store.last_checkpoint(bed.turn, Some(task.id), "task_start").await.unwrap().unwrap();
    let end = bed.store.last_checkpoint(bed.turn, Some(task.id), "verified").await.unwrap().unwrap();
    assert_ne!(start.checkpoint.tree, end.checkpoint.tree);
    for one in evidence.iter().map(|row| &row.evidence) {
        assert_eq!(one.tree, end.checkpoint.tree);
        match &one.kind {
            EvidenceKind::CheckPassed { tool_run, baseline } => {
                let before = bed.store.tool_run(baseline.unwrap()).await.unwrap();
                assert_ne!(before.run_id, *tool_run);
                assert_eq!(before.exit_code, Some(1));
            }
            EvidenceKind::Diff { paths } => assert_eq!(paths.len(), 1),
            EvidenceKind::Review { .. } => panic!("nobody reviewed"),
        }
    }
    assert_eq!(evidence.len(), 3);
    assert!(task.criteria.iter().all(|one| one.evidence.len() == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn done_with_nothing_done_is_refused_and_never_believed() {
    let bed = Bed::new(tests()).await;
    for role in [AgentRole::Executor, AgentRole::Executor, AgentRole::Debugger] {
        bed.script.say(role, [finish(), text("It is done."), text("Really.")]);
    }
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(status(&task), (TaskStatus::Blocked, Some("verification")));
    assert_eq!(task.reason, "blocked after 3 attempts: no progress on 1 failure");
    assert_eq!(bed.attempt_states(&task).await, [AttemptStatus::Failed; 3]);
    assert_eq!(bed.script.left(AgentRole::Debugger), 0, "the third attempt was a Debugger's");
    let request = bed.script.requests_of(AgentRole::Executor)[1].clone();
    assert!(format!("{request:?}").contains("the status is no_change"), "the refusal says what to do");
    let told = bed.script.requests_of(AgentRole::Debugger)[0].clone();
    assert!(format!("{told:?}").contains("attempt 2: verification: nothing was changed"), "{told:?}");
    assert!(bed.store.evidence(EvidenceFilter::default()).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn done_after_a_red_test_is_refused_by_name_and_blocked_is_a_way_out() {
    let bed = Bed::new(tests()).await;
    let blocked = json!({ "status": "blocked", "summary": "It needs a decision.", "blocker": "Which word?" });
    let replies = [
        write("a.txt", "wrong"),
        call("c", "check.run", json!({})),
        finish(),
        call("b", "task.finish", blocked),
    ];
    bed.script.say(AgentRole::Executor, replies);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(status(&task), (TaskStatus::Blocked, Some("worker")));
    assert!(task.reason.contains("Which word?"), "{}", task.reason);
    let last = bed.script.requests_of(AgentRole::Executor).pop().unwrap();
    assert!(format!("{last:?}").contains("test failed in r"), "{last:?}");
    bed.requests_are_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn red_stays_red_also_when_it_was_red_before() {
    let bed = Bed::new(tests()).await;
    bed.script.say(AgentRole::Executor, [write("b.txt", "b"), finish(), fix(), finish()]);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(bed.attempt_states(&task).await, [AttemptStatus::Failed, AttemptStatus::Succeeded]);
    let attempts = bed.attempts(&task).await;
    assert_eq!(attempts[0].failure_instances, ["test: t1"]);
    let second = format!("{:?}", bed.script.requests_of(AgentRole::Executor)[2]);
    assert!(second.contains("failed before the task too: t1"), "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_always_passes_proves_nothing() {
    let bed = Bed::new(Vec::new()).await;
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    bed.create(vec![TaskDraft { criteria: vec![criterion("it works", "true")], ..draft("Fix") }]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed);
    let note = "passes in an empty folder and before the change too: it shows nothing";
    assert_eq!(states(&task), [("it works", CriterionState::Unproved, note)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_check_the_report_says_unproved_and_nobody_reviews() {
    let bed = Bed::new(Vec::new()).await;
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    let criteria = vec![air_contracts::task::Criterion { text: "it reads well".into(), check: None }];
    bed.create(vec![TaskDraft { criteria, ..draft("Write") }]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed);
    assert_eq!(task.criteria[0].state, CriterionState::Unproved);
    assert!(bed.script.requests_of(AgentRole::Reviewer).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_after_the_last_green_run_counts() {
    let bed = Bed::new(tests()).await;
    let named = |run: &str| {
        let criteria = json!([{ "n": 1, "evidence": [run] }]);
        call("f", "task.finish", json!({ "status": "done", "summary": "s", "criteria": criteria }))
    };
    // r1 is the baseline, r2 the write, r3 check.run with r4 inside.
    let replies = [
        fix(),
        call("c", "check.run", json!({})),
        write("a.txt", "broken again"),
        named("r4"),
        named("r99"),
        finish(),
    ];
    bed.script.say(AgentRole::Executor, replies);
    let repaired = [fix(), finish()];
    bed.script.say(AgentRole::Executor, repaired);
    bed.create(vec![TaskDraft { criteria: vec![criterion("tests pass", "test")], ..draft("Fix") }]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(bed.attempt_states(&task).await, [AttemptStatus::Failed, AttemptStatus::Succeeded]);
    let requests = bed.script.requests_of(AgentRole::Executor);
    assert!(format!("{:?}", requests[4]).contains("r4 is older than the last write"), "{:?}", requests[4]);
    assert!(format!("{:?}", requests[5]).contains("r99 does not exist"));
}

/// Deletes a test and fixes nothing else; the check then runs fewer tests, or the deletion itself is seen.
async fn deleted_test(verdicts: Vec<Reply>) -> (Bed, TaskRow) {
    let count = "n=$(ls tests | wc -l); echo tests $n 0";
    let bed = Bed::new(vec![check("test", CheckKind::Test, count)]).await;
    std::fs::create_dir(bed.root.join("tests")).unwrap();
    for name in ["one", "two"] {
        std::fs::write(bed.root.join("tests").join(name), "t").unwrap();
    }
    let delete = call("d", "fs.delete", json!({ "path": "tests/two" }));
    bed.script.say(AgentRole::Executor, [delete, finish()]);
    bed.script.say(AgentRole::Reviewer, verdicts);
    bed.create(vec![draft("Make it green")]).await;
    let task = bed.run().await;
    (bed, task)
}

fn verdict(verdict: &str, findings: &[&str]) -> Reply {
    let result = json!({ "verdict": verdict, "findings": findings });
    call("v", "task.finish", json!({ "status": "done", "summary": "Looked at it.", "result": result }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_test_needs_a_reviewer() {
    let (bed, task) = deleted_test(vec![verdict("accept", &[])]).await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(task.criteria[0].state, CriterionState::Reviewed);
    let shown = format!("{:?}", bed.script.requests_of(AgentRole::Reviewer)[0]);
    assert!(shown.contains("deleted tests/two") && shown.contains("a claim, not a fact"), "{shown}");
    let weaker = bed.store.evidence(EvidenceFilter::default()).await.unwrap();
    assert!(weaker.iter().any(|row| row.evidence.weaker));
    bed.requests_are_sound().await;

    let (_bed, task) = deleted_test(vec![verdict("cannot_tell", &[])]).await;
    assert_eq!(status(&task), (TaskStatus::Blocked, Some("needs_review")));
    assert!(!task.blocker.unwrap().options.is_empty());

    // The next attempt restores it; 2 tests again, nothing to review.
    let (bed, task) = deleted_test(vec![verdict("changes", &["tests/two must stay"])]).await;
    assert_eq!(status(&task), (TaskStatus::Blocked, Some("provider")), "the script ends there");
    let told = format!("{:?}", bed.script.requests_of(AgentRole::Executor).pop().unwrap());
    assert!(told.contains("tests/two must stay"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_is_a_result_when_the_checks_are_green() {
    let bed = Bed::new(tests()).await;
    std::fs::write(bed.root.join("a.txt"), "fixed\n").unwrap();
    let nothing = json!({ "status": "no_change", "summary": "It is right already." });
    bed.script.say(AgentRole::Executor, [call("f", "task.finish", nothing)]);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(*bed.executor.purposes.lock().unwrap(), ["baseline"], "the same tree is not checked twice");
    assert!(task.changed_files.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_edit_meanwhile_costs_one_more_run_and_is_named() {
    let bed = Bed::new(tests()).await;
    let path = bed.root.join("notes.md");
    let meddle = move || std::fs::write(&path, "by the user").unwrap();
    *bed.executor.meddle.lock().unwrap() = Some(("verify".to_owned(), Box::new(meddle)));
    bed.script.say(AgentRole::Executor, [fix(), finish()]);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(*bed.executor.purposes.lock().unwrap(), ["baseline", "verify", "verify"]);
    let names =
        |paths: &[air_contracts::path::WirePath]| paths.iter().map(|path| path.display()).collect::<Vec<_>>();
    assert_eq!(
        (names(&task.changed_files), names(&task.foreign_files)),
        (vec!["a.txt".to_owned()], vec!["notes.md".to_owned()])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_change_is_reviewed() {
    let bed = Bed::new(tests()).await;
    let files = ["b", "c", "d", "e"].map(|name| write(&format!("{name}.txt"), "x"));
    bed.script.say(AgentRole::Executor, files.into_iter().chain([fix(), finish()]));
    bed.script
        .say(AgentRole::Reviewer, [call("r", "fs.read", json!({ "path": "a.txt" })), verdict("accept", &[])]);
    bed.create(vec![draft("Fix")]).await;
    let task = bed.run().await;
    assert_eq!(task.status, TaskStatus::Completed, "{}", task.reason);
    assert_eq!(bed.script.left(AgentRole::Reviewer), 0);
    bed.requests_are_sound().await;
}
