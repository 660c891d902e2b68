//! The database file: opening, refusing what is not ours, migrations, errors.

use std::path::{Path, PathBuf};
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use air_rt::Clock;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

/// The version that the newest migration sets as `user_version`.
pub(crate) const SCHEMA_VERSION: i64 = 1;

/// Bytes of a page. Most of what a commit writes is whole pages of which little changed, so the smallest page writes
/// least: a third of what SQLite's default of 4,096 writes (`examples/page_size.rs`).
pub(crate) const PAGE_SIZE: u32 = 512;

/// Connections that read, opened when they are needed.
const READERS: u32 = 3;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// Where `user_version` lies in the first page, big-endian (SQLite file format, section 1.3).
const HEADER_VERSION: std::ops::Range<usize> = 60..64;
const HEADER: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false)
        .busy_timeout(Duration::from_secs(5))
        .disable_statement_logging()
        .pragma("mmap_size", "0")
}

fn writer_options(path: &Path, page_size: u32) -> SqliteConnectOptions {
    options(path)
        .create_if_missing(true)
        .page_size(page_size)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .statement_cache_capacity(24)
        .pragma("cache_size", "-1024")
        .pragma("wal_autocheckpoint", (1_024 * 1_024 / page_size).to_string())
}

/// The pool that reads; no connection is made yet.
pub(crate) fn reader(path: &Path) -> SqlitePool {
    let options = options(path).read_only(true).statement_cache_capacity(48).pragma("cache_size", "-512");
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .min_connections(0)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .acquire_timeout(Duration::from_secs(30))
        .connect_lazy_with(options)
}

/// Opens the one connection that writes, and brings the database to this build's version.
///
/// # Errors
/// `store.newer` and `store.corrupt` leave the file as it is.
pub(crate) async fn open_writer(path: &Path, page_size: u32, clock: &Clock) -> Result<SqliteConnection> {
    let fresh = check_header(path)?;
    let failed = |error: sqlx::Error| database_error(path, &error);
    let mut connection = writer_options(path, page_size).connect().await.map_err(failed)?;
    let version = version(&mut connection).await.map_err(failed)?;
    if version > SCHEMA_VERSION {
        return Err(newer(path, version));
    }
    if version < SCHEMA_VERSION {
        if version > 0 {
            back_up(path, &mut connection, version, clock).await?;
        } else if !fresh && has_tables(&mut connection).await.map_err(failed)? {
            return Err(corrupt(path, "it holds tables that are not AirCoding's"));
        }
        MIGRATIONS
            .run(&mut connection)
            .await
            .map_err(|error| AirError::new(codes::STORE_FAILED, format!("{}: {error}", path.display())))?;
    }
    Ok(connection)
}

/// An empty database with this build's tables, for replay. No durability.
pub(crate) async fn open_scratch(path: &Path) -> Result<SqliteConnection> {
    let failed = |error: sqlx::Error| database_error(path, &error);
    let options = options(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Off)
        .synchronous(SqliteSynchronous::Off);
    let mut connection = options.connect().await.map_err(failed)?;
    MIGRATIONS.run(&mut connection).await.map_err(|error| AirError::internal(error.to_string()))?;
    Ok(connection)
}

/// Whether there is nothing yet. Reads the header only.
fn check_header(path: &Path) -> Result<bool> {
    use std::io::Read as _;
    let mut header = Vec::with_capacity(HEADER);
    match std::fs::File::open(path) {
        Ok(file) => {
            file.take(HEADER as u64).read_to_end(&mut header).map_err(|e| AirError::io(path.display(), &e))?
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(AirError::io(path.display(), &error)),
    };
    if header.is_empty() {
        return Ok(true);
    }
    if !header.starts_with(MAGIC) || header.len() < HEADER {
        return Err(corrupt(path, "it is not a SQLite database"));
    }
    let version = header[HEADER_VERSION].iter().fold(0_i64, |sum, byte| sum << 8 | i64::from(*byte));
    if version > SCHEMA_VERSION {
        return Err(newer(path, version));
    }
    Ok(false)
}

async fn version(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar("PRAGMA user_version").fetch_one(connection).await
}

async fn has_tables(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name NOT LIKE '\\_sqlx%' ESCAPE '\\')";
    sqlx::query_scalar(sql).fetch_one(connection).await
}

/// A copy of the database as it was before a migration, in `backups/` beside it.
async fn back_up(path: &Path, connection: &mut SqliteConnection, version: i64, clock: &Clock) -> Result<()> {
    let folder = path.parent().map_or_else(|| PathBuf::from("backups"), |dir| dir.join("backups"));
    std::fs::create_dir_all(&folder).map_err(|e| AirError::io(folder.display(), &e))?;
    let target = folder.join(format!("session-v{version}-{}.db", clock.millis()));
    let text = target.to_string_lossy().replace('\'', "''");
    connection
        .execute(AssertSqlSafe(format!("VACUUM INTO '{text}'")))
        .await
        .map_err(|error| database_error(&target, &error))?;
    Ok(())
}

fn newer(path: &Path, version: i64) -> AirError {
    let text =
        format!("{} has version {version}; this build reads up to version {SCHEMA_VERSION}", path.display());
    AirError::new(codes::STORE_NEWER, text).hint("install a newer AirCoding; nothing was changed in the file")
}

/// The error of a file whose content cannot be what this build wrote.
pub(crate) fn corrupt(path: &Path, why: impl std::fmt::Display) -> AirError {
    AirError::new(codes::STORE_CORRUPT, format!("{}: {why}", path.display()))
        .hint("nothing was changed in the file; move it away to begin a new log, or put a copy in its place")
}

/// A row without something it needs (SQLITE_CONSTRAINT_NOTNULL).
const NOT_NULL: i64 = 1_299;

/// The error of a statement on a database: out of space, corrupt, refused by a constraint, or failed.
pub(crate) fn database_error(path: &Path, error: &sqlx::Error) -> AirError {
    let code = match error {
        sqlx::Error::Database(error) => error.code().and_then(|code| code.parse::<i64>().ok()),
        _ => None,
    };
    let text = format!("{}: {error}", path.display());
    // The primary code is the low byte (https://sqlite.org/rescode.html).
    match code.map(|code| code & 0xff) {
        Some(11 | 26) => corrupt(path, error),
        Some(13) => AirError::new(codes::IO_NO_SPACE, text).retryable(true),
        Some(19) if code == Some(NOT_NULL) => {
            AirError::new(codes::EVENT_INVALID, text).hint("the log holds no such session or task")
        }
        Some(19) => AirError::new(codes::EVENT_INVALID, text),
        _ => AirError::new(codes::STORE_FAILED, text),
    }
}

/// Closes a connection; the last one of a database moves its WAL into it.
pub(crate) async fn close(connection: SqliteConnection) {
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "the database was not closed in order");
    }
}
