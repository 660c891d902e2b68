//! The store with a real SQLite, real files and real processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod artifacts;
mod bus;
mod crash;
mod full_disk;
mod group_commit;
mod history;
mod log;
mod opening;
mod replay;
mod samples;
mod views;

use std::path::Path;

use air_contracts::ids::ProjectId;
use air_rt::{Clock, IdSource};
use air_store::Store;

/// The project of every test: one that is opened again must be the same.
fn project() -> ProjectId {
    "project_01936f0e-0000-7000-8000-000000000001".parse().unwrap()
}

async fn open(dir: &Path) -> Store {
    open_at(dir, Clock::system()).await
}

async fn open_at(dir: &Path, clock: Clock) -> Store {
    Store::open(dir, project(), clock, IdSource::new()).await.unwrap()
}

/// The log and the tables agree.
async fn assert_replays(store: &Store) {
    let verdict = store.verify().await.unwrap();
    assert!(verdict.equal, "{verdict:#?}");
    assert_eq!(verdict.events, store.last_seq());
}
