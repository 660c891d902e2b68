//! Durable events with their rows in batches of 64, and what a session of 100,000 events costs to open and to verify.
//!
//! With a second argument the database of the last run is kept there, so that another program can write the same
//! rows by itself for comparison.
//!
//!     cargo run --release -p air-store --example batches [folder]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/it/samples.rs"]
mod samples;

use std::path::Path;
use std::time::{Duration, Instant};

use air_contracts::event::NewEvent;
use air_contracts::ids::{ProjectId, RefKind};
use air_rt::{Clock, IdSource};
use air_store::Store;

use samples::Cast;

const EVENTS: usize = 20_000;
const BATCH: usize = 64;

fn history(store: &Store, ids: &IdSource) -> Vec<NewEvent> {
    let cast = Cast::new(ids, store.next_ref(RefKind::Session));
    let mut events = cast.opening();
    while events.len() < EVENTS {
        let n = store.next_ref(RefKind::ToolRun);
        let (run, call) = cast.call(ids, n);
        events.extend(call);
        events.extend(cast.result(ids, n, run, "all tests passed"));
    }
    events
}

async fn open(dir: &Path, ids: &IdSource) -> Store {
    Store::open(dir, ProjectId::from_uuid(ids.next()), Clock::system(), ids.clone()).await.unwrap()
}

async fn through_the_store(folder: &Path) -> Duration {
    let dir = tempfile::tempdir_in(folder).unwrap();
    let ids = IdSource::new();
    let store = open(dir.path(), &ids).await;
    let events = history(&store, &ids);
    let start = Instant::now();
    for batch in events.chunks(BATCH) {
        store.ingest(batch.to_vec()).await.unwrap();
    }
    let time = start.elapsed();
    store.close().await;
    if let Some(kept) = std::env::args().nth(2) {
        std::fs::copy(dir.path().join("session.db"), kept).unwrap();
    }
    time
}

async fn reading(folder: &Path) {
    let dir = tempfile::tempdir_in(folder).unwrap();
    let ids = IdSource::new();
    let store = open(dir.path(), &ids).await;
    for _ in 0..5 {
        for batch in history(&store, &ids).chunks(256) {
            store.ingest(batch.to_vec()).await.unwrap();
        }
    }
    let session = store.latest_session().await.unwrap().unwrap().id;
    store.close().await;
    let start = Instant::now();
    let store = Store::open(dir.path(), store.project_id(), Clock::system(), ids).await.unwrap();
    println!("{} events: opened in {:?}", store.last_seq(), start.elapsed());
    for what in ["first", "again"] {
        let start = Instant::now();
        let items = store.items(session, None, 100).await.unwrap().len();
        let read = start.elapsed();
        store.session_view(session).await.unwrap();
        let view = start.elapsed() - read;
        store.hud(session).await.unwrap();
        let hud = start.elapsed() - read - view;
        println!("  {what}: {items} items {read:?}, session {view:?}, line {hud:?}");
    }
    let start = Instant::now();
    let verdict = store.verify().await.unwrap();
    println!("  verify {:?}, equal: {}", start.elapsed(), verdict.equal);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("  {}", status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default());
    store.close().await;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, std::path::PathBuf::from);
    for _ in 0..3 {
        let time = through_the_store(&folder).await;
        println!("{EVENTS} events: store {time:?}, {:.1} us each", time.as_secs_f64() * 1e6 / EVENTS as f64);
    }
    reading(&folder).await;
}
