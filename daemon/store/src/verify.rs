//! The log, replayed into an empty database and compared with the tables as they are.

use std::path::{Path, PathBuf};

use air_contracts::api::{EventsVerifyResult, TableVerdict};
use air_contracts::event::EventBody;
use air_contracts::ids::SessionId;
use air_contracts::{AirError, Result};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor as _, Row as _};

use crate::Store;
use crate::apply::{Changes, DOMAIN_TABLES, Entry, apply, sql};
use crate::db::{self, database_error};
use crate::read::Columns;

/// Events of one step.
const STEP: i64 = 256;

/// Problems that are listed; more are counted.
const LISTED: usize = 50;

const READ: &str =
    "SELECT seq, at, session, type, version, payload FROM live.events WHERE seq > ? ORDER BY seq LIMIT ?";

struct Replay {
    connection: SqliteConnection,
    scratch: PathBuf,
    events: u64,
    last: i64,
    problems: Vec<String>,
    unlisted: usize,
}

impl Store {
    /// Replays the log into a scratch database and compares every domain table row by row. Nothing is changed;
    /// what is written meanwhile is not looked at.
    pub async fn verify(&self) -> Result<EventsVerifyResult> {
        let name = format!("verify-{}.db", self.inner.ids.next().simple());
        let scratch = self.inner.path.with_file_name(name);
        let result = self.verify_in(&scratch).await;
        if let Err(error) = std::fs::remove_file(&scratch) {
            tracing::warn!(%error, path = %scratch.display(), "the scratch database was not removed");
        }
        result
    }

    async fn verify_in(&self, scratch: &Path) -> Result<EventsVerifyResult> {
        let mut connection = db::open_scratch(scratch).await?;
        let failed = |error: sqlx::Error| database_error(scratch, &error);
        sqlx::query("ATTACH DATABASE ? AS live")
            .bind(self.inner.path.to_string_lossy().into_owned())
            .execute(&mut connection)
            .await
            .map_err(failed)?;
        // One transaction: all of it sees the same moment.
        connection.execute("BEGIN").await.map_err(failed)?;
        let mut replay = Replay {
            connection,
            scratch: scratch.to_owned(),
            events: 0,
            last: 0,
            problems: Vec::new(),
            unlisted: 0,
        };
        while replay.step().await? {}
        let mut tables = Vec::with_capacity(DOMAIN_TABLES.len());
        for (table, order) in DOMAIN_TABLES {
            tables.push(replay.compare(table, order).await?);
        }
        let _ = replay.connection.execute("ROLLBACK").await;
        db::close(replay.connection).await;
        if replay.unlisted > 0 {
            replay.problems.push(format!("and {} more", replay.unlisted));
        }
        let equal = replay.problems.is_empty() && tables.iter().all(|table| table.equal);
        Ok(EventsVerifyResult { equal, events: replay.events, tables, problems: replay.problems })
    }
}

impl Replay {
    fn problem(&mut self, text: String) {
        if self.problems.len() < LISTED {
            self.problems.push(text);
        } else {
            self.unlisted += 1;
        }
    }

    fn failed(&self, error: &sqlx::Error) -> AirError {
        database_error(&self.scratch, error)
    }

    /// Replays the next events. Whether there were any.
    async fn step(&mut self) -> Result<bool> {
        let query = sqlx::query(READ).bind(self.last).bind(STEP);
        let rows = query.fetch_all(&mut self.connection).await.map_err(|error| self.failed(&error))?;
        let mut changes = Changes::new();
        for row in &rows {
            self.event(Columns(row), &mut changes)?;
        }
        for (place, rows) in changes.finish()? {
            let done = sqlx::query(sql(place)).bind(rows).execute(&mut self.connection).await;
            if let Err(error) = done {
                let text = format!("events up to {} cannot be applied: {error}", self.last);
                self.problem(text);
            }
        }
        Ok(!rows.is_empty())
    }

    fn event(&mut self, row: Columns<'_>, changes: &mut Changes) -> Result<()> {
        let seq = row.number(0)?;
        if seq != self.last + 1 {
            let text = format!("seq {} is followed by {seq}", self.last);
            self.problem(text);
        }
        self.last = seq;
        self.events += 1;
        let session: Option<SessionId> = row.maybe_id(2)?;
        match row.body(3) {
            Ok(body) => self.apply(row, session, &body, changes)?,
            Err(error) => self.problem(format!("event {seq}: {}", error.message)),
        }
        Ok(())
    }

    fn apply(
        &self,
        row: Columns<'_>,
        session: Option<SessionId>,
        body: &EventBody,
        changes: &mut Changes,
    ) -> Result<()> {
        let seq = u64::try_from(self.last).unwrap_or(0);
        apply(Entry { seq, at: row.number(1)?, session, body }, changes);
        Ok(())
    }

    async fn compare(&mut self, table: &str, order: &str) -> Result<TableVerdict> {
        let rows = format!("SELECT (SELECT count(*) FROM live.{table}), (SELECT count(*) FROM main.{table})");
        let counts = sqlx::query(sqlx::AssertSqlSafe(rows))
            .fetch_one(&mut self.connection)
            .await
            .map_err(|error| self.failed(&error))?;
        let (live, replayed) = (Columns(&counts).count(0)?, Columns(&counts).count(1)?);
        let mut difference = (live != replayed).then(|| format!("{live} rows, the log gives {replayed}"));
        for (one, other, side) in [("live", "main", "stored"), ("main", "live", "replayed")] {
            if let Some(row) = self.only_in(table, order, one, other).await? {
                let text = format!("only {side}: {row}");
                difference = Some(difference.map_or(text.clone(), |before| format!("{before}; {text}")));
            }
        }
        Ok(TableVerdict { table: table.to_owned(), rows: live, equal: difference.is_none(), difference })
    }

    /// The first row of a table that the other database does not have, as text.
    async fn only_in(&mut self, table: &str, order: &str, one: &str, other: &str) -> Result<Option<String>> {
        let text = format!(
            "SELECT * FROM {one}.{table} EXCEPT SELECT * FROM {other}.{table} ORDER BY {order} LIMIT 1"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(text))
            .fetch_optional(&mut self.connection)
            .await
            .map_err(|error| self.failed(&error))?;
        Ok(row.map(|row| show(&row)))
    }
}

/// A row for people: `n=3 id=0192… status=running`.
fn show(row: &sqlx::sqlite::SqliteRow) -> String {
    use sqlx::Column as _;
    let mut shown = Vec::new();
    for column in row.columns() {
        let place = column.ordinal();
        let value = if let Ok(text) = row.try_get::<Option<String>, _>(place) {
            text.unwrap_or_else(|| "null".to_owned())
        } else if let Ok(number) = row.try_get::<i64, _>(place) {
            number.to_string()
        } else if let Ok(real) = row.try_get::<f64, _>(place) {
            real.to_string()
        } else {
            let bytes: &[u8] = row.try_get(place).unwrap_or_default();
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        shown.push(format!("{}={value}", column.name()));
    }
    shown.join(" ")
}
