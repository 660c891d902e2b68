//! The log: places, batches, the bus.

use std::collections::HashSet;

use air_contracts::ids::RefKind;
use air_rt::IdSource;
use air_store::{EventQuery, Store};

use crate::samples::Cast;
use crate::{open, project};

async fn all(store: &Store) -> Vec<air_contracts::event::RuntimeEvent> {
    store.events(EventQuery { limit: 100_000, ..EventQuery::default() }).await.unwrap()
}

#[tokio::test]
async fn a_batch_is_read_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let ids = IdSource::new();
    let store = open(dir.path()).await;
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    let mut written = cast.opening();
    let (run, call) = cast.call(&ids, 1);
    written.extend(call);
    written.extend(cast.result(&ids, 1, run, "all tests passed"));
    let committed = store.ingest(written.clone()).await.unwrap();
    assert_eq!((committed.first_seq, committed.last_seq), (1, written.len() as u64));

    let read = all(&store).await;
    assert_eq!(read.len(), written.len());
    for (place, (event, new)) in read.iter().zip(&written).enumerate() {
        assert_eq!((event.seq, event.session_seq), (place as u64 + 1, place as u64 + 1));
        assert_eq!(event.body().unwrap(), new.body);
        assert_eq!((event.project_id, event.session_id), (project(), Some(cast.session)));
        assert_eq!((&event.source, &event.route), (&new.source, &new.route()));
    }
    let unique: HashSet<_> = read.iter().map(|event| event.id).collect();
    assert_eq!(unique.len(), read.len());

    let verdict = store.verify().await.unwrap();
    assert!(verdict.equal, "{verdict:#?}");
    store.close().await;
    let store = open(dir.path()).await;
    assert_eq!((store.last_seq(), store.next_ref(RefKind::ToolRun)), (written.len() as u64, 2));
    let more = store
        .ingest(vec![cast.plain(cast.ended(air_contracts::session::TurnStatus::Completed, "done"))])
        .await
        .unwrap();
    let read =
        store.events(EventQuery { after_seq: more.first_seq - 1, ..EventQuery::default() }).await.unwrap();
    assert_eq!(read[0].session_seq, written.len() as u64 + 1);
    store.close().await;
}
