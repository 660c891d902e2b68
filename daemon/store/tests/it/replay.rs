//! Whatever happens, in whatever batches: the log gives the tables again.

use std::collections::HashSet;

use air_contracts::event::{EventBody, NewEvent};
use air_store::Store;
use proptest::prelude::*;

use crate::history::History;
use crate::{assert_replays, open};

/// Writes events in batches whose sizes come round again.
async fn ingest(store: &Store, events: &[NewEvent], sizes: &[usize]) {
    let mut rest = events;
    for size in sizes.iter().cycle() {
        let (batch, later) = rest.split_at((*size).min(rest.len()));
        store.ingest(batch.to_vec()).await.unwrap();
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
}

fn on_a_store(test: impl AsyncFnOnce(Store)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).await;
        test(store.clone()).await;
        store.close().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replay_gives_the_tables_again(
        steps in prop::collection::vec((any::<u16>(), any::<u16>()), 1..250),
        sizes in prop::collection::vec(1_usize..60, 1..8),
    ) {
        let mut history = History::new();
        steps.iter().for_each(|(kind, random)| history.step(*kind, *random));
        on_a_store(async |store| {
            ingest(&store, &history.events, &sizes).await;
            assert_replays(&store).await;
        });
    }
}

#[test]
fn every_type_of_event_is_replayed_and_shown() {
    let mut history = History::new();
    for kind in 0..8 {
        (0..840).for_each(|random| history.step(kind, random));
    }
    let kinds: HashSet<&str> = history.events.iter().map(|event| event.body.kind()).collect();
    let missing: Vec<_> = EventBody::TYPES.iter().filter(|(kind, _)| !kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    on_a_store(async |store| {
        ingest(&store, &history.events, &[64]).await;
        assert_replays(&store).await;
        for session in store.session_views(1_000).await.unwrap() {
            let mut before = None;
            loop {
                let items = store.items(session.id, before, 70).await.unwrap();
                let Some(first) = items.first() else { break };
                assert!(items.is_sorted_by_key(|item| item.seq));
                before = Some(first.seq);
            }
        }
    });
}
