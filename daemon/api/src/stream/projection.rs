//! `projection/subscribe`: changed objects as events commit, and volatile text as it comes.
//!
//! The bus only says that something happened; what happened is read from the log by `seq`. A client that
//! falls behind is told to take a new snapshot, and until it has taken that in, nothing is read for it.

use std::collections::BTreeSet;

use air_contracts::Result;
use air_contracts::api::{
    PROJECTION_CHANGED, ProjectionChanged, STREAM_DELTA, STREAM_RESYNC, StreamDelta, StreamResync,
};
use air_contracts::event::EphemeralEvent;
use air_contracts::ids::SessionId;
use air_store::{BusItem, BusReceiver, EventQuery};
use futures_util::FutureExt as _;

use super::ProjectionSource;
use super::changes::{load, touched};
use crate::connection::Notifier;
use crate::outbox::Pushed;

/// Events that a stream catches up with; behind that, a new snapshot is cheaper.
const CATCH_UP: u32 = 500;
/// Bytes of text in one delta.
const DELTA_BYTES: usize = 16 << 10;

/// Follows a session from `after` until the connection or the store ends. Made for [`crate::Caller::stream`].
pub async fn follow_projection(source: ProjectionSource, session: SessionId, after: u64, notifier: Notifier) {
    let bus = source.store.subscribe();
    let mut stream = Stream { source, session, cursor: after, notifier, bus, held: None };
    if stream.cursor > stream.source.store.last_seq() {
        // A place in another life of the log: the client's objects are not of this one.
        let Ok(()) = stream.resync().await else { return };
    }
    let mut alive = stream.catch_up().await;
    while alive.is_ok() {
        alive = match stream.next().await {
            BusItem::Committed { last_seq } if last_seq > stream.cursor => stream.catch_up().await,
            BusItem::Committed { .. } => Ok(()),
            BusItem::Lagged => stream.catch_up().await,
            BusItem::Ephemeral(event) => stream.ephemeral(&event).await,
            BusItem::Closed => return,
        };
    }
}

struct Stream {
    source: ProjectionSource,
    session: SessionId,
    /// Events up to here are told of.
    cursor: u64,
    notifier: Notifier,
    bus: BusReceiver,
    /// An item that was taken off the bus and not yet looked at.
    held: Option<BusItem>,
}

/// The connection is gone.
struct Gone;

impl Stream {
    async fn next(&mut self) -> BusItem {
        match self.held.take() {
            Some(item) => item,
            None => self.bus.next().await,
        }
    }

    async fn catch_up(&mut self) -> Result<(), Gone> {
        let last = self.source.store.last_seq();
        if last <= self.cursor {
            return Ok(());
        }
        let query = EventQuery {
            after_seq: self.cursor,
            limit: CATCH_UP + 1,
            types: Vec::new(),
            session: Some(self.session),
        };
        let events = match self.source.store.events(query).await {
            Ok(events) => events,
            Err(error) => {
                tracing::warn!(%error, "a stream could not read the log");
                return self.resync().await;
            }
        };
        if events.len() > CATCH_UP as usize {
            return self.resync().await;
        }
        let seq = events.last().map_or(last, |event| event.seq.max(last));
        let mut objects = BTreeSet::new();
        for event in &events {
            touched(event, &mut objects);
        }
        drop(events);
        self.cursor = seq;
        if objects.is_empty() {
            return Ok(());
        }
        let changes = load(&self.source, self.session, objects).await;
        let changed = ProjectionChanged { session_id: self.session, seq, changes };
        match self.notifier.push(PROJECTION_CHANGED, &changed) {
            Pushed::Queued => Ok(()),
            Pushed::Full => self.resync().await,
            Pushed::Closed => Err(Gone),
        }
    }

    async fn ephemeral(&mut self, event: &EphemeralEvent) -> Result<(), Gone> {
        let Some(mut delta) = delta(event, self.session) else { return Ok(()) };
        // What else has come meanwhile goes in the same message.
        while self.held.is_none() && delta.text.len() < DELTA_BYTES {
            let Some(item) = self.bus.next().now_or_never() else { break };
            let more = match &item {
                BusItem::Ephemeral(event) => self::delta(event, self.session),
                _ => None,
            };
            match more {
                Some(more) if continues(&delta, &more) => delta.text.push_str(&more.text),
                _ => self.held = Some(item),
            }
        }
        match self.notifier.push(STREAM_DELTA, &delta) {
            Pushed::Queued => Ok(()),
            Pushed::Full => self.resync().await,
            Pushed::Closed => Err(Gone),
        }
    }

    /// Leaves one `stream/resync` in the queue, waits until the client has it, and goes on from there.
    async fn resync(&mut self) -> Result<(), Gone> {
        let seq = self.source.store.last_seq();
        let resync = StreamResync { session_id: self.session, seq };
        if !self.notifier.collapse(STREAM_RESYNC, &resync).await {
            return Err(Gone);
        }
        // What the bus holds is older than the snapshot that the client takes now, or is read by `cursor`.
        self.bus = self.source.store.subscribe();
        self.held = Some(BusItem::Lagged);
        self.cursor = seq;
        Ok(())
    }
}

fn continues(first: &StreamDelta, more: &StreamDelta) -> bool {
    let same = first.item == more.item && first.run == more.run && first.task == more.task;
    same && first.agent == more.agent && first.thinking == more.thinking && !more.reset
}

/// What a volatile event shows in this session.
fn delta(event: &EphemeralEvent, session: SessionId) -> Option<StreamDelta> {
    if event.session_id() != session {
        return None;
    }
    match event {
        EphemeralEvent::TextDelta { session_id, turn_id, task_id, agent_id, item, text, thinking } => {
            Some(StreamDelta {
                session_id: *session_id,
                turn: *turn_id,
                task: *task_id,
                agent: Some(*agent_id),
                item: Some(*item),
                run: None,
                text: text.clone(),
                thinking: *thinking,
                reset: false,
            })
        }
        EphemeralEvent::TextReset { session_id, turn_id, item } => Some(StreamDelta {
            session_id: *session_id,
            turn: *turn_id,
            task: None,
            agent: None,
            item: Some(*item),
            run: None,
            text: String::new(),
            thinking: false,
            reset: true,
        }),
        EphemeralEvent::OutputChunk { session_id, turn_id, run_id, text } => Some(StreamDelta {
            session_id: *session_id,
            turn: *turn_id,
            task: None,
            agent: None,
            item: None,
            run: Some(*run_id),
            text: text.clone(),
            thinking: false,
            reset: false,
        }),
        EphemeralEvent::Heartbeat { .. } => None,
    }
}
