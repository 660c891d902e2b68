//! Views: what clients see of a turn.

use air_contracts::approval::{Approval, ApprovalSubject};
use air_contracts::artifact::Stored;
use air_contracts::error::codes;
use air_contracts::event::*;
use air_contracts::evidence::{Evidence, EvidenceKind};
use air_contracts::ids::*;
use air_contracts::message::{ContentBlock, MessageRole};
use air_contracts::projection::{ItemBody, ItemView, SessionState};
use air_contracts::session::TurnStatus;
use air_contracts::task::{TaskStatus, TaskType};
use air_contracts::time::Timestamp;
use air_rt::{Clock, IdSource};
use air_store::{EvidenceFilter, Store, ToolRunFilter};

use crate::samples::{Cast, status};
use crate::{assert_replays, open, open_at};

async fn begun() -> (tempfile::TempDir, Store, IdSource, Cast) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    (dir, store, ids, cast)
}

fn words(items: &[ItemView]) -> Vec<String> {
    items
        .iter()
        .map(|item| match &item.body {
            ItemBody::UserMessage { text, .. } => format!("user: {text}"),
            ItemBody::AssistantMessage { text, .. } => format!("assistant: {text}"),
            ItemBody::ToolRun { run } => format!("{}: {:?}", run.short, run.status),
            ItemBody::Approval { approval } => format!("{}: {:?}", approval.short, approval.state),
            ItemBody::Evidence { evidence } => format!("{}: stale {}", evidence.short, evidence.stale),
            ItemBody::TurnEnded { status, answer } => format!("{status:?}: {answer}"),
            ItemBody::Notice { text } => format!("notice: {text}"),
        })
        .collect()
}

fn said(cast: &Cast, ids: &IdSource, role: MessageRole, text: &str) -> NewEvent {
    let message = cast.message(ids, role, vec![ContentBlock::text(text)], None);
    cast.plain(MessageAppended { task_id: None, ..message })
}

#[tokio::test]
async fn a_conversation_is_shown_in_order_and_nothing_twice() {
    let (_dir, store, ids, cast) = begun().await;
    let (run, call) = cast.call(&ids, 1);
    let mut events = vec![said(&cast, &ids, MessageRole::User, &cast.spec().user_text)];
    events.extend(call);
    let running = store.ingest(events).await.unwrap().last_seq;
    assert_eq!(words(&[store.item_at(running).await.unwrap().unwrap()]), ["r1: None"]);
    store.ingest(cast.result(&ids, 1, run, &"é".repeat(2_000))).await.unwrap();
    let turn_id = cast.turn;
    store
        .ingest(vec![
            cast.plain(RequirementChanged { turn_id, text: "in Rust".into() }),
            said(&cast, &ids, MessageRole::Assistant, "It is done."),
            cast.plain(cast.ended(TurnStatus::Interrupted, "It is done.")),
            cast.plain(TurnResumed { turn_id, reason: "continue".into(), note: Some("go on".into()) }),
            cast.plain(cast.ended(TurnStatus::Completed, "A summary of the worker.")),
        ])
        .await
        .unwrap();

    let items = store.items(cast.session, None, 100).await.unwrap();
    assert_eq!(
        words(&items),
        [
            "user: Let the parser accept empty input, and add a test for it",
            "assistant: The build needs another look; I run the tests of the parser again.",
            "r1: Some(Ok)",
            "user: in Rust",
            "assistant: It is done.",
            "Interrupted: ",
            "user: go on",
            "Completed: A summary of the worker.",
        ]
    );
    assert_eq!(items[1].task, Some(ShortRef::new(RefKind::Task, cast.n)));
    let ItemBody::ToolRun { run: shown } = &items[2].body else { panic!("{items:?}") };
    assert!(shown.content.len() <= 2_048 && shown.content.starts_with('é'));
    assert_eq!(shown.agent, Some(ShortRef::new(RefKind::Agent, cast.n)));
    assert_eq!(store.tool_run_view(run).await.unwrap().content.len(), 4_000);

    // Pages join without a gap, and an item that changed is found by its place.
    let page = store.items(cast.session, Some(items[3].seq), 2).await.unwrap();
    assert_eq!(page, items[1..3]);
    assert_eq!(store.item_at(running).await.unwrap(), Some(items[2].clone()));
    assert_eq!(store.item_at(1).await.unwrap(), None);

    let turn = store.turn_view(cast.turn).await.unwrap();
    assert_eq!(
        (turn.status, turn.answer.as_deref()),
        (TurnStatus::Completed, Some("A summary of the worker."))
    );
    assert_eq!(store.messages(cast.session, None).await.unwrap().len(), 2);
    assert_eq!(store.messages(cast.session, Some(cast.task)).await.unwrap().len(), 2);
    assert_eq!(store.message_count(cast.session, Some(cast.task)).await.unwrap(), 2);
    store.close().await;
}

