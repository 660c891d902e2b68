//! A process that is killed while it writes: what it was told is on disk, is on disk.

use std::path::Path;
use std::process::Stdio;

use air_contracts::ids::RefKind;
use air_rt::IdSource;
use air_store::EventQuery;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::samples::Cast;
use crate::{assert_replays, open};

const FOLDER: &str = "AIR_STORE_TEST_CRASH_FOLDER";

/// Not a test by itself: the process that is killed. Prints the last place after each acknowledgement.
#[tokio::test]
async fn writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let store = open(Path::new(&dir)).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    loop {
        let n = store.next_ref(RefKind::ToolRun);
        let (run, call) = cast.call(&ids, n);
        store.ingest(call).await.unwrap();
        let done = store.ingest(cast.result(&ids, n, run, "all tests passed")).await.unwrap();
        println!("acknowledged {}", done.last_seq);
    }
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for round in 1..=3 {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "crash::writes_until_it_is_killed"])
            .env(FOLDER, dir.path())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut seen = 0;
        while seen < 20 * round {
            let line = lines.next_line().await.unwrap().expect("the child writes until it is killed");
            if let Some(seq) = line.split("acknowledged ").nth(1) {
                acknowledged = seq.trim().parse::<u64>().unwrap();
                seen += 1;
            }
        }
        child.kill().await.unwrap();
        // What it said after the last line that was waited for counts too.
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(seq) = line.split("acknowledged ").nth(1).and_then(|seq| seq.trim().parse().ok()) {
                acknowledged = seq;
            }
        }
        let store = open(dir.path()).await;
        assert!(store.last_seq() >= acknowledged, "{} of {acknowledged}", store.last_seq());
        let events = store.events(EventQuery { limit: 1_000_000, ..EventQuery::default() }).await.unwrap();
        assert!(events.iter().map(|event| event.seq).eq(1..=store.last_seq()), "a gap");
        assert_replays(&store).await;
        store.close().await;
    }
}
