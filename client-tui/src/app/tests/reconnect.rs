//! A daemon that goes away and comes back, over fake connections.

use std::sync::{Arc, Mutex};

use air_contracts::AirError;
use air_contracts::api::ClientRole;
use air_contracts::api::{
    Draft, DraftGet, DraftSet, Empty, ItemList, Page, ProjectOpen, ProjectionSnapshotMethod,
    ProjectionSubscribe, SubscribeResult, TurnSubmit, UiState, UiStateGet, UiStateSet,
};
use air_contracts::error::codes;
use serde_json::{Value, json};

use super::{Bench, fixture};
use crate::app::event::{Effect, Event};
use crate::app::link;
use crate::attach::{AttachOptions, ConnectFuture, Connector, Programs};
use crate::rpc::{FakeClient, Notification, ProjectionClient};
use crate::text::style::Pen;

struct Daemons(Mutex<Vec<FakeClient>>);

impl Connector for Daemons {
    fn connect(&self, _: ClientRole) -> ConnectFuture<'_> {
        let next = self.0.lock().unwrap().pop();
        Box::pin(async move {
            match next {
                Some(client) => Ok(Arc::new(client) as Arc<dyn ProjectionClient>),
                None => Err(AirError::new(codes::DAEMON_UNREACHABLE, "aird does not answer")),
            }
        })
    }
}

struct NoPrograms;

impl Programs for NoPrograms {
    fn edit(&self, text: &str) -> air_contracts::Result<String> {
        Ok(text.to_owned())
    }

    fn page(&self, _: &str) -> air_contracts::Result<()> {
        Ok(())
    }
}

fn daemon(snapshot: Value, submitted: Arc<Mutex<Vec<String>>>) -> FakeClient {
    FakeClient::new()
        .on::<ProjectOpen>(|_| Ok(fixture::project()))
        .on::<ProjectionSnapshotMethod>(move |_| Ok(fixture::snapshot(snapshot.clone())))
        .on::<ProjectionSubscribe>(|params| Ok(SubscribeResult { seq: params.after_seq }))
        .on::<ItemList>(|_| Ok(Page::whole(Vec::new())))
        .on::<DraftGet>(|_| Ok(Draft::default()))
        .on::<DraftSet>(|_| Ok(Empty {}))
        .on::<UiStateGet>(|_| Ok(UiState::default()))
        .on::<UiStateSet>(|_| Ok(Empty {}))
        .on::<TurnSubmit>(move |params| {
            submitted.lock().unwrap().push(params.text);
            let result = json!({ "turn_id": fixture::id("turn", 13), "turn": "t13",
                "session_id": fixture::id("session", 3), "session": "s3", "seq": 60, "queued": false });
            Ok(serde_json::from_value(result).unwrap())
        })
}

/// Does what the loop does with effects, over fakes.
struct Driver {
    bench: Bench,
    options: AttachOptions,
    client: Option<Arc<dyn ProjectionClient>>,
}

impl Driver {
    async fn act(&mut self, effects: Vec<Effect>) {
        let mut queue: std::collections::VecDeque<Effect> = effects.into();
        while let Some(effect) = queue.pop_front() {
            let event = match effect {
                Effect::Connect { observer, start, .. } => {
                    match link::connect(&self.options, observer, start).await {
                        Ok((client, connected)) => {
                            self.client = Some(client);
                            Event::Connected(Box::new(connected))
                        }
                        // The next try is made by the test.
                        Err(error) => {
                            self.bench.event(Event::ConnectFailed(error));
                            continue;
                        }
                    }
                }
                Effect::Call(call) => {
                    let project = self.bench.app.project.as_ref().unwrap().id;
                    link::perform(self.client.clone().unwrap(), project, call).await
                }
                _ => continue,
            };
            queue.extend(self.bench.event(event));
        }
    }

    async fn connect(&mut self) {
        self.act(vec![Effect::Connect { after_ms: 0, observer: false, start: true }]).await;
    }

    async fn keys(&mut self, bytes: &str) {
        let effects = self.bench.keys(bytes);
        self.act(effects).await;
    }
}

