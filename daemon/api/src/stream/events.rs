//! `events/follow`: the log, from a place on and as it grows. Nothing is left out: a slow client is waited for.

use air_contracts::api::{EVENTS_APPENDED, EventsAppended};
use air_contracts::ids::SessionId;
use air_store::{BusItem, EventQuery, Store};

use crate::connection::Notifier;
use crate::outbox::Pushed;

/// Events of one notification, at most.
const BATCH: u32 = 100;

/// Follows the log from `after` until the connection or the store ends. Made for [`crate::Caller::stream`].
pub async fn follow_events(store: Store, session: Option<SessionId>, after: u64, notifier: Notifier) {
    let mut bus = store.subscribe();
    let mut cursor = after;
    loop {
        let last = store.last_seq();
        let query = EventQuery { after_seq: cursor, limit: BATCH, types: Vec::new(), session };
        let events = match store.events(query).await {
            Ok(events) => events,
            Err(error) => {
                tracing::warn!(%error, "a stream could not read the log");
                return;
            }
        };
        let whole = events.len() < BATCH as usize;
        let newest = events.last().map_or(0, |event| event.seq);
        if !events.is_empty() && !send(&notifier, EventsAppended { events }).await {
            return;
        }
        // Where the batch was not full, all up to `last` was looked at, also what is of other sessions.
        cursor = if whole { newest.max(last).max(cursor) } else { newest };
        if whole && !wait(&mut bus, cursor).await {
            return;
        }
    }
}

/// Waits for events behind `cursor`; `false` when the store is closed.
async fn wait(bus: &mut air_store::BusReceiver, cursor: u64) -> bool {
    loop {
        match bus.next().await {
            BusItem::Committed { last_seq } if last_seq > cursor => return true,
            BusItem::Lagged => return true,
            BusItem::Closed => return false,
            BusItem::Committed { .. } | BusItem::Ephemeral(_) => {}
        }
    }
}

async fn send(notifier: &Notifier, appended: EventsAppended) -> bool {
    loop {
        match notifier.push(EVENTS_APPENDED, &appended) {
            Pushed::Queued => return true,
            Pushed::Closed => return false,
            Pushed::Full => {
                if !notifier.room().await {
                    return false;
                }
            }
        }
    }
}
