//! The result of a task, from the log: the runtime fills it, not the model.

use air_contracts::Result;
use air_contracts::ids::{AgentId, EvidenceId, TaskId};
use air_contracts::task::{AgentRole, TaskStatus};
use air_contracts::worker_result::{WorkerResult, WorkerStatus};
use air_store::{EvidenceFilter, ToolRunFilter};

use crate::attempt::finish_from;
use crate::scheduler::Scheduler;

impl Scheduler {
    /// What a task came to: files from the comparison of trees, evidence from the log, words from the worker's last
    /// accepted `task.finish`. `None` while no attempt has begun. `task.not_found` for an unknown task.
    pub async fn worker_result(&self, task: TaskId) -> Result<Option<WorkerResult>> {
        let store = &self.deps.store;
        let row = store.task(task).await?;
        let Some(attempt) = store.attempts(task).await?.into_iter().max_by_key(|attempt| attempt.n) else {
            return Ok(None);
        };
        let agent_id: AgentId = attempt.agent_id;
        let agent_type = store.agent(agent_id).await.map_or(AgentRole::Executor, |agent| agent.role);
        let runs = store.tool_runs(ToolRunFilter { task: Some(task), ..Default::default() }).await?;
        let last = runs.iter().rev().find(|run| run.tool == "task.finish" && run.agent_id == agent_id);
        let finish = last.and_then(|run| finish_from(&run.data));
        let evidence = store.evidence(EvidenceFilter { task: Some(task), ..Default::default() }).await?;
        let evidence_refs: Vec<EvidenceId> = evidence.iter().map(|one| one.evidence.id).collect();
        let status = match row.status {
            TaskStatus::Completed if row.changed_files.is_empty() => WorkerStatus::NoChange,
            TaskStatus::Completed => WorkerStatus::Done,
            TaskStatus::Blocked => WorkerStatus::Blocked,
            TaskStatus::Cancelled => WorkerStatus::Cancelled,
            _ => WorkerStatus::Failed,
        };
        let (claim, result) = finish.map(|finish| (finish.claim.claim, finish.result)).unwrap_or_default();
        Ok(Some(WorkerResult {
            task_id: task,
            agent_id,
            agent_type,
            status,
            summary: row.summary,
            changed_files: row.changed_files,
            artifacts: evidence.into_iter().filter_map(|one| one.evidence.artifact).collect(),
            verification: row.criteria,
            risks: claim.risks,
            follow_up_tasks: claim.follow_ups,
            evidence_refs,
            result,
        }))
    }
}