#[tokio::test]
async fn a_restart_keeps_scroll_selection_and_typing() {
    let submitted = Arc::new(Mutex::new(Vec::new()));
    let mut first = fixture::working();
    let message = |n: u64| fixture::assistant(n, 100 + u32::try_from(n).unwrap(), &format!("message {n}"));
    first["items"] = json!((1..=60).map(message).collect::<Vec<_>>());
    let mut second = first.clone();
    second["seq"] = json!(70);
    second["items"] = json!((1..=64).map(message).collect::<Vec<_>>());
    let daemons = vec![daemon(second, Arc::clone(&submitted)), daemon(first, Arc::clone(&submitted))];
    let daemons = Arc::new(Daemons(Mutex::new(daemons)));
    let options = AttachOptions {
        connector: Arc::clone(&daemons) as Arc<dyn Connector>,
        programs: Arc::new(NoPrograms),
        folder: "/src/stats".into(),
        session: None,
        observer: false,
        plain: false,
        colour: false,
        ascii: false,
    };
    let mut driver = Driver { bench: Bench::start((80, 24), Pen::default(), false), options, client: None };
    driver.keys("before it is there\r").await;
    driver.connect().await;
    assert_eq!(*submitted.lock().unwrap(), ["before it is there"]);
    driver.keys("half a sentence\x1b").await;
    driver.keys("kkkkkkkkkkkkkkkkkkkkkkkk").await;
    let before = driver.bench.frame();
    let selected = driver.bench.app.transcript.selected;
    assert!(selected.is_some());

    let effects = driver.bench.event(Event::Lost { stopped: false });
    assert!(matches!(effects.as_slice(), [Effect::Connect { .. }]));
    driver.bench.later(2_000);
    assert!(driver.bench.frame().contains("↻ reconnecting 2 s"), "{}", driver.bench.frame());
    driver.keys("i, whole\r").await;
    assert_eq!(submitted.lock().unwrap().len(), 1);
    driver.connect().await;
    assert_eq!(driver.bench.app.model.seq, 70);
    assert_eq!(submitted.lock().unwrap()[1], "half a sentence, whole");
    assert!(driver.bench.app.editor.is_empty());
    assert_eq!(driver.bench.app.transcript.selected, None, "sending follows the end");
    assert!(before.contains("message 4") && driver.bench.frame().contains("message 64"));
}

#[tokio::test]
async fn a_restart_moves_nothing_that_is_looked_at() {
    let submitted = Arc::new(Mutex::new(Vec::new()));
    let mut first = fixture::working();
    let message = |n: u64| fixture::assistant(n, 100 + u32::try_from(n).unwrap(), &format!("message {n}"));
    first["items"] = json!((1..=120).map(message).collect::<Vec<_>>());
    let mut second = first.clone();
    second["seq"] = json!(400);
    // So much came meanwhile that the tail does not reach what is held.
    second["items"] = json!((261..=360).map(message).collect::<Vec<_>>());
    let reader = daemon(second, Arc::clone(&submitted)).on::<ItemList>(move |params| {
        let before = params.before.unwrap();
        let from = before.saturating_sub(100).max(1);
        let items = (from..before).map(message).map(|item| serde_json::from_value(item).unwrap());
        Ok(Page::whole(items.collect()))
    });
    let daemons = Arc::new(Daemons(Mutex::new(vec![reader, daemon(first, submitted)])));
    let options = AttachOptions {
        connector: daemons,
        programs: Arc::new(NoPrograms),
        folder: "/src/stats".into(),
        session: Some("s3".into()),
        observer: false,
        plain: false,
        colour: false,
        ascii: false,
    };
    let mut driver = Driver { bench: Bench::start((80, 24), Pen::default(), false), options, client: None };
    driver.connect().await;
    driver.keys("typed\x1b").await;
    driver.keys(&"k".repeat(30)).await;
    let body = |frame: String| frame.lines().skip(2).take(12).map(str::to_owned).collect::<Vec<_>>();
    let (before, selected) = (body(driver.bench.frame()), driver.bench.app.transcript.selected);
    let effects = driver.bench.event(Event::Lost { stopped: false });
    driver.act(effects).await;
    assert_eq!(body(driver.bench.frame()), before);
    assert_eq!((driver.bench.app.transcript.selected, driver.bench.app.editor.text()), (selected, "typed"));
    let held: Vec<u64> = driver.bench.app.model.items.keys().copied().collect();
    assert_eq!(held, (1..=360).collect::<Vec<u64>>(), "what lay between was fetched");
    assert_eq!(driver.bench.app.model.gap, None);
}

#[test]
fn a_daemon_that_was_stopped_is_started_only_for_a_message() {
    let mut bench = Bench::with((80, 24), fixture::snapshot(fixture::working()));
    let connects = |effects: Vec<Effect>| {
        let start = |effect: &Effect| match effect {
            Effect::Connect { start, .. } => Some(*start),
            _ => None,
        };
        effects.iter().filter_map(start).collect::<Vec<_>>()
    };
    assert_eq!(connects(bench.event(Event::Lost { stopped: true })), [false]);
    let gone = AirError::new(codes::DAEMON_UNREACHABLE, "aird does not answer");
    assert_eq!(connects(bench.event(Event::ConnectFailed(gone))), [false]);
    assert!(bench.frame().contains("aird was stopped; a message starts it"));
    assert_eq!(connects(bench.keys("go on\r")), [true]);
    assert_eq!(bench.app.outbox.len(), 1);
}

#[test]
fn a_resync_takes_a_new_snapshot_and_old_news_change_nothing() {
    let mut bench = Bench::with((80, 24), fixture::snapshot(fixture::working()));
    let old = fixture::changed(39, &[("session", fixture::session("done", &[]))]);
    bench.notify(Notification::ProjectionChanged(old));
    assert!(bench.app.model.is_working());
    let resync = json!({ "session_id": fixture::id("session", 3), "seq": 50 });
    let effects = bench.notify(Notification::StreamResync(serde_json::from_value(resync).unwrap()));
    assert!(
        matches!(effects.as_slice(), [Effect::Call(crate::app::event::Call::Snapshot { .. })]),
        "{effects:?}"
    );
}
