//! `events/*`.

use std::time::Duration;

use air_api::{Caller, follow_events};
use air_contracts::Result;
use air_contracts::api::{
    EventsFollowParams, EventsReadParams, EventsReadResult, EventsVerifyResult, ProjectRefParams,
    SubscribeResult,
};
use air_store::{BusItem, BusReceiver, EventQuery, Store};

use super::{limit, optional_session};
use crate::daemon::Daemon;
use crate::process::blocking;

/// The longest wait of one call.
const LONGEST_WAIT_MS: u64 = 30_000;

pub async fn read(daemon: &Daemon, _: &Caller, params: EventsReadParams) -> Result<EventsReadResult> {
    let project = daemon.project(params.project_id).await?;
    let session = optional_session(&project.store, params.session.as_deref()).await?;
    let limit = limit(params.limit, 100, 1_000);
    let mut query = EventQuery { after_seq: params.after_seq, limit, types: params.types, session };
    // Heard before the first look, so that nothing falls in between.
    let mut bus = project.store.subscribe();
    let first = page(&project.store, &query).await?;
    if !first.events.is_empty() || params.wait_ms == 0 {
        return Ok(first);
    }
    let wait = Duration::from_millis(params.wait_ms.min(LONGEST_WAIT_MS));
    query.after_seq = first.seq;
    let more = tokio::time::timeout(wait, until_some(&project.store, &mut bus, &mut query)).await;
    more.unwrap_or(Ok(EventsReadResult { events: Vec::new(), seq: query.after_seq, more: false }))
}

async fn until_some(
    store: &Store,
    bus: &mut BusReceiver,
    query: &mut EventQuery,
) -> Result<EventsReadResult> {
    loop {
        match bus.next().await {
            BusItem::Committed { last_seq } if last_seq <= query.after_seq => continue,
            BusItem::Ephemeral(_) => continue,
            BusItem::Committed { .. } | BusItem::Lagged => {}
            BusItem::Closed => return page(store, query).await,
        }
        let page = page(store, query).await?;
        if !page.events.is_empty() {
            return Ok(page);
        }
        query.after_seq = page.seq;
    }
}

async fn page(store: &Store, query: &EventQuery) -> Result<EventsReadResult> {
    let last = store.last_seq();
    let events = store.events(query.clone()).await?;
    let more = events.len() >= query.limit as usize;
    let newest = events.last().map_or(query.after_seq, |event| event.seq);
    // A page that is not full has looked at all there is, also at what the filter left out.
    let seq = if more { newest } else { newest.max(last) };
    Ok(EventsReadResult { events, seq, more })
}

pub async fn follow(daemon: &Daemon, caller: &Caller, params: EventsFollowParams) -> Result<SubscribeResult> {
    let project = daemon.project(params.project_id).await?;
    let session = optional_session(&project.store, params.session.as_deref()).await?;
    let (store, seq) = (project.store.clone(), project.store.last_seq());
    let key = format!("events {} {session:?}", project.id);
    caller.stream("events/follow", key, move |notifier| {
        follow_events(store, session, params.after_seq, notifier)
    })?;
    Ok(SubscribeResult { seq })
}

pub async fn verify(daemon: &Daemon, _: &Caller, params: ProjectRefParams) -> Result<EventsVerifyResult> {
    let store = daemon.project(params.project_id).await?.store.clone();
    // A replay computes for as long as the log is.
    blocking(move |runtime| runtime.block_on(store.verify())).await
}
