//! Requests to models.

use air_contracts::error::codes;
use air_contracts::event::ContextAssembled;
use air_contracts::ids::{RefKind, RequestId, SessionId, ShortRef};
use air_contracts::projection::RequestView;
use air_contracts::{AirError, Result, Timestamp};

use crate::Store;
use crate::read::{Columns, payload};

/// A request as it was assembled.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRow {
    pub assembled: ContextAssembled,
    /// Of `context.assembled`.
    pub seq: u64,
    pub at: Timestamp,
}

macro_rules! requests {
    ($tail:literal) => {
        concat!(
            "SELECT r.seq, e.at, e.type, e.version, e.payload FROM requests AS r JOIN events AS e ON e.seq = r.seq ",
            $tail
        )
    };
}

/// Rows of a list.
const LISTED: u32 = 100;

fn request(row: Columns<'_>) -> Result<RequestRow> {
    Ok(RequestRow {
        seq: row.count(0)?,
        at: row.time(1)?,
        assembled: payload!(row.body(2)?, ContextAssembled)?,
    })
}

impl Store {
    /// A request to a model. `request.not_found` where there is none.
    pub async fn request(&self, id: RequestId) -> Result<RequestRow> {
        let query = sqlx::query(requests!("WHERE r.id = ?")).bind(id.as_bytes().to_vec());
        let missing = || AirError::new(codes::REQUEST_NOT_FOUND, format!("no request {id}"));
        self.row(query, request).await?.ok_or_else(missing)
    }

    /// The requests of a session, the newest first, at most 100.
    pub async fn requests(&self, session: SessionId) -> Result<Vec<RequestView>> {
        let query = sqlx::query(requests!("WHERE r.session = ? ORDER BY r.seq DESC LIMIT ?"));
        let rows = self.rows(query.bind(session.as_bytes().to_vec()).bind(LISTED), request).await?;
        let tasks =
            self.numbers(rows.iter().filter_map(|row| row.assembled.task_id).map(|task| task.hex())).await?;
        let view = |row: &RequestRow| RequestView {
            id: row.assembled.request_id,
            short: ShortRef::new(RefKind::Request, row.assembled.n),
            role: row.assembled.role,
            task: row
                .assembled
                .task_id
                .and_then(|task| tasks.get(task.as_bytes()))
                .map(|n| ShortRef::new(RefKind::Task, *n)),
            model: row.assembled.model.clone(),
            at: row.at,
            tokens: row.assembled.tokens,
        };
        Ok(rows.iter().map(view).collect())
    }
}
