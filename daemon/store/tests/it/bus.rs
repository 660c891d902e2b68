//! The bus: a notification. What is lost on it is read from the log.

use air_contracts::event::EphemeralEvent;
use air_contracts::ids::{MessageId, RefKind};
use air_rt::IdSource;
use air_store::{BusItem, EventQuery};

use crate::open;
use crate::samples::Cast;

#[tokio::test]
async fn ephemeral_events_are_heard_and_never_stored() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    let mut bus = store.subscribe();
    let committed = store.ingest(cast.opening()).await.unwrap();
    let event = EphemeralEvent::TextReset {
        session_id: cast.session,
        turn_id: cast.turn,
        item: MessageId::from_uuid(ids.next()),
    };
    store.ingest_ephemeral(event.clone());
    assert_eq!(bus.next().await, BusItem::Committed { last_seq: committed.last_seq });
    assert_eq!(bus.next().await, BusItem::Ephemeral(event.into()));
    assert_eq!(store.last_seq(), committed.last_seq);
    store.close().await;
    assert_eq!(bus.next().await, BusItem::Closed);
    assert_eq!(bus.next().await, BusItem::Closed);
    assert!(store.ingest(cast.opening()).await.is_err());
}

#[tokio::test]
async fn a_receiver_that_lags_reads_on_from_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let ids = IdSource::new();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    let mut bus = store.subscribe();
    for _ in 0..2_000 {
        store.ingest_ephemeral(EphemeralEvent::Heartbeat {
            session_id: cast.session,
            agent_id: cast.agent,
            rss_bytes: 1,
        });
    }
    store.ingest(cast.opening()).await.unwrap();
    assert_eq!(bus.next().await, BusItem::Lagged);
    let missed =
        store.events(EventQuery { session: Some(cast.session), ..EventQuery::default() }).await.unwrap();
    assert_eq!(missed.len(), cast.opening().len());
    let kinds = store
        .events(EventQuery { types: vec!["turn.started".into()], ..EventQuery::default() })
        .await
        .unwrap();
    assert_eq!(kinds.iter().map(|event| event.seq).collect::<Vec<_>>(), [3]);
    store.close().await;
}
