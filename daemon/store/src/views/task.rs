//! Tasks with their attempts and their place in the graph.

use std::collections::HashMap;

use air_contracts::Result;
use air_contracts::ids::{RefKind, SessionId, ShortRef, TaskId, TurnId};
use air_contracts::projection::TaskView;
use air_contracts::task::AttemptSummary;

use crate::{AttemptRow, Store, TaskRow};

impl Store {
    /// A task.
    pub async fn task_view(&self, id: TaskId) -> Result<TaskView> {
        let task = self.task(id).await?;
        let graph = self.tasks_of_turn(task.turn_id).await?;
        let attempts = self.attempts(id).await?;
        Ok(view_task(task, &Graph::new(&graph), &attempts))
    }

    /// The newest `limit` tasks of a turn, of a session, or of all, oldest first.
    pub async fn task_views(
        &self,
        session: Option<SessionId>,
        turn: Option<TurnId>,
        limit: u32,
    ) -> Result<Vec<TaskView>> {
        let mut tasks = match (turn, session) {
            (Some(turn), _) => self.tasks_of_turn(turn).await?,
            (None, Some(session)) => self.tasks_of_session(session).await?,
            (None, None) => self.newest_tasks(limit).await?,
        };
        if let (Some(session), Some(_)) = (session, turn) {
            tasks.retain(|task| task.session_id == session);
        }
        // The graph needs them all.
        let graph = Graph::new(&tasks);
        let surplus = tasks.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        let shown = tasks.split_off(surplus);
        let attempts = self.attempts_of(&shown).await?;
        Ok(shown.into_iter().map(|task| view_task(task, &graph, &attempts)).collect())
    }
}

/// Numbers and dependencies of tasks.
struct Graph {
    numbers: HashMap<TaskId, u64>,
    waves: HashMap<TaskId, u32>,
}

impl Graph {
    fn new(tasks: &[TaskRow]) -> Self {
        let numbers = tasks.iter().map(|task| (task.id, task.n)).collect();
        let mut waves: HashMap<TaskId, u32> = HashMap::new();
        // A task comes after those that it depends on, so that one pass in order of creation is enough; where
        // it does not (a log of another build), a later pass settles it. A circle ends with the passes.
        for _ in 0..tasks.len() {
            let mut changed = false;
            for task in tasks {
                let before = task.spec.dependencies.iter().filter_map(|id| waves.get(id)).max();
                let wave = before.map_or(1, |wave| wave.saturating_add(1));
                changed |= waves.insert(task.id, wave) != Some(wave);
            }
            if !changed {
                break;
            }
        }
        Self { numbers, waves }
    }
}

fn view_task(task: TaskRow, graph: &Graph, attempts: &[AttemptRow]) -> TaskView {
    let attempts =
        attempts.iter().filter(|attempt| attempt.task_id == task.id).map(|attempt| AttemptSummary {
            id: attempt.id,
            n: attempt.n,
            status: attempt.status,
            failure_class: attempt.failure_class,
            note: attempt.note.clone(),
        });
    let after = task.spec.dependencies.iter().filter_map(|id| graph.numbers.get(id));
    let criteria = task.outcomes();
    TaskView {
        id: task.id,
        short: ShortRef::new(RefKind::Task, task.n),
        session_id: task.session_id,
        turn_id: task.turn_id,
        kind: task.spec.kind,
        status: task.status,
        reason: task.reason,
        summary: task.summary,
        wave: graph.waves.get(&task.id).copied().unwrap_or(1),
        after: after.map(|n| ShortRef::new(RefKind::Task, *n)).collect(),
        attempts: attempts.collect(),
        criteria,
        changed_files: task.changed_files,
        foreign_files: task.foreign_files,
        blocker: task.blocker,
        created_at: task.created_at,
        updated_at: task.updated_at,
        title: task.spec.title,
    }
}