#[tokio::test]
async fn a_write_makes_evidence_stale() {
    let (_dir, store, ids, cast) = begun().await;
    let evidence = |n, run, write_seq| {
        cast.plain(EvidenceRecorded {
            session_id: cast.session,
            evidence: Evidence {
                id: EvidenceId::from_uuid(ids.next()),
                n,
                task_id: cast.task,
                claim: "all tests pass".into(),
                kind: EvidenceKind::CheckPassed { tool_run: run, baseline: None },
                tree: "t".into(),
                write_seq,
                command: Some("ctest".into()),
                exit_code: Some(0),
                tests: None,
                tests_before: None,
                artifact: None,
                weaker: false,
                note: "exit 0".into(),
            },
        })
    };
    let mut runs = Vec::new();
    for n in 1..=2 {
        let (run, call) = cast.call(&ids, n);
        store.ingest(call).await.unwrap();
        store.ingest(cast.result(&ids, n, run, "ok")).await.unwrap();
        runs.push(run);
        store.ingest(vec![evidence(n, run, store.turn(cast.turn).await.unwrap().write_seq)]).await.unwrap();
    }
    let views =
        store.evidence_views(EvidenceFilter { turn: Some(cast.turn), ..Default::default() }).await.unwrap();
    let shown: Vec<_> =
        views.iter().map(|view| (view.short.to_string(), view.stale, view.kind.as_str())).collect();
    assert_eq!(shown, [("e1".into(), true, "check_passed"), ("e2".into(), false, "check_passed")]);
    assert_eq!(views[1].run, Some(ShortRef::new(RefKind::ToolRun, 2)));
    let items = store.items(cast.session, None, 100).await.unwrap();
    assert_eq!(words(&items)[3], "e1: stale true");

    // What a run ended as does not change any more.
    let failed = ToolFailed {
        run_id: runs[0],
        status: air_contracts::tool::ToolStatus::Interrupted,
        error: air_contracts::AirError::internal("late"),
        content: Stored::Inline { value: String::new() },
        artifacts: Vec::new(),
        duration_ms: 0,
        reconciled: String::new(),
        refused: None,
    };
    store.ingest(vec![cast.event(failed)]).await.unwrap();
    let run = store.tool_run(runs[0]).await.unwrap();
    assert_eq!(run.status, Some(air_contracts::tool::ToolStatus::Ok));
    let again = store.tool_run_by_call(cast.turn, Some(cast.task), &run.call_id).await.unwrap();
    assert_eq!(again.as_ref(), Some(&run));
    assert_eq!(store.tool_run_by_call(cast.turn, None, &run.call_id).await.unwrap(), None);
    let filter = ToolRunFilter { turn: Some(cast.turn), limit: Some(1), ..Default::default() };
    assert_eq!(store.tool_runs(filter).await.unwrap()[0].n, 2);
    assert_replays(&store).await;
    store.close().await;
}

#[tokio::test]
async fn a_session_says_how_it_stands() {
    let (_dir, store, ids, cast) = begun().await;
    let state = async || store.session_view(cast.session).await.unwrap().state;
    assert_eq!(state().await, SessionState::Working);
    let (run, call) = cast.call(&ids, 1);
    store.ingest(call).await.unwrap();
    let approval = Approval {
        id: ApprovalId::from_uuid(ids.next()),
        n: store.next_ref(RefKind::Approval),
        session_id: cast.session,
        turn_id: cast.turn,
        task_id: Some(cast.task),
        agent_id: cast.agent,
        run_id: run,
        call_id: "toolu_q".into(),
        digest: "d".into(),
        subject: ApprovalSubject::Question { text: "Which?".into(), options: Vec::new(), free_text: true },
        asked_at: Timestamp::from_millis(1),
    };
    let id = approval.id;
    store.ingest(vec![cast.event(ApprovalRequested { approval })]).await.unwrap();
    let view = store.session_view(cast.session).await.unwrap();
    assert_eq!((view.state, view.open_approvals), (SessionState::WaitingForYou, vec!["a1".parse().unwrap()]));
    assert_eq!(view.title, "Let the parser accept empty input, and add a test for it");
    assert!((view.cost_usd - 0.0123).abs() < 1e-12);
    let found = store.approval_by_call(cast.turn, Some(cast.task), "toolu_q").await.unwrap().unwrap();
    assert_eq!(found.approval.id, id);

    store
        .ingest(vec![cast.event(ApprovalWithdrawn { approval_id: id, reason: "no need".into() })])
        .await
        .unwrap();
    assert_eq!(state().await, SessionState::Working);
    let second = TurnId::from_uuid(ids.next());
    let queued = TurnSubmitted { turn_id: second, n: 2, client_id: None, ..cast.submitted("next") };
    store
        .ingest(vec![cast.plain(queued), cast.plain(cast.ended(TurnStatus::Interrupted, ""))])
        .await
        .unwrap();
    assert_eq!(state().await, SessionState::Interrupted, "what is queued behind it waits");
    let unfinished = store.unfinished_turns().await.unwrap();
    assert_eq!(unfinished.iter().map(|turn| turn.id).collect::<Vec<_>>(), [second]);
    assert_eq!(store.turn_by_client_id(Some(cast.session), "client-1").await.unwrap().unwrap().id, cast.turn);
    store.ingest(vec![cast.plain(TurnStarted { turn_id: second })]).await.unwrap();
    assert_eq!(state().await, SessionState::Working);
    let end = TurnEnded { turn_id: second, ..cast.ended(TurnStatus::Answered, "42") };
    store.ingest(vec![cast.plain(end)]).await.unwrap();
    assert_eq!(state().await, SessionState::Done);
    store.ingest(vec![cast.plain(SessionClosed { session_id: cast.session })]).await.unwrap();
    assert_eq!(state().await, SessionState::Closed);
    let hud = store.hud(cast.session).await.unwrap();
    assert_eq!((hud.input_tokens, hud.cached_tokens, hud.workers), (312, 18_300, 1));
    assert_eq!(store.usage_result(Some(cast.session)).await.unwrap().total.requests, 1);
    store.close().await;
}

