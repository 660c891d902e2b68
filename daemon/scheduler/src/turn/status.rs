//! Actions of the core as events of the log.

use air_contracts::event::{
    AgentEnded, AgentLost, EventBody, EventSource, NewEvent, TaskStatusChanged, WorkspaceCheckpointed,
};
use air_contracts::task::{AttemptStatus, Blocker, TaskStatus};
use air_contracts::workspace::Checkpoint;
use air_scheduler_core::{Action, Attempt, TaskNo};
use air_store::TaskRow;

use super::Detail;
use super::drive::Who;
use crate::scheduler::Scheduler;

/// A new status with its words.
pub(super) struct Change {
    pub(super) task: TaskNo,
    pub(super) status: TaskStatus,
    reason: String,
    kind: Option<&'static str>,
}

impl Change {
    /// The change of status in an action; `None` for an action of another kind.
    pub(super) fn of(action: &Action) -> Option<Self> {
        match action {
            Action::SetStatus { task, status, reason } => {
                Some(Self { task: *task, status: *status, reason: reason.clone(), kind: None })
            }
            Action::Complete { task } => {
                Some(Self { task: *task, status: TaskStatus::Completed, reason: String::new(), kind: None })
            }
            Action::Fail { task, reason } => {
                Some(Self { task: *task, status: TaskStatus::Failed, reason: reason.clone(), kind: None })
            }
            Action::Block { task, kind, reason } => Some(Self {
                task: *task,
                status: TaskStatus::Blocked,
                reason: reason.clone(),
                kind: Some(kind),
            }),
            Action::StartAttempt { .. }
            | Action::Verify { .. }
            | Action::Review { .. }
            | Action::CancelAttempt { .. } => None,
        }
    }

    /// The event, with what a report knows of this task.
    pub(super) fn event(self, row: &TaskRow, detail: &Detail) -> NewEvent {
        let empty = Detail::default();
        let detail = if detail.task == Some(self.task) { detail } else { &empty };
        let settled = matches!(self.status, TaskStatus::Blocked | TaskStatus::Failed);
        let reason = match &detail.reason {
            Some(reason) if settled && !reason.is_empty() && self.reason != *reason => {
                join(&self.reason, reason)
            }
            _ => self.reason,
        };
        let blocker = self.kind.map(|kind| Blocker {
            task_id: row.id,
            kind: kind.to_owned(),
            summary: reason.clone(),
            evidence: detail.evidence.clone(),
            options: options(kind, row.n),
        });
        let changed = TaskStatusChanged {
            task_id: row.id,
            status: self.status,
            reason,
            summary: detail.summary.clone(),
            criteria: detail.criteria.clone(),
            changed_files: detail.changed_files.clone(),
            foreign_files: detail.foreign_files.clone(),
            blocker,
            note: detail.note.clone(),
        };
        NewEvent::new(row.session_id, EventSource::scheduler(), changed).task(Some(row.id))
    }
}

fn join(core: &str, detail: &str) -> String {
    if core.is_empty() { detail.to_owned() } else { format!("{core}: {detail}") }
}

/// What a person can do about a blocker, as commands to paste.
fn options(kind: &str, n: u64) -> Vec<String> {
    let again = format!("air retry k{n} --note \"…\"");
    let first: &[&str] = match kind {
        "provider" => &["air provider list"],
        "budget" => return vec!["air continue --max-cost N".to_owned()],
        "dependency" => return vec!["air tasks --graph".to_owned()],
        "denied" => &["air permissions list"],
        _ => &["air diff"],
    };
    first.iter().map(|option| (*option).to_owned()).chain([again]).collect()
}

/// The end of an attempt.
pub(super) fn closed(row: &TaskRow, who: Who, attempt: &Attempt, note: &str) -> NewEvent {
    let attempt_id = Some(who.attempt_id);
    let body: EventBody = match attempt.status {
        AttemptStatus::Lost => {
            AgentLost { agent_id: who.agent_id, attempt_id, reason: note.to_owned() }.into()
        }
        status => AgentEnded {
            agent_id: who.agent_id,
            attempt_id,
            status,
            failure_class: attempt.class,
            note: note.to_owned(),
            failure_instances: attempt.instances.clone(),
        }
        .into(),
    };
    NewEvent::new(row.session_id, EventSource::scheduler(), body).task(Some(row.id)).agent(who.agent_id)
}

/// The tree that a completed task left.
pub(super) fn tree(row: &TaskRow, checkpoint: Checkpoint, scheduler: &Scheduler) -> NewEvent {
    let saved = WorkspaceCheckpointed {
        workspace_id: scheduler.deps.workspace.id,
        turn_id: row.turn_id,
        task_id: Some(row.id),
        purpose: "completed".to_owned(),
        checkpoint,
    };
    NewEvent::new(row.session_id, EventSource::scheduler(), saved).task(Some(row.id))
}
