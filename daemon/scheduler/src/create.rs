//! New tasks.

use std::sync::Arc;

use air_contracts::error::codes;
use air_contracts::event::{EventSource, NewEvent, TaskCreated};
use air_contracts::ids::{RefKind, TaskId, TurnId};
use air_contracts::task::{TaskConstraints, TaskScope, TaskSpec, VerificationPolicy};
use air_contracts::tool::CallContext;
use air_contracts::{AirError, Result};
use air_scheduler_core::{Input, TaskNode, WriteArea};

use crate::deps::TaskDraft;
use crate::scheduler::Scheduler;
use crate::turn::Report;

impl Scheduler {
    /// Creates the tasks of one call; the same call of the same turn again gives the same tasks. Returns ids and
    /// numbers in the order of the drafts. `task.invalid` for a draft without a title, or one that depends on itself or
    /// on a later one.
    pub async fn create_tasks(
        self: &Arc<Self>,
        context: &CallContext,
        user_text: &str,
        drafts: Vec<TaskDraft>,
        call_id: &str,
    ) -> Result<Vec<(TaskId, u64)>> {
        validate(&drafts)?;
        let turn = context.turn_id;
        let ids: Vec<TaskId> = (0..drafts.len()).filter_map(|index| task_id(turn, call_id, index)).collect();
        let existing = self.deps.store.tasks_of_turn(turn).await?;
        let known: Vec<(TaskId, u64)> = ids
            .iter()
            .filter_map(|id| existing.iter().find(|row| row.id == *id).map(|row| (row.id, row.n)))
            .collect();
        if known.len() == ids.len() && !ids.is_empty() {
            return Ok(known);
        }
        let mut made = Vec::with_capacity(drafts.len());
        let mut events = Vec::with_capacity(drafts.len());
        let mut nodes = Vec::with_capacity(drafts.len());
        for (draft, id) in drafts.into_iter().zip(&ids) {
            let n = self.deps.store.next_ref(RefKind::Task);
            let dependencies: Vec<(TaskId, u64)> =
                draft.depends_on.iter().filter_map(|index| made.get(*index).copied()).collect();
            let numbers = dependencies.iter().map(|(_, n)| *n).collect();
            nodes.push((n, TaskNode::new(draft.kind, numbers, WriteArea::new(&draft.write))));
            let dependencies = dependencies.into_iter().map(|(id, _)| id).collect();
            let task = spec(*id, turn, user_text, draft, dependencies);
            let created = TaskCreated { session_id: context.session_id, n, task };
            let source = EventSource::agent(context.agent_id);
            events.push(NewEvent::new(context.session_id, source, created).task(Some(*id)));
            made.push((*id, n));
        }
        self.deps.store.ingest(events).await?;
        // A turn that is being driven takes them up; any other finds them in the log.
        self.tell(turn, Report::of(Input::TasksCreated { tasks: nodes }));
        Ok(made)
    }
}

fn spec(
    id: TaskId,
    turn_id: TurnId,
    user_text: &str,
    draft: TaskDraft,
    dependencies: Vec<TaskId>,
) -> TaskSpec {
    TaskSpec {
        id,
        turn_id,
        kind: draft.kind,
        title: draft.title.trim().to_owned(),
        description: draft.description,
        user_text: user_text.to_owned(),
        part: draft.part,
        acceptance_criteria: draft.criteria,
        scope: TaskScope { write: draft.write, deny: Vec::new() },
        dependencies,
        verification: VerificationPolicy::default(),
        constraints: TaskConstraints::default(),
        context_refs: draft.context_refs,
        output_contract: String::new(),
    }
}

fn validate(drafts: &[TaskDraft]) -> Result<()> {
    if drafts.is_empty() {
        return Err(AirError::new(codes::TASK_INVALID, "no task is given"));
    }
    for (index, draft) in drafts.iter().enumerate() {
        if draft.title.trim().is_empty() {
            return Err(AirError::new(codes::TASK_INVALID, format!("task {} has no title", index + 1)));
        }
        if let Some(late) = draft.depends_on.iter().find(|other| **other >= index) {
            let message =
                format!("task {} depends on task {}, which does not come before it", index + 1, late + 1);
            return Err(AirError::new(codes::TASK_INVALID, message)
                .hint("list tasks in the order in which they can run"));
        }
    }
    Ok(())
}

/// An id that a repetition of the call finds again: UUID version 7 (RFC 9562) with the time of the turn, the place in
/// the call, and a hash of turn and call.
fn task_id(turn: TurnId, call_id: &str, index: usize) -> Option<TaskId> {
    let mut bytes = [0u8; 16];
    bytes[..6].copy_from_slice(&turn.as_bytes()[..6]);
    let place = u16::try_from(index).unwrap_or(u16::MAX) & 0x0fff;
    bytes[6..8].copy_from_slice(&(0x7000 | place).to_be_bytes());
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in turn.as_bytes().iter().chain(call_id.as_bytes()).chain(&index.to_be_bytes()) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    bytes[8..].copy_from_slice(&hash.to_be_bytes());
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    TaskId::from_slice(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_gives_the_same_ids_and_another_does_not() {
        let turn = TurnId::from_slice(&[7; 16]).unwrap();
        let ids: Vec<TaskId> = (0..3).filter_map(|index| task_id(turn, "call_1", index)).collect();
        assert_eq!(task_id(turn, "call_1", 1), Some(ids[1]));
        assert_ne!(task_id(turn, "call_2", 1), Some(ids[1]));
        assert!(ids.is_sorted());
        assert_eq!(ids[0].uuid().get_version_num(), 7);
    }
}
