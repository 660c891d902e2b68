//! Whether a claim of "done" holds: the runtime looks for itself, after the last write, on one exact tree.

mod judge;
pub(crate) mod proof;
mod report;
pub(crate) mod review;
mod tree;

use std::sync::Arc;

use air_contracts::Result;
use air_contracts::event::{EventSource, NewEvent, WorkspaceCheckpointed};
use air_contracts::ids::AgentId;
use air_contracts::ipc::FinishedClaim;
use air_contracts::path::WirePath;
use air_contracts::task::{CriterionOutcome, TaskType};
use air_contracts::tool::CallContext;
use air_contracts::worker_result::WorkerStatus;
use air_contracts::workspace::Checkpoint;
use air_store::TaskRow;

use crate::checks::{Baseline, CheckCache, CheckList, Checker, checks_of};
use crate::deps::SchedulerDeps;

pub(crate) use judge::Judged;
pub(crate) use report::tail;

/// What is to be verified, and with what.
pub(crate) struct Verification<'a> {
    pub(crate) deps: &'a SchedulerDeps,
    pub(crate) cache: &'a CheckCache,
    pub(crate) baseline: Arc<Baseline>,
    pub(crate) task: &'a TaskRow,
    pub(crate) agent_id: AgentId,
    pub(crate) context: CallContext,
    pub(crate) claim: &'a FinishedClaim,
    /// Whether the turn has this task alone.
    pub(crate) single: bool,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Judgement {
    Passed {
        needs_review: bool,
    },
    /// What failed, and how the next attempt is told.
    Failed {
        instances: Vec<String>,
        told: String,
    },
    /// Only a person can go on.
    Cannot {
        kind: &'static str,
        reason: String,
    },
}

/// A judgement with all that was seen.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) judgement: Judgement,
    pub(crate) criteria: Vec<CriterionOutcome>,
    pub(crate) changed_files: Vec<WirePath>,
    /// Paths that something else changed while checks ran.
    pub(crate) foreign_files: Vec<WirePath>,
    /// Evidence and checkpoint, to be stored with the new state of the task.
    pub(crate) events: Vec<NewEvent>,
    /// The tree after the last check.
    pub(crate) end: Checkpoint,
    /// For a reviewer: the change as a patch.
    pub(crate) patch: String,
    /// For a reviewer: one line for each check.
    pub(crate) told: String,
}

impl Verification<'_> {
    /// Runs what has no fresh run, and judges. Errors: the tree or the log cannot be read.
    pub(crate) async fn run(&self) -> Result<Verdict> {
        let project = self.deps.executor.project_checks(&self.deps.workspace).await?;
        let list = checks_of(&self.task.spec, project);
        let looked = self.look(&list).await?;
        let judged = judge::judge(self, &list, &looked).await;
        let nothing_done = self.nothing_done(&looked.changed);
        let judgement = if nothing_done {
            let told = "Nothing was changed, although the task asks for a change. If nothing needs to change, finish \
                        with status no_change and say why."
                .to_owned();
            Judgement::Failed { instances: vec!["nothing was changed".to_owned()], told }
        } else {
            self.decide(&list, &looked, &judged)
        };
        let mut events = report::evidence(self, &list, &looked, &judged);
        events.push(self.checkpoint_event(&looked));
        let told = report::told(&list, &looked, &judged, &self.baseline);
        let criteria = report::outcomes(&judged, &events);
        Ok(Verdict {
            judgement,
            criteria,
            changed_files: looked.changed.iter().map(|file| file.path.clone()).collect(),
            foreign_files: looked.foreign.into_iter().collect(),
            events,
            end: looked.end,
            patch: looked.patch,
            told,
        })
    }

    fn decide(&self, list: &CheckList, looked: &tree::Looked, judged: &[Judged]) -> Judgement {
        if let Some((status, why)) = looked.runs.iter().find_map(|run| run.not_run.as_ref())
            && *status == air_contracts::tool::ToolStatus::Denied
        {
            return Judgement::Cannot { kind: "denied", reason: format!("a check may not run: {why}") };
        }
        let mut instances: Vec<String> = Vec::new();
        for (spec, run) in list.specs.iter().zip(&looked.runs) {
            if !run.passed() {
                instances.extend(run.instances.iter().map(|one| format!("{}: {one}", spec.check.name)));
            }
        }
        if !instances.is_empty() {
            let told = report::told(list, looked, judged, &self.baseline);
            return Judgement::Failed { instances, told };
        }
        Judgement::Passed { needs_review: review::needed(self, list, looked, judged) }
    }

    fn nothing_done(&self, changed: &[air_contracts::workspace::FileChange]) -> bool {
        let claims_work = self.claim.status == WorkerStatus::Done;
        claims_work && changed.is_empty() && self.task.spec.kind == TaskType::Implement
    }

    fn checkpoint_event(&self, looked: &tree::Looked) -> NewEvent {
        let saved = WorkspaceCheckpointed {
            workspace_id: self.deps.workspace.id,
            turn_id: self.task.turn_id,
            task_id: Some(self.task.id),
            purpose: "verified".to_owned(),
            checkpoint: looked.end.clone(),
        };
        NewEvent::new(self.task.session_id, EventSource::scheduler(), saved).task(Some(self.task.id))
    }

    pub(crate) fn checker(&self) -> Checker<'_> {
        Checker {
            executor: &self.deps.executor,
            cache: self.cache,
            ids: &self.deps.ids,
            context: self.context.clone(),
        }
    }
}
