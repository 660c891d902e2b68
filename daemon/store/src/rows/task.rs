//! Tasks and attempts.

use air_contracts::error::codes;
use air_contracts::ids::{AgentId, AttemptId, SessionId, TaskId, TurnId};
use air_contracts::path::WirePath;
use air_contracts::task::{
    AttemptStatus, Blocker, Criterion, CriterionOutcome, CriterionState, FailureClass, TaskSpec, TaskStatus,
};
use air_contracts::{AirError, Result, Timestamp};

use crate::Store;
use crate::read::{Columns, payload};

/// A task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    pub id: TaskId,
    /// The number in `k4`.
    pub n: u64,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub spec: TaskSpec,
    pub status: TaskStatus,
    /// Why it has this status; empty where nothing is to say.
    pub reason: String,
    pub summary: String,
    pub criteria: Vec<CriterionOutcome>,
    pub changed_files: Vec<WirePath>,
    pub foreign_files: Vec<WirePath>,
    /// Only while it is blocked or failed.
    pub blocker: Option<Blocker>,
    /// The user's note to the last retry.
    pub note: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl TaskRow {
    /// The criteria as they stand: what verification found, else each as unproved.
    pub fn outcomes(&self) -> Vec<CriterionOutcome> {
        if !self.criteria.is_empty() {
            return self.criteria.clone();
        }
        let unproved = |criterion: &Criterion| CriterionOutcome {
            text: criterion.text.clone(),
            check: criterion.check.clone(),
            state: CriterionState::Unproved,
            evidence: Vec::new(),
            note: String::new(),
        };
        self.spec.acceptance_criteria.iter().map(unproved).collect()
    }
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    pub id: AttemptId,
    pub task_id: TaskId,
    pub agent_id: AgentId,
    /// From 1 within the task.
    pub n: u32,
    pub status: AttemptStatus,
    pub failure_class: Option<FailureClass>,
    pub note: String,
    pub failure_instances: Vec<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

macro_rules! tasks {
    ($tail:literal) => {
        concat!(
            "SELECT t.id, t.n, t.session, t.turn, t.status, t.reason, t.summary, t.criteria, t.changed_files, ",
            "t.foreign_files, t.blocker, t.note, t.created_at, t.updated_at, e.type, e.version, e.payload ",
            "FROM tasks AS t JOIN events AS e ON e.seq = t.seq ",
            $tail
        )
    };
}

macro_rules! attempts {
    ($tail:literal) => {
        concat!(
            "SELECT id, task, agent, n, status, failure_class, note, failure_instances, started_at, ended_at ",
            "FROM task_attempts ",
            $tail
        )
    };
}

fn task(row: Columns<'_>) -> Result<TaskRow> {
    let status: TaskStatus = row.word(4)?;
    let stopped = matches!(status, TaskStatus::Blocked | TaskStatus::Failed);
    Ok(TaskRow {
        id: row.id(0)?,
        n: row.count(1)?,
        session_id: row.id(2)?,
        turn_id: row.id(3)?,
        status,
        reason: row.text(5)?,
        summary: row.maybe_text(6)?.unwrap_or_default(),
        criteria: row.maybe_json(7)?.unwrap_or_default(),
        changed_files: row.maybe_json(8)?.unwrap_or_default(),
        foreign_files: row.maybe_json(9)?.unwrap_or_default(),
        blocker: if stopped { row.maybe_json(10)? } else { None },
        note: row.maybe_text(11)?,
        created_at: row.time(12)?,
        updated_at: row.time(13)?,
        spec: payload!(row.body(14)?, TaskCreated)?.task,
    })
}

fn attempt(row: Columns<'_>) -> Result<AttemptRow> {
    Ok(AttemptRow {
        id: row.id(0)?,
        task_id: row.id(1)?,
        agent_id: row.id(2)?,
        n: row.small(3)?,
        status: row.word(4)?,
        failure_class: row.maybe_word(5)?,
        note: row.text(6)?,
        failure_instances: row.maybe_json(7)?.unwrap_or_default(),
        started_at: row.time(8)?,
        ended_at: row.maybe_time(9)?,
    })
}

impl Store {
    /// A task. `task.not_found` where there is none.
    pub async fn task(&self, id: TaskId) -> Result<TaskRow> {
        let query = sqlx::query(tasks!("WHERE t.id = ?")).bind(id.as_bytes().to_vec());
        self.row(query, task)
            .await?
            .ok_or_else(|| AirError::new(codes::TASK_NOT_FOUND, format!("no task {id}")))
    }

    /// The tasks of a turn, oldest first.
    pub async fn tasks_of_turn(&self, turn: TurnId) -> Result<Vec<TaskRow>> {
        let query = sqlx::query(tasks!("WHERE t.turn = ? ORDER BY t.n"));
        self.rows(query.bind(turn.as_bytes().to_vec()), task).await
    }

    /// The tasks of a session, oldest first.
    pub async fn tasks_of_session(&self, session: SessionId) -> Result<Vec<TaskRow>> {
        let query = sqlx::query(tasks!("WHERE t.session = ? ORDER BY t.n"));
        self.rows(query.bind(session.as_bytes().to_vec()), task).await
    }

    /// The newest tasks of all sessions, oldest first.
    pub(crate) async fn newest_tasks(&self, limit: u32) -> Result<Vec<TaskRow>> {
        let mut tasks = self.rows(sqlx::query(tasks!("ORDER BY t.n DESC LIMIT ?")).bind(limit), task).await?;
        tasks.reverse();
        Ok(tasks)
    }

    /// The attempts of a task, oldest first.
    pub async fn attempts(&self, task: TaskId) -> Result<Vec<AttemptRow>> {
        let query = sqlx::query(attempts!("WHERE task = ? ORDER BY seq"));
        self.rows(query.bind(task.as_bytes().to_vec()), attempt).await
    }

    /// The attempts of several tasks, oldest first.
    pub(crate) async fn attempts_of(&self, tasks: &[TaskRow]) -> Result<Vec<AttemptRow>> {
        let wanted: Vec<String> = tasks.iter().map(|task| task.id.hex()).collect();
        let query =
            sqlx::query(attempts!("WHERE task IN (SELECT unhex(value) FROM json_each(?)) ORDER BY seq"));
        self.rows(query.bind(serde_json::to_string(&wanted).unwrap_or_default()), attempt).await
    }

    /// Attempts that have not ended, oldest first.
    pub async fn running_attempts(&self) -> Result<Vec<AttemptRow>> {
        self.rows(sqlx::query(attempts!("WHERE ended_at IS NULL ORDER BY seq")), attempt).await
    }
}
