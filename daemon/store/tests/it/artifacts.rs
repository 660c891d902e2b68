//! Artifacts on a real file system.

use std::path::{Path, PathBuf};

use air_contracts::artifact::{INLINE_LIMIT, Stored};
use air_contracts::error::codes;
use air_contracts::event::EventSource;
use air_contracts::ids::RefKind;
use air_rt::{Clock, IdSource};

use crate::samples::{Cast, completed};
use crate::{assert_replays, open, open_at};

fn files(dir: &Path) -> Vec<PathBuf> {
    let list =
        |path: &Path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut all: Vec<PathBuf> = list(&dir.join("artifacts"))
        .into_iter()
        .filter(|path| path.is_dir())
        .flat_map(|home| list(&home))
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn bytes_come_back_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    let artifact = store.put_artifact(&bytes, "application/octet-stream", "output of r1").await.unwrap();
    let same = store.put_artifact(&bytes, "application/octet-stream", "output of r2").await.unwrap();
    assert_eq!((artifact.size, &artifact.hash), (100_000, &same.hash));
    assert_ne!(artifact.id, same.id);
    assert_eq!(files(dir.path()).len(), 1, "the same content is stored once");

    assert_eq!(store.read_artifact(&artifact).await.unwrap(), bytes);
    assert_eq!(store.read_artifact_range(&artifact, 99_990, 100).await.unwrap(), &bytes[99_990..]);

    assert_eq!(store.find_artifact(artifact.short()).await.unwrap_err().code, codes::ARTIFACT_NOT_FOUND);
    store.ingest(vec![store.artifact_event(&artifact, None, None, EventSource::daemon())]).await.unwrap();
    for text in [artifact.short(), &artifact.id.to_string(), &artifact.hash.to_uppercase()] {
        assert_eq!(store.find_artifact(text).await.unwrap(), artifact);
    }
    assert!(store.find_artifact("00").await.unwrap_err().hints[0].contains("6 digits"));

    let path = &files(dir.path())[0];
    std::fs::write(path, b"something else").unwrap();
    let error = store.read_artifact(&artifact).await.unwrap_err();
    assert_eq!(error.code, codes::ARTIFACT_CORRUPT);
    assert!(error.message.contains("output of r1"), "{error}");
    std::fs::remove_file(path).unwrap();
    assert_eq!(store.read_artifact(&artifact).await.unwrap_err().code, codes::ARTIFACT_NOT_FOUND);
    store.close().await;
}

#[tokio::test]
async fn a_large_value_becomes_an_artifact() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    for size in [10, INLINE_LIMIT + 1] {
        let text = "x".repeat(size);
        let (stored, artifact) = store.store_value(text.clone(), "a text").await.unwrap();
        assert_eq!(artifact.is_some(), size > INLINE_LIMIT);
        assert_eq!(matches!(stored, Stored::Artifact { .. }), size > INLINE_LIMIT);
        assert_eq!(store.load_value(&stored).await.unwrap(), text);
    }
    store.close().await;
}

#[tokio::test]
async fn only_old_files_that_no_event_names_are_swept() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    let recorded = store.put_artifact(b"recorded", "text/plain", "recorded").await.unwrap();
    let named = store.put_artifact(b"named in a result only", "text/plain", "named").await.unwrap();
    let orphan = store.put_artifact(b"orphan", "text/plain", "orphan").await.unwrap();
    let (run, call) = cast.call(&ids, 1);
    let mut events = cast.opening();
    events.extend(call);
    events.push(store.artifact_event(&recorded, Some(cast.session), Some(run), EventSource::daemon()));
    let mut result = completed(run, "done");
    result.artifacts = vec![named.clone()];
    events.push(cast.event(result));
    store.ingest(events).await.unwrap();
    let leftover = files(dir.path())[0].with_file_name("0123.tmp");
    std::fs::write(&leftover, b"half").unwrap();

    assert_eq!(store.sweep_artifacts().await.unwrap(), 0, "young files are left alone");
    assert_replays(&store).await;
    store.close().await;

    let later = Clock::manual(Clock::system().millis() + 2 * 3_600_000);
    let store = open_at(dir.path(), later).await;
    assert_eq!(store.sweep_artifacts().await.unwrap(), 2);
    assert!(!leftover.exists());
    assert_eq!(store.read_artifact(&recorded).await.unwrap(), b"recorded");
    assert_eq!(store.read_artifact(&named).await.unwrap(), b"named in a result only");
    assert_eq!(store.read_artifact(&orphan).await.unwrap_err().code, codes::ARTIFACT_NOT_FOUND);
    store.close().await;
}
