//! Projections and events over a real store.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use air_api::{Caller, ProjectionSource, Router, follow_events, follow_projection, projection_snapshot};
use air_contracts::api::{EventsFollow, ProjectionSnapshotMethod, ProjectionSubscribe, SubscribeResult};
use air_contracts::event::{
    EphemeralEvent, EventSource, NewEvent, SessionCreated, TurnEnded, TurnStarted, TurnSubmitted,
};
use air_contracts::ids::{AgentId, MessageId, ProjectId, RefKind, SessionId, TurnId};
use air_contracts::session::{SessionSettings, TurnOptions, TurnStatus};
use air_rt::{Clock, IdSource};
use air_store::Store;
use serde_json::{Value, json};

use crate::harness::{Client, Harness, wait_until};

struct Project {
    store: Store,
    ids: IdSource,
    session: SessionId,
    air: Harness,
    _dir: tempfile::TempDir,
}

fn routes(source: ProjectionSource) -> Router {
    let (subscribed, followed) = (source.clone(), source.store.clone());
    Router::new()
        .register::<ProjectionSnapshotMethod, _, _>(move |_, params| {
            let source = source.clone();
            async move {
                let session = source.store.resolve_session(&params.session).await?;
                projection_snapshot(&source, session).await
            }
        })
        .register::<ProjectionSubscribe, _, _>(move |caller: Caller, params| {
            let source = subscribed.clone();
            async move {
                let session = source.store.resolve_session(&params.session).await?;
                let seq = source.store.last_seq();
                caller.stream("subscribe", session.to_string(), move |notifier| {
                    follow_projection(source, session, params.after_seq, notifier)
                })?;
                Ok(SubscribeResult { seq })
            }
        })
        .register::<EventsFollow, _, _>(move |caller: Caller, params| {
            let store = followed.clone();
            async move {
                let session = match &params.session {
                    Some(text) => Some(store.resolve_session(text).await?),
                    None => None,
                };
                let seq = store.last_seq();
                caller.stream("follow", "events".into(), move |notifier| {
                    follow_events(store, session, params.after_seq, notifier)
                })?;
                Ok(SubscribeResult { seq })
            }
        })
}

impl Project {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ids = IdSource::new();
        let id = ProjectId::from_uuid(ids.next());
        let store = Store::open(dir.path(), id, Clock::system(), ids.clone()).await.unwrap();
        let source = ProjectionSource { store: store.clone(), hud: Arc::new(|hud| hud.workers = 7) };
        let air = Harness::of(routes(source));
        let mut project =
            Self { store, ids, session: SessionId::from_uuid(uuid::Uuid::nil()), air, _dir: dir };
        project.session = project.new_session().await;
        project
    }

    async fn new_session(&self) -> SessionId {
        let session_id = SessionId::from_uuid(self.ids.next());
        let n = self.store.next_ref(RefKind::Session);
        let created =
            SessionCreated { session_id, n, settings: SessionSettings::default(), forked_from: None };
        self.store.ingest(vec![NewEvent::new(session_id, EventSource::daemon(), created)]).await.unwrap();
        session_id
    }

    fn submitted(&self, session_id: SessionId) -> (TurnId, NewEvent) {
        let turn_id = TurnId::from_uuid(self.ids.next());
        let body = TurnSubmitted {
            session_id,
            turn_id,
            n: self.store.next_ref(RefKind::Turn),
            client_id: None,
            text: "do it".into(),
            attachments: vec![],
            options: TurnOptions::default(),
        };
        (turn_id, NewEvent::new(session_id, EventSource::daemon(), body))
    }

    /// A turn that was answered, in one commit.
    async fn turn(&self, session: SessionId) -> TurnId {
        let (turn_id, submitted) = self.submitted(session);
        let ended = TurnEnded {
            turn_id,
            status: TurnStatus::Answered,
            answer: "42".into(),
            blockers: vec![],
            error: None,
        };
        let event =
            |body: air_contracts::event::EventBody| NewEvent::new(session, EventSource::daemon(), body);
        let batch = vec![submitted, event(TurnStarted { turn_id }.into()), event(ended.into())];
        self.store.ingest(batch).await.unwrap();
        turn_id
    }

    fn delta(&self, session_id: SessionId, text: &str) {
        self.store.ingest_ephemeral(EphemeralEvent::TextDelta {
            session_id,
            turn_id: TurnId::from_uuid(uuid::Uuid::nil()),
            task_id: None,
            agent_id: AgentId::from_uuid(uuid::Uuid::nil()),
            item: MessageId::from_uuid(uuid::Uuid::nil()),
            text: text.into(),
            thinking: false,
        });
    }

    fn params(&self, after_seq: u64) -> Value {
        json!({ "project_id": self.store.project_id(), "session": self.session, "after_seq": after_seq })
    }

    async fn subscribed(&self, after_seq: u64) -> Client {
        let mut client = self.air.client("observer").await;
        let answer = client.call("projection/subscribe", self.params(after_seq)).await;
        assert_eq!(answer["result"]["seq"], self.store.last_seq(), "{answer}");
        client
    }
}

