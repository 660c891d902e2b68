//! The state of a turn from the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use air_contracts::Result;
use air_contracts::event::{AgentLost, EventSource, NewEvent};
use air_contracts::ids::{TaskId, TurnId};
use air_contracts::task::{AgentRole, AttemptStatus, TaskStatus};
use air_scheduler_core::{Attempt, Graph, Input, Limits, TaskNo, TaskNode, WriteArea};
use air_store::{AttemptRow, TaskRow};
use tokio::sync::mpsc;

use super::Report;
use super::drive::{Drive, Who};
use crate::scheduler::Scheduler;

/// What a dead daemon's work is called.
const RESTARTED: &str = "aird restarted";

impl Drive {
    pub(super) async fn load(
        scheduler: &Arc<Scheduler>,
        turn: TurnId,
        reports: mpsc::UnboundedSender<Report>,
        inbox: mpsc::UnboundedReceiver<Report>,
    ) -> Result<Self> {
        let store = &scheduler.deps.store;
        let rows: BTreeMap<TaskNo, TaskRow> =
            store.tasks_of_turn(turn).await?.into_iter().map(|row| (row.n, row)).collect();
        let numbers: BTreeMap<TaskId, TaskNo> = rows.values().map(|row| (row.id, row.n)).collect();
        let (mut nodes, mut who) = (BTreeMap::new(), BTreeMap::new());
        for (no, row) in &rows {
            let mut attempts = store.attempts(row.id).await?;
            attempts.sort_by_key(|attempt| attempt.n);
            for attempt in &attempts {
                who.insert((*no, attempt.n), Who { agent_id: attempt.agent_id, attempt_id: attempt.id });
            }
            nodes.insert(*no, node(row, &numbers, &attempts));
        }
        let limits = (scheduler.deps.limits)();
        let limits = Limits {
            max_workers: limits.max_workers,
            max_attempts: limits.max_attempts,
            ..Limits::default()
        };
        Ok(Self::new(scheduler, turn, Graph::new(limits, nodes), rows, who, reports, inbox))
    }

    /// What must be said about work that an earlier daemon left, and about tasks that may go on now.
    pub(super) async fn first_reports(&self) -> Result<Vec<Report>> {
        let mut reports = Vec::new();
        let lost = self.lost_reviewers().await?;
        if !lost.is_empty() {
            reports.push(Report { events: lost, ..Report::default() });
        }
        for (no, task) in self.graph().tasks() {
            if let Some(open) = task.open_attempt() {
                let mut report = Report::of(Input::WorkerLost { task: *no, n: open.n });
                report.detail.task = Some(*no);
                report.detail.attempt_note = RESTARTED.to_owned();
                reports.push(report);
            }
            let budget = self
                .rows()
                .get(no)
                .and_then(|row| row.blocker.as_ref())
                .is_some_and(|one| one.kind == "budget");
            if task.status == TaskStatus::Blocked && budget {
                reports.push(Report::of(Input::Retry { task: *no }));
            }
        }
        reports.push(Report::of(Input::Wake));
        Ok(reports)
    }

    async fn lost_reviewers(&self) -> Result<Vec<NewEvent>> {
        let Some(session) = self.rows().values().next().map(|row| row.session_id) else {
            return Ok(Vec::new());
        };
        let running = self.scheduler().deps.store.agents(Some(session), false).await?;
        let of_turn = |agent: &&air_store::AgentRow| {
            agent.turn_id == self.turn() && agent.role == AgentRole::Reviewer && agent.attempt.is_none()
        };
        let lost = running.iter().filter(of_turn).map(|agent| {
            let lost = AgentLost { agent_id: agent.id, attempt_id: None, reason: RESTARTED.to_owned() };
            NewEvent::new(session, EventSource::scheduler(), lost).agent(agent.id)
        });
        Ok(lost.collect())
    }
}

fn node(row: &TaskRow, numbers: &BTreeMap<TaskId, TaskNo>, attempts: &[AttemptRow]) -> TaskNode {
    // A dependency that is not of this turn has no number: 0 is none.
    let dependencies = row.spec.dependencies.iter().map(|id| numbers.get(id).copied().unwrap_or(0)).collect();
    let mut node = TaskNode::new(row.spec.kind, dependencies, WriteArea::new(&row.spec.scope.write));
    node.max_attempts = row.spec.constraints.max_attempts;
    node.status = row.status;
    node.attempts = attempts.iter().map(attempt).collect();
    let open = node.attempts.last().is_some_and(Attempt::is_open);
    if node.is_active() && !open {
        node.status = TaskStatus::Ready;
    }
    if open && !node.is_active() {
        // The attempt is over with its task; nobody was left to say so.
        if let Some(last) = node.attempts.last_mut() {
            last.status = AttemptStatus::Cancelled;
        }
    }
    let waiting = matches!(node.status, TaskStatus::Pending | TaskStatus::Ready);
    let cut_short = |last: &Attempt| matches!(last.status, AttemptStatus::Lost | AttemptStatus::Cancelled);
    if waiting && node.attempts.last().is_some_and(|last| !cut_short(last)) && row.note.is_some() {
        node.counted_from = node.attempts.len();
    }
    // What waits for a blocked task is judged anew: the other one may go on now.
    if node.status == TaskStatus::Blocked
        && row.blocker.as_ref().is_some_and(|blocker| blocker.kind == "dependency")
    {
        node.status = TaskStatus::Pending;
    }
    node
}

fn attempt(row: &AttemptRow) -> Attempt {
    let (status, class) = (row.status, row.failure_class);
    Attempt { n: row.n, status, class, instances: row.failure_instances.clone() }
}