#[tokio::test]
async fn tasks_show_waves_attempts_and_blockers() {
    let (_dir, store, ids, cast) = begun().await;
    let add = async |n: u64, after: Vec<TaskId>| {
        let mut task = cast.spec();
        task.id = TaskId::from_uuid(ids.next());
        task.kind = TaskType::Test;
        task.dependencies = after;
        let id = task.id;
        store.ingest(vec![cast.plain(TaskCreated { session_id: cast.session, n, task })]).await.unwrap();
        id
    };
    let second = add(2, vec![cast.task]).await;
    let third = add(3, vec![second]).await;
    let beside = add(4, Vec::new()).await;
    let mut blocked = status(cast.task, TaskStatus::Blocked);
    blocked.summary = Some("half of it".into());
    blocked.blocker = Some(air_contracts::task::Blocker {
        task_id: cast.task,
        kind: "worker".into(),
        summary: "no compiler".into(),
        evidence: Vec::new(),
        options: Vec::new(),
    });
    let lost = AgentLost { agent_id: cast.agent, attempt_id: Some(cast.attempt), reason: "silent".into() };
    store.ingest(vec![cast.plain(lost), cast.plain(blocked)]).await.unwrap();

    let views = store.task_views(None, Some(cast.turn), 100).await.unwrap();
    let shown: Vec<_> = views.iter().map(|view| (view.id, view.wave, view.after.len())).collect();
    assert_eq!(shown, [(cast.task, 1, 0), (second, 2, 1), (third, 3, 1), (beside, 1, 0)]);
    assert_eq!(store.task_view(third).await.unwrap().wave, 3);
    assert_eq!(views[0].attempts[0].note, "silent");
    assert!(store.running_attempts().await.unwrap().is_empty());
    assert_eq!(store.agents(Some(cast.session), false).await.unwrap(), []);
    assert_eq!(store.agent_view(cast.agent).await.unwrap().state, "lost");

    store.ingest(vec![cast.plain(status(cast.task, TaskStatus::Ready))]).await.unwrap();
    let task = store.task(cast.task).await.unwrap();
    assert_eq!((task.status, task.blocker, task.summary.as_str()), (TaskStatus::Ready, None, "half of it"));
    store.close().await;
}

#[tokio::test]
async fn references_find_what_they_name() {
    let (_dir, store, _ids, cast) = begun().await;
    assert_eq!(store.resolve_session("s1").await.unwrap(), cast.session);
    assert_eq!(store.resolve_session("latest").await.unwrap(), cast.session);
    assert_eq!(store.resolve_turn("latest").await.unwrap(), cast.turn);
    assert_eq!(store.resolve_task(&cast.task.to_string()).await.unwrap(), cast.task);
    assert_eq!(store.resolve_agent("w1").await.unwrap(), cast.agent);
    let check = async |text: &str, code: &str| {
        let error = store.resolve_task(text).await.unwrap_err();
        assert_eq!(error.code, code, "{text}: {error}");
        assert!(!error.hints.is_empty());
    };
    check("k9", codes::TASK_NOT_FOUND).await;
    check("nonsense", codes::TASK_NOT_FOUND).await;
    check("latest", codes::TASK_NOT_FOUND).await;
    check("t1", codes::ID_WRONG_KIND).await;
    check(&cast.turn.to_string(), codes::ID_WRONG_KIND).await;
    store.close().await;
}

#[tokio::test]
async fn local_state_is_kept_outside_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_at(dir.path(), Clock::manual(7)).await;
    let session = SessionId::from_uuid(IdSource::new().next());
    assert_eq!(store.draft(session).await.unwrap(), "");
    store.set_draft(session, "half a tho").await.unwrap();
    store.set_draft(session, "half a thought").await.unwrap();
    store.set_ui_state("theme", &serde_json::json!({ "dark": true })).await.unwrap();
    store.close().await;
    let store = open(dir.path()).await;
    assert_eq!(store.draft(session).await.unwrap(), "half a thought");
    assert_eq!(store.ui_state("theme").await.unwrap()["dark"], true);
    assert!(store.ui_state("other").await.unwrap().is_null());
    assert_eq!(store.last_seq(), 0);
    assert_replays(&store).await;
    store.close().await;
}