fn kinds(changed: &Value) -> Vec<&str> {
    let changes = changed["params"]["changes"].as_array().unwrap();
    changes.iter().map(|change| change["kind"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn many_events_change_each_object_once_and_a_snapshot_joins_on() {
    let project = Project::new().await;
    project.turn(project.session).await;
    let mut client = project.air.client("observer").await;
    let snapshot = client.call("projection/snapshot", project.params(0)).await;
    let snapshot = &snapshot["result"];
    assert_eq!(snapshot["turns"][0]["answer"], "42", "{snapshot}");
    assert_eq!(
        (&snapshot["hud"]["workers"], &snapshot["seq"]),
        (&json!(7), &json!(project.store.last_seq()))
    );

    client.call("projection/subscribe", project.params(snapshot["seq"].as_u64().unwrap())).await;
    let other = project.new_session().await;
    project.turn(other).await;
    let turn = project.turn(project.session).await;
    let changed = client.next().await.unwrap();
    assert_eq!(changed["method"], "projection/changed");
    assert_eq!(changed["params"]["seq"], project.store.last_seq());
    let kinds = kinds(&changed);
    assert_eq!(kinds.iter().filter(|kind| **kind == "session").count(), 1, "{changed}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "turn").count(), 1, "{changed}");
    let of_turn =
        changed["params"]["changes"].as_array().unwrap().iter().find(|change| change["kind"] == "turn");
    assert_eq!(of_turn.unwrap()["turn"]["id"], json!(turn));
    assert_eq!(of_turn.unwrap()["turn"]["status"], "answered");
}

#[tokio::test]
async fn text_comes_as_it_is_written_and_only_of_the_own_session() {
    let project = Project::new().await;
    let other = project.new_session().await;
    let mut client = project.subscribed(project.store.last_seq()).await;
    project.delta(other, "not for you");
    for part in ["one ", "two ", "three"] {
        project.delta(project.session, part);
    }
    let mut text = String::new();
    while text != "one two three" {
        let delta = client.next().await.unwrap();
        assert_eq!(delta["method"], "stream/delta");
        text.push_str(delta["params"]["text"].as_str().unwrap());
    }
}

#[tokio::test]
async fn a_client_far_behind_takes_a_new_snapshot_and_goes_on() {
    let project = Project::new().await;
    for _ in 0..200 {
        project.turn(project.session).await;
    }
    let mut client = project.subscribed(1).await;
    let resync = client.next().await.unwrap();
    assert_eq!(
        (&resync["method"], &resync["params"]["seq"]),
        (&json!("stream/resync"), &json!(project.store.last_seq()))
    );
    project.turn(project.session).await;
    assert_eq!(client.next().await.unwrap()["method"], "projection/changed");
    // A place that this log has not reached is of another life.
    let mut client = project.subscribed(1_000_000).await;
    assert_eq!(client.next().await.unwrap()["method"], "stream/resync");
}

#[tokio::test]
async fn a_stalled_subscriber_holds_up_nobody_and_finds_its_way_back() {
    let project = Project::new().await;
    let mut stalled = project.subscribed(project.store.last_seq()).await;
    let mut awake = project.subscribed(project.store.last_seq()).await;
    let big = "x".repeat(8_000);
    wait_until("the stalled stream collapses", || {
        project.delta(project.session, &big);
        project.air.counters.resyncs.load(Ordering::SeqCst) > 0
    })
    .await;
    let turn = project.turn(project.session).await;
    for client in [&mut awake, &mut stalled] {
        loop {
            let text = client.next().await.unwrap();
            let told = text["method"] == "projection/changed" && text.to_string().contains(&turn.to_string());
            let resync =
                text["method"] == "stream/resync" && text["params"]["seq"] == project.store.last_seq();
            if told || resync {
                break;
            }
        }
    }
}

#[tokio::test]
async fn events_are_followed_without_a_gap() {
    let project = Project::new().await;
    for _ in 0..80 {
        project.turn(project.session).await;
    }
    let mut client = project.air.client("observer").await;
    let params = json!({ "project_id": project.store.project_id(), "after_seq": 0 });
    client.call("events/follow", params).await;
    for _ in 0..5 {
        project.turn(project.session).await;
    }
    let mut next = 1;
    while next <= project.store.last_seq() {
        let appended = client.next().await.unwrap();
        assert_eq!(appended["method"], "events/appended");
        for event in appended["params"]["events"].as_array().unwrap() {
            assert_eq!(event["seq"], next);
            next += 1;
        }
    }
}
