//! The one task that writes. What is queued meanwhile goes into one transaction: batch and rows together.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use air_contracts::error::codes;
use air_contracts::event::NewEvent;
use air_contracts::ids::SessionId;
use air_contracts::{AirError, Result};
use air_rt::{Clock, IdSource};
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use crate::Committed;
use crate::batch::Batch;
use crate::bus::{Bus, Item};
use crate::db;

/// Events of one transaction, unless one call brings more.
const GROUP: usize = 256;

/// Calls that may wait for the writer before callers wait to queue.
pub(crate) const QUEUE: usize = 256;

/// An event whose payload has been serialised.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub event: NewEvent,
    pub payload: String,
}

/// What the writer is asked to do.
#[derive(Debug)]
pub(crate) enum Job {
    Ingest(Ingest),
    /// A change of local state, outside the log.
    Local {
        sql: &'static str,
        key: Key,
        value: String,
        reply: oneshot::Sender<Result<()>>,
    },
    Close(oneshot::Sender<()>),
}

/// The key of a row of local state.
#[derive(Debug)]
pub(crate) enum Key {
    Session(SessionId),
    Text(String),
}

#[derive(Debug)]
pub(crate) struct Ingest {
    pub events: Vec<Prepared>,
    pub reply: oneshot::Sender<Result<Committed>>,
}

/// State of the writer.
#[derive(Debug)]
pub(crate) struct Writer {
    pub connection: SqliteConnection,
    pub path: PathBuf,
    pub clock: Clock,
    pub ids: IdSource,
    pub bus: Bus,
    pub last_seq: Arc<AtomicU64>,
    pub commits: Arc<AtomicU64>,
    /// The last `session_seq` of the sessions that were written to.
    pub sessions: HashMap<SessionId, u64>,
}

impl Writer {
    /// Works until it is closed or nobody can ask any more.
    pub(crate) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut next = jobs.recv().await;
        let mut closed = None;
        while let Some(job) = next.take() {
            match job {
                Job::Ingest(first) => {
                    let (group, other) = gather(first, &mut jobs);
                    self.ingest(group).await;
                    next = other;
                }
                Job::Local { sql, key, value, reply } => {
                    let _ = reply.send(self.local(sql, key, value).await);
                }
                Job::Close(reply) => {
                    closed = Some(reply);
                    break;
                }
            }
            if next.is_none() {
                next = jobs.recv().await;
            }
        }
        jobs.close();
        self.bus.send(Item::Closed);
        db::close(self.connection).await;
        if let Some(reply) = closed {
            let _ = reply.send(());
        }
    }

    async fn ingest(&mut self, group: Vec<Ingest>) {
        let calls: Vec<&[Prepared]> = group.iter().map(|ingest| ingest.events.as_slice()).collect();
        match self.commit(&calls).await {
            Ok(places) => {
                for (ingest, place) in group.into_iter().zip(places) {
                    let _ = ingest.reply.send(Ok(place));
                }
            }
            // One call of several does not fit the tables: the others must not suffer.
            Err(error) if group.len() > 1 && error.is(codes::EVENT_INVALID) => {
                for ingest in group {
                    let result = self.commit(&[ingest.events.as_slice()]).await;
                    let _ = ingest.reply.send(result.map(|places| places[0]));
                }
            }
            Err(error) => {
                for ingest in group {
                    let _ = ingest.reply.send(Err(error.clone()));
                }
            }
        }
    }

    /// Writes the events of several calls in one transaction. On an error nothing of it is there.
    async fn commit(&mut self, calls: &[&[Prepared]]) -> Result<Vec<Committed>> {
        self.know_sessions(calls).await?;
        let before = self.last_seq.load(Ordering::Acquire);
        let mut batch = Batch::new(before, self.clock.millis(), &self.sessions);
        let places = calls.iter().map(|events| batch.call(events, &self.ids)).collect();
        let (last_seq, sessions) = match batch.execute(&mut self.connection, &self.path).await {
            Ok(done) => done,
            Err(error) => {
                // What was taken as new may not be: it is read again.
                self.sessions.clear();
                return Err(error);
            }
        };
        self.sessions.extend(sessions);
        self.last_seq.store(last_seq, Ordering::Release);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.bus.send(Item::Committed(last_seq));
        Ok(places)
    }

    /// Reads the last `session_seq` of sessions that this life has not written to.
    async fn know_sessions(&mut self, calls: &[&[Prepared]]) -> Result<()> {
        for prepared in calls.iter().flat_map(|events| events.iter()) {
            let Some(session) = prepared.event.session_id else { continue };
            if self.sessions.contains_key(&session) {
                continue;
            }
            let sql = "SELECT session_seq FROM events WHERE session = ? ORDER BY seq DESC LIMIT 1";
            let last: Option<i64> = match prepared.event.body {
                // Nothing can be older: spare a new session the search through the whole log.
                air_contracts::event::EventBody::SessionCreated(_) => None,
                _ => sqlx::query_scalar(sql)
                    .bind(session.as_bytes().to_vec())
                    .fetch_optional(&mut self.connection)
                    .await
                    .map_err(|error| db::database_error(&self.path, &error))?,
            };
            self.sessions.insert(session, last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0));
        }
        Ok(())
    }

    async fn local(&mut self, sql: &'static str, key: Key, value: String) -> Result<()> {
        let query = match key {
            Key::Session(session) => sqlx::query(sql).bind(session.as_bytes().to_vec()),
            Key::Text(text) => sqlx::query(sql).bind(text),
        };
        let done = query.bind(value).bind(self.clock.millis()).execute(&mut self.connection).await;
        done.map(|_| ()).map_err(|error| db::database_error(&self.path, &error))
    }
}

/// What else is queued, up to the size of a group; and the job that ended the group, if one did.
fn gather(first: Ingest, jobs: &mut mpsc::Receiver<Job>) -> (Vec<Ingest>, Option<Job>) {
    let mut size = first.events.len();
    let mut group = vec![first];
    while size < GROUP {
        match jobs.try_recv() {
            Ok(Job::Ingest(ingest)) => {
                size += ingest.events.len();
                group.push(ingest);
            }
            Ok(other) => return (group, Some(other)),
            Err(_) => break,
        }
    }
    (group, None)
}

/// The answer when there is no writer any more.
pub(crate) fn closed() -> AirError {
    AirError::new(codes::STORE_FAILED, "the store is closed")
}
