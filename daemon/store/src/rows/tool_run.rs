//! Tool runs.

use air_contracts::artifact::{ArtifactRef, Stored};
use air_contracts::error::codes;
use air_contracts::event::{CommandOutcome, EventBody, ToolCompleted, ToolFailed, ToolStarted};
use air_contracts::ids::{EvidenceId, SessionId, TaskId, ToolRunId, TurnId};
use air_contracts::path::WirePath;
use air_contracts::tool::ToolStatus;
use air_contracts::{AirError, Result, Timestamp};
use serde_json::Value;

use crate::Store;
use crate::apply::call_hash;
use crate::read::{Columns, mismatch};

/// A tool run: how it began, and how it ended where it has. Fields of its beginning are reached directly (`run.tool`).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRunRow {
    pub started: ToolStarted,
    /// Of `tool.started`, or of the `tool.failed` that refused it.
    pub seq: u64,
    pub started_at: Timestamp,
    /// `None` while it runs.
    pub status: Option<ToolStatus>,
    pub summary: String,
    /// What the model reads.
    pub content: Option<Stored<String>>,
    pub artifacts: Vec<ArtifactRef>,
    pub evidence: Vec<EvidenceId>,
    pub exit_code: Option<i32>,
    pub written: Vec<WirePath>,
    pub may_have_written: bool,
    pub duration_ms: Option<u64>,
    pub error: Option<AirError>,
    /// How its outcome was found out, where a crash lay between.
    pub reconciled: String,
    pub command: Option<CommandOutcome>,
    pub data: Value,
    pub ended_at: Option<Timestamp>,
}

impl std::ops::Deref for ToolRunRow {
    type Target = ToolStarted;

    fn deref(&self) -> &ToolStarted {
        &self.started
    }
}

/// Which tool runs: what is given must match. The newest `limit` are returned, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolRunFilter {
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    pub task: Option<TaskId>,
    /// 1,000 where it is absent.
    pub limit: Option<u32>,
}

macro_rules! runs {
    ($tail:literal) => {
        concat!(
            "SELECT r.seq, s.at, s.type, s.version, s.payload, x.at, x.type, x.version, x.payload ",
            "FROM tool_runs AS r JOIN events AS s ON s.seq = r.seq LEFT JOIN events AS x ON x.seq = r.ended_seq ",
            $tail
        )
    };
}

const DEFAULT_LIMIT: u32 = 1_000;

fn run(row: Columns<'_>) -> Result<ToolRunRow> {
    ToolRunRow::new(
        row.count(0)?,
        (row.time(1)?, row.body(2)?),
        match row.maybe_body(6)? {
            Some(body) => Some((row.time(5)?, body)),
            None => None,
        },
    )
}

impl ToolRunRow {
    /// From its first and its last event, each with its time.
    pub(crate) fn new(
        seq: u64,
        first: (Timestamp, EventBody),
        last: Option<(Timestamp, EventBody)>,
    ) -> Result<Self> {
        let started = match first.1 {
            EventBody::ToolStarted(started) => started,
            EventBody::ToolFailed(ToolFailed { refused: Some(started), .. }) => *started,
            other => return Err(mismatch("tool.started", &other)),
        };
        let mut row = Self::running(seq, first.0, started);
        match last {
            None => {}
            Some((at, EventBody::ToolCompleted(body))) => row.complete(at, body),
            Some((at, EventBody::ToolFailed(body))) => row.fail(at, body),
            Some((_, other)) => return Err(mismatch("tool.completed", &other)),
        }
        Ok(row)
    }

    fn running(seq: u64, started_at: Timestamp, started: ToolStarted) -> Self {
        Self {
            started,
            seq,
            started_at,
            status: None,
            summary: String::new(),
            content: None,
            artifacts: Vec::new(),
            evidence: Vec::new(),
            exit_code: None,
            written: Vec::new(),
            may_have_written: false,
            duration_ms: None,
            error: None,
            reconciled: String::new(),
            command: None,
            data: Value::Null,
            ended_at: None,
        }
    }

    fn complete(&mut self, at: Timestamp, body: ToolCompleted) {
        self.status = Some(ToolStatus::Ok);
        self.summary = body.summary;
        self.content = Some(body.content);
        self.artifacts = body.artifacts;
        self.evidence = body.evidence;
        self.exit_code = body.exit_code;
        self.written = body.written;
        self.may_have_written = body.may_have_written;
        self.duration_ms = Some(body.duration_ms);
        self.reconciled = body.reconciled;
        self.command = body.command;
        self.data = body.data;
        self.ended_at = Some(at);
    }

    fn fail(&mut self, at: Timestamp, body: ToolFailed) {
        self.status = Some(body.status);
        self.summary.clone_from(&body.error.message);
        self.error = Some(body.error);
        self.content = Some(body.content);
        self.artifacts = body.artifacts;
        self.duration_ms = Some(body.duration_ms);
        self.reconciled = body.reconciled;
        self.ended_at = Some(at);
    }
}

impl Store {
    /// A tool run. `run.not_found` where there is none.
    pub async fn tool_run(&self, id: ToolRunId) -> Result<ToolRunRow> {
        let query = sqlx::query(runs!("WHERE r.id = ?")).bind(id.as_bytes().to_vec());
        self.row(query, run)
            .await?
            .ok_or_else(|| AirError::new(codes::RUN_NOT_FOUND, format!("no tool run {id}")))
    }

    /// Several tool runs, in no order; unknown ones are left out.
    pub async fn tool_runs_by_id(&self, ids: &[ToolRunId]) -> Result<Vec<ToolRunRow>> {
        let wanted: Vec<String> = ids.iter().map(ToolRunId::hex).collect();
        let query = sqlx::query(runs!("WHERE r.id IN (SELECT unhex(value) FROM json_each(?))"));
        self.rows(query.bind(serde_json::to_string(&wanted).unwrap_or_default()), run).await
    }

    /// The run that a call of this turn and task has, the newest where several have its id.
    pub async fn tool_run_by_call(
        &self,
        turn: TurnId,
        task: Option<TaskId>,
        call_id: &str,
    ) -> Result<Option<ToolRunRow>> {
        let query = sqlx::query(runs!("WHERE r.call_hash = ? ORDER BY r.n DESC"));
        let rows = self.rows(query.bind(call_hash(turn, call_id)), run).await?;
        Ok(rows.into_iter().find(|row| row.turn_id == turn && row.task_id == task && row.call_id == call_id))
    }

    /// Runs that were started and have no result, oldest first.
    pub async fn unfinished_tool_runs(&self) -> Result<Vec<ToolRunRow>> {
        self.rows(sqlx::query(runs!("WHERE r.ended_seq IS NULL ORDER BY r.n")), run).await
    }

    /// Tool runs; see [`ToolRunFilter`].
    pub async fn tool_runs(&self, filter: ToolRunFilter) -> Result<Vec<ToolRunRow>> {
        const FILTER: &str = runs!(
            "WHERE (?1 IS NULL OR r.session = ?1) AND (?2 IS NULL OR r.turn = ?2) \
            AND (?3 IS NULL OR r.task = ?3) ORDER BY r.n DESC LIMIT ?4"
        );
        let query = sqlx::query(FILTER)
            .bind(filter.session.map(|id| id.as_bytes().to_vec()))
            .bind(filter.turn.map(|id| id.as_bytes().to_vec()))
            .bind(filter.task.map(|id| id.as_bytes().to_vec()))
            .bind(filter.limit.unwrap_or(DEFAULT_LIMIT));
        let mut runs = self.rows(query, run).await?;
        runs.reverse();
        Ok(runs)
    }
}
