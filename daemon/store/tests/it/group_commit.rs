//! One transaction for what is queued, and no call suffers from another.

use air_contracts::error::codes;
use air_contracts::event::{EventBody, EventSource, NewEvent, RuntimeStarted, SessionCreated};
use air_contracts::ids::{InstanceId, RefKind};
use air_contracts::session::SessionSettings;
use air_rt::IdSource;
use air_store::EventQuery;

use crate::samples::Cast;
use crate::{assert_replays, open};

fn started(ids: &IdSource) -> NewEvent {
    let body = RuntimeStarted { instance_id: InstanceId::from_uuid(ids.next()), version: "0.1.0".into() };
    NewEvent::of_project(EventSource::daemon(), body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_calls_share_commits_and_get_gapless_places() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let mut calls = tokio::task::JoinSet::new();
    for size in 0..64 {
        let (store, events) = (store.clone(), vec![started(&ids); 1 + size % 3]);
        calls.spawn(async move { (events.len() as u64, store.ingest(events).await.unwrap()) });
    }
    let mut places: Vec<(u64, u64)> = Vec::new();
    while let Some(done) = calls.join_next().await {
        let (events, place) = done.unwrap();
        assert_eq!(place.last_seq - place.first_seq + 1, events, "a call's events stay together");
        places.push((place.first_seq, place.last_seq));
    }
    places.sort_unstable();
    assert!(places.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{places:?}");
    assert!(store.commit_count() < 64, "{} commits", store.commit_count());
    assert_replays(&store).await;
    store.close().await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    let last = store.last_seq();

    let again = cast.plain(SessionCreated {
        session_id: cast.session,
        n: 99,
        settings: SessionSettings::default(),
        forked_from: None,
    });
    let stranger = Cast::new(&ids, 7);
    let orphan =
        stranger.event(stranger.message(&ids, air_contracts::message::MessageRole::User, Vec::new(), None));
    let disguised =
        EventBody::Unknown { kind: "turn.started".into(), version: 1, payload: serde_json::json!({}) };
    let disguised = NewEvent { body: disguised, ..started(&ids) };
    let bad = [again, orphan, disguised];
    let (good, first, second, third) = tokio::join!(
        store.ingest(vec![started(&ids)]),
        store.ingest(vec![started(&ids), bad[0].clone()]),
        store.ingest(vec![bad[1].clone()]),
        store.ingest(vec![bad[2].clone()]),
    );
    good.unwrap();
    for refused in [first, second, third] {
        assert_eq!(refused.unwrap_err().code, codes::EVENT_INVALID);
    }
    assert_eq!(store.last_seq(), last + 1, "nothing of a refused call is there");

    // Places go on without a gap, and the session's own count too.
    let done = store
        .ingest(vec![cast.event(crate::samples::status(cast.task, air_contracts::task::TaskStatus::Blocked))])
        .await;
    let seq = done.unwrap().last_seq;
    let events = store.events(EventQuery { after_seq: seq - 1, ..EventQuery::default() }).await.unwrap();
    assert_eq!(events[0].session_seq, cast.opening().len() as u64 + 1);
    assert_replays(&store).await;
    store.close().await;
}

#[tokio::test]
async fn ten_thousand_events() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    let start = std::time::Instant::now();
    while store.last_seq() < 10_000 {
        let mut batch = Vec::new();
        while batch.len() < 64 {
            let n = store.next_ref(RefKind::ToolRun);
            let (run, call) = cast.call(&ids, n);
            batch.extend(call);
            batch.extend(cast.result(&ids, n, run, "all tests passed"));
        }
        store.ingest(batch).await.unwrap();
    }
    let time = start.elapsed();
    println!("{} events in {time:?}, {:?} each", store.last_seq(), time / 10_000);
    let opened = std::time::Instant::now();
    let items = store.items(cast.session, None, 100).await.unwrap();
    println!("the newest 100 items in {:?}", opened.elapsed());
    assert_eq!(items.len(), 100);
    store.close().await;
}
