//! Reading: rows of SQLite as typed values.

use air_contracts::error::codes;
use air_contracts::event::EventBody;
use air_contracts::ids::*;
use air_contracts::{AirError, Result, Timestamp};
use serde::de::{DeserializeOwned, IntoDeserializer as _, value::Error as WordError};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row as _, Sqlite};

use crate::Store;
use crate::db;

/// A query with its parameters.
pub(crate) type Query<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// An id that is stored as 16 bytes.
pub(crate) trait Key: Sized {
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

macro_rules! keys {
    ($($id:ident)*) => {
        $(impl Key for $id {
            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                Self::from_slice(bytes)
            }
        })*
    };
}

keys! { SessionId TurnId MessageId TaskId AttemptId AgentId WorkspaceId ToolRunId EventId ArtifactId EvidenceId ApprovalId RequestId }

/// A row, read by the place of its columns.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a>(pub &'a SqliteRow);

fn broken(what: impl std::fmt::Display) -> AirError {
    AirError::new(codes::STORE_CORRUPT, format!("a row of the store cannot be read: {what}"))
}

impl Columns<'_> {
    pub(crate) fn text(self, place: usize) -> Result<String> {
        self.0.try_get(place).map_err(broken)
    }

    pub(crate) fn maybe_text(self, place: usize) -> Result<Option<String>> {
        self.0.try_get(place).map_err(broken)
    }

    pub(crate) fn number(self, place: usize) -> Result<i64> {
        self.0.try_get(place).map_err(broken)
    }

    pub(crate) fn maybe_number(self, place: usize) -> Result<Option<i64>> {
        self.0.try_get(place).map_err(broken)
    }

    pub(crate) fn real(self, place: usize) -> Result<f64> {
        self.0.try_get(place).map_err(broken)
    }

    /// A number that is never negative.
    pub(crate) fn count(self, place: usize) -> Result<u64> {
        u64::try_from(self.number(place)?).map_err(broken)
    }

    pub(crate) fn small(self, place: usize) -> Result<u32> {
        u32::try_from(self.number(place)?).map_err(broken)
    }

    pub(crate) fn time(self, place: usize) -> Result<Timestamp> {
        self.number(place).map(Timestamp::from_millis)
    }

    pub(crate) fn maybe_time(self, place: usize) -> Result<Option<Timestamp>> {
        Ok(self.maybe_number(place)?.map(Timestamp::from_millis))
    }

    pub(crate) fn id<K: Key>(self, place: usize) -> Result<K> {
        self.maybe_id(place)?.ok_or_else(|| broken("an id is missing"))
    }

    pub(crate) fn maybe_id<K: Key>(self, place: usize) -> Result<Option<K>> {
        let bytes: Option<&[u8]> = self.0.try_get(place).map_err(broken)?;
        bytes
            .map(|bytes| K::from_bytes(bytes).ok_or_else(|| broken("an id is not 16 bytes long")))
            .transpose()
    }

    /// A unit variant, from its word.
    pub(crate) fn word<T: DeserializeOwned>(self, place: usize) -> Result<T> {
        self.maybe_word(place)?.ok_or_else(|| broken("a word is missing"))
    }

    pub(crate) fn maybe_word<T: DeserializeOwned>(self, place: usize) -> Result<Option<T>> {
        let text: Option<&str> = self.0.try_get(place).map_err(broken)?;
        let read = |text: &str| T::deserialize(text.into_deserializer()).map_err(|e: WordError| broken(e));
        text.map(read).transpose()
    }

    pub(crate) fn json<T: DeserializeOwned>(self, place: usize) -> Result<T> {
        self.maybe_json(place)?.ok_or_else(|| broken("a value is missing"))
    }

    pub(crate) fn maybe_json<T: DeserializeOwned>(self, place: usize) -> Result<Option<T>> {
        let text: Option<&str> = self.0.try_get(place).map_err(broken)?;
        text.map(|text| serde_json::from_str(text).map_err(broken)).transpose()
    }

    /// The payload of an event, from its type, version and payload at three places.
    pub(crate) fn body(self, place: usize) -> Result<EventBody> {
        self.maybe_body(place)?.ok_or_else(|| broken("an event is missing"))
    }

    pub(crate) fn maybe_body(self, place: usize) -> Result<Option<EventBody>> {
        let kind: Option<&str> = self.0.try_get(place).map_err(broken)?;
        let Some(kind) = kind else { return Ok(None) };
        EventBody::parse(kind, self.small(place + 1)?, self.json(place + 2)?).map(Some)
    }
}

/// Takes the payload of a variant out of an event, or says that the row and its event do not match.
macro_rules! payload {
    ($body:expr, $variant:ident) => {
        match $body {
            air_contracts::event::EventBody::$variant(payload) => Ok(payload),
            other => Err($crate::read::mismatch(stringify!($variant), &other)),
        }
    };
}
pub(crate) use payload;

/// The error of a row that refers to an event of another type, or of one that this build does not know.
pub(crate) fn mismatch(wanted: &str, found: &EventBody) -> AirError {
    broken(format_args!("{wanted} was expected, its event is {} version {}", found.kind(), found.version()))
}

impl Store {
    /// All rows of a query.
    pub(crate) async fn rows<T>(
        &self,
        query: Query<'_>,
        read: impl Fn(Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = query.fetch_all(&self.inner.reader).await.map_err(|e| self.read_error(&e))?;
        rows.iter().map(|row| read(Columns(row))).collect()
    }

    /// The first row of a query.
    pub(crate) async fn row<T>(
        &self,
        query: Query<'_>,
        read: impl Fn(Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let row = query.fetch_optional(&self.inner.reader).await.map_err(|e| self.read_error(&e))?;
        row.map(|row| read(Columns(&row))).transpose()
    }

    pub(crate) fn read_error(&self, error: &sqlx::Error) -> AirError {
        match error {
            sqlx::Error::PoolClosed => crate::writer::closed(),
            other => db::database_error(&self.inner.path, other),
        }
    }
}
