//! Opening, writing to and closing a store.

use std::collections::HashMap;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::event::{EphemeralEvent, EventBody, NewEvent};
use air_contracts::ids::{ProjectId, SessionId};
use air_contracts::{AirError, Result};
use air_rt::{Clock, IdSource, OnCancel, Tasks};
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use tokio::sync::{mpsc, oneshot};

use crate::bus::{Bus, BusReceiver, Item};
use crate::db;
use crate::refs::Counters;
use crate::totals::Totals;
use crate::writer::{Ingest, Job, Prepared, QUEUE, Writer, closed};

/// The store of one project. Clones are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    project_id: ProjectId,
    pub(crate) path: PathBuf,
    pub(crate) artifacts: PathBuf,
    pub(crate) clock: Clock,
    pub(crate) ids: IdSource,
    pub(crate) reader: SqlitePool,
    pub(crate) jobs: mpsc::Sender<Job>,
    pub(crate) counters: Counters,
    pub(crate) totals: tokio::sync::Mutex<Totals>,
    bus: Bus,
    last_seq: Arc<AtomicU64>,
    commits: Arc<AtomicU64>,
    tasks: Tasks,
}

/// The places in the log that a batch took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    pub first_seq: u64,
    pub last_seq: u64,
}

/// Which events to read, in the order of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventQuery {
    pub after_seq: u64,
    /// At most this many; 1,000 where it is 0.
    pub limit: u32,
    /// Only these types; all where empty.
    pub types: Vec<String>,
    pub session: Option<SessionId>,
}

/// How long closing waits for what is queued.
const GRACE: Duration = Duration::from_secs(10);

impl Store {
    /// Opens the store in a folder, and makes it where there is none: `session.db` and `artifacts/`.
    ///
    /// # Errors
    /// `store.newer` for one that a newer build has migrated, `store.corrupt` for a file that is none; both leave
    /// it untouched.
    pub async fn open(dir: &Path, project_id: ProjectId, clock: Clock, ids: IdSource) -> Result<Self> {
        Self::open_with_page_size(dir, project_id, clock, ids, db::PAGE_SIZE).await
    }

    /// As [`Store::open`], with another page size for a new database: for measurements.
    #[doc(hidden)]
    pub async fn open_with_page_size(
        dir: &Path,
        project_id: ProjectId,
        clock: Clock,
        ids: IdSource,
        page_size: u32,
    ) -> Result<Self> {
        let artifacts = dir.join("artifacts");
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&artifacts);
        made.map_err(|error| AirError::io(artifacts.display(), &error))?;
        let path = dir.join("session.db");
        make_private(&path)?;
        let mut connection = db::open_writer(&path, page_size, &clock).await?;
        let failed = |error: sqlx::Error| db::database_error(&path, &error);
        check_project(&mut connection, project_id, &path).await?;
        let (counters, last_seq) = Counters::seed(&mut connection).await.map_err(failed)?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        let inner = Inner {
            project_id,
            reader: db::reader(&path),
            path,
            artifacts,
            clock,
            ids,
            jobs,
            counters,
            totals: tokio::sync::Mutex::default(),
            bus: Bus::new(),
            last_seq: Arc::new(AtomicU64::new(last_seq)),
            commits: Arc::default(),
            tasks: Tasks::root(),
        };
        let store = Self { inner: Arc::new(inner) };
        store.start(connection, queue);
        Ok(store)
    }

    fn start(&self, connection: SqliteConnection, queue: mpsc::Receiver<Job>) {
        let inner = &self.inner;
        let writer = Writer {
            connection,
            path: inner.path.clone(),
            clock: inner.clock.clone(),
            ids: inner.ids.clone(),
            bus: inner.bus.clone(),
            last_seq: Arc::clone(&inner.last_seq),
            commits: Arc::clone(&inner.commits),
            sessions: HashMap::new(),
        };
        inner.tasks.spawn("store-writer", OnCancel::Finish, writer.run(queue));
        let store = self.clone();
        inner.tasks.spawn("artifact-sweep", OnCancel::Abort, async move { store.sweep_daily().await });
    }

    /// Writes what is queued, ends the writer and closes all connections. Later calls fail with `store.failed`.
    pub async fn close(&self) {
        // The writer last: the last connection moves the WAL into the database, and readers may not write.
        self.inner.reader.close().await;
        let (reply, done) = oneshot::channel();
        if self.inner.jobs.send(Job::Close(reply)).await.is_ok() {
            let _ = done.await;
        }
        self.inner.tasks.shutdown(GRACE).await;
    }

    /// The project that this is the store of.
    pub fn project_id(&self) -> ProjectId {
        self.inner.project_id
    }

    /// The last place in the log; 0 for an empty one.
    pub fn last_seq(&self) -> u64 {
        self.inner.last_seq.load(Ordering::Acquire)
    }

    /// Transactions of this life.
    pub fn commit_count(&self) -> u64 {
        self.inner.commits.load(Ordering::Relaxed)
    }

    /// Writes events and applies them, all or none, and returns when they are on disk. No events: nothing happens.
    ///
    /// # Errors
    /// `event.invalid` for a payload that is not of its type or contradicts what is stored; `io.no_space` and
    /// `store.failed` when they could not be written. Nothing of the batch is there then.
    pub async fn ingest(&self, events: Vec<NewEvent>) -> Result<Committed> {
        if events.is_empty() {
            return Ok(Committed { first_seq: self.last_seq(), last_seq: self.last_seq() });
        }
        let events = events.into_iter().map(prepare).collect::<Result<Vec<_>>>()?;
        let (reply, answer) = oneshot::channel();
        self.inner.jobs.send(Job::Ingest(Ingest { events, reply })).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Tells the bus only.
    pub fn ingest_ephemeral(&self, event: EphemeralEvent) {
        self.inner.bus.send(Item::Ephemeral(Arc::new(event)));
    }

    /// A place on the bus, from now on.
    pub fn subscribe(&self) -> BusReceiver {
        self.inner.bus.subscribe()
    }
}

/// Serialises a payload. The type is its schema: what serialises is valid, and data without a type may not
/// carry the name of one that this build knows.
fn prepare(event: NewEvent) -> Result<Prepared> {
    if let EventBody::Unknown { kind, version, payload } = &event.body
        && !matches!(EventBody::parse(kind, *version, payload.clone())?, EventBody::Unknown { .. })
    {
        return Err(AirError::new(
            codes::EVENT_INVALID,
            format!("{kind} version {version} is a known type and came as data"),
        ));
    }
    Ok(Prepared { payload: event.body.payload_json()?, event })
}

/// Writes the project into a new store; refuses the store of another project.
/// SQLite gives its other files the mode of the database, so this one is made for the user alone.
fn make_private(path: &Path) -> Result<()> {
    let made = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.map(drop).map_err(|error| AirError::io(path.display(), &error))
}

async fn check_project(connection: &mut SqliteConnection, project: ProjectId, path: &Path) -> Result<()> {
    let failed = |error: sqlx::Error| db::database_error(path, &error);
    let found: Option<String> = sqlx::query_scalar("SELECT value FROM schema_meta WHERE key = 'project_id'")
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed)?;
    match found {
        Some(found) if found == project.to_string() => Ok(()),
        Some(found) => Err(db::corrupt(path, format_args!("it belongs to {found}, not to {project}"))),
        None => {
            let insert = "INSERT INTO schema_meta (key, value) VALUES ('project_id', ?)";
            sqlx::query(insert).bind(project.to_string()).execute(connection).await.map_err(failed)?;
            Ok(())
        }
    }
}
