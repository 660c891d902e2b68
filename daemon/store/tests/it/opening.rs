//! What is opened, and what is refused untouched.

use std::os::unix::fs::PermissionsExt as _;

use air_contracts::error::codes;
use air_contracts::ids::{ProjectId, RefKind};
use air_rt::{Clock, IdSource};
use air_store::Store;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::samples::Cast;
use crate::{open, project};

async fn refused(dir: &std::path::Path, project: ProjectId) -> air_contracts::AirError {
    let path = dir.join("session.db");
    let before = std::fs::read(&path).unwrap();
    let error = Store::open(dir, project, Clock::system(), IdSource::new()).await.unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before, "the file was changed");
    assert!(error.message.contains("session.db"), "{error}");
    error
}

#[tokio::test]
async fn what_is_not_ours_is_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.db");
    let store = open(dir.path()).await;
    let cast = Cast::new(&IdSource::new(), store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    store.close().await;
    let whole = std::fs::read(&path).unwrap();
    let mode = std::fs::metadata(dir.path().join("artifacts")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "artifacts are private");

    let other = ProjectId::from_uuid(IdSource::new().next());
    assert_eq!(refused(dir.path(), other).await.code, codes::STORE_CORRUPT);

    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&path, &newer).unwrap();
    let error = refused(dir.path(), project()).await;
    assert_eq!(error.code, codes::STORE_NEWER);
    assert!(error.message.contains("version 99"), "{error}");

    std::fs::write(&path, b"this is no database, but some text that somebody put here").unwrap();
    assert_eq!(refused(dir.path(), project()).await.code, codes::STORE_CORRUPT);

    let mut torn = whole.clone();
    torn[100..whole.len() / 2].fill(0xa5);
    std::fs::write(&path, &torn).unwrap();
    assert_eq!(refused(dir.path(), project()).await.code, codes::STORE_CORRUPT);

    std::fs::write(&path, &whole).unwrap();
    let store = open(dir.path()).await;
    assert_eq!(store.last_seq(), cast.opening().len() as u64);
    store.close().await;
}

#[tokio::test]
async fn a_damaged_table_is_found_by_verify() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let cast = Cast::new(&IdSource::new(), store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    store.close().await;
    let options = SqliteConnectOptions::new().filename(dir.path().join("session.db"));
    let mut connection = options.connect().await.unwrap();
    connection
        .execute("UPDATE tasks SET status = 'completed'; DELETE FROM events WHERE seq = 3;")
        .await
        .unwrap();
    connection.close().await.unwrap();
    let store = open(dir.path()).await;
    let verdict = store.verify().await.unwrap();
    assert!(!verdict.equal);
    assert_eq!(verdict.problems, ["seq 2 is followed by 4"]);
    let tasks = verdict.tables.iter().find(|table| table.table == "tasks").unwrap();
    let difference = tasks.difference.as_deref().unwrap();
    assert!(difference.contains("status=completed") && difference.contains("status=running"), "{difference}");
    store.close().await;
}
