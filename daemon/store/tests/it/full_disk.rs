//! A disk that is full: callers hear of it, nothing half-written stays, and writing goes on afterwards.

use std::path::Path;
use std::process::Command;

use air_contracts::error::codes;
use air_contracts::ids::RefKind;
use air_rt::IdSource;

use crate::samples::Cast;
use crate::{assert_replays, open};

/// A file system of 1 MB, gone with the value.
struct TinyDisk<'a>(&'a Path);

impl<'a> TinyDisk<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(at).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(at))
    }
}

impl Drop for TinyDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_refuses_batches_and_loses_none() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_disk) = TinyDisk::mount(dir.path()) else {
        println!("skipped: this user may not mount a tmpfs");
        return;
    };
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    let ballast = dir.path().join("ballast");
    std::fs::write(&ballast, vec![0_u8; 200_000]).unwrap();

    let mut acknowledged = store.last_seq();
    let error = loop {
        let n = store.next_ref(RefKind::ToolRun);
        let (run, mut events) = cast.call(&ids, n);
        events.extend(cast.result(&ids, n, run, &"x".repeat(4_000)));
        match store.ingest(events).await {
            Ok(done) => acknowledged = done.last_seq,
            Err(error) => break error,
        }
        assert!(acknowledged < 10_000, "1 MB holds no 10,000 events");
    };
    assert!([codes::IO_NO_SPACE, codes::STORE_FAILED].contains(&error.code.as_str()), "{error:?}");
    assert!(error.message.contains("session.db"), "{error}");
    assert_eq!(store.last_seq(), acknowledged);

    std::fs::remove_file(&ballast).unwrap();
    let n = store.next_ref(RefKind::ToolRun);
    let (_, call) = cast.call(&ids, n);
    assert_eq!(store.ingest(call).await.unwrap().first_seq, acknowledged + 1, "the same writer goes on");
    let last = store.last_seq();
    store.close().await;
    let store = open(dir.path()).await;
    assert_eq!(store.last_seq(), last);
    let verdict = store.verify().await;
    // The scratch database may not fit on so small a disk.
    if verdict.is_ok() {
        assert_replays(&store).await;
    }
    store.close().await;
}
