//! What a scheduler works with, and what it takes and gives.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use air_context::ContextAssembler;
use air_contracts::port::{ModelGateway, ToolExecutor};
use air_contracts::task::{Criterion, TaskType};
use air_contracts::workspace::WorkspaceRef;
use air_rt::{Clock, IdSource, Tasks};
use air_store::{Store, TaskRow};

/// Limits, read anew whenever they matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulerLimits {
    /// Worker processes of one turn at a time.
    pub max_workers: usize,
    /// Attempts of a task that may fail by themselves.
    pub max_attempts: u32,
    /// Requests to the model that one attempt may make.
    pub max_model_calls: u32,
    /// Wall time of one attempt; waiting for a person does not count.
    pub attempt_timeout: Duration,
}

impl Default for SchedulerLimits {
    fn default() -> Self {
        let attempt_timeout = Duration::from_secs(60 * 60);
        Self { max_workers: 4, max_attempts: 3, max_model_calls: 200, attempt_timeout }
    }
}

/// The parts that a scheduler is made of. One scheduler serves one open project.
#[derive(Clone)]
pub struct SchedulerDeps {
    pub store: Store,
    pub clock: Clock,
    pub ids: IdSource,
    /// Owner of the scheduler's tasks; its end is the end of the daemon's work on this project.
    pub tasks: Tasks,
    pub executor: Arc<dyn ToolExecutor>,
    pub gateway: Arc<dyn ModelGateway>,
    pub context: Arc<ContextAssembler>,
    /// The `air-worker` binary, absolute.
    pub worker: PathBuf,
    /// The user's tree.
    pub workspace: WorkspaceRef,
    pub limits: Arc<dyn Fn() -> SchedulerLimits + Send + Sync>,
    /// L4 of the prompts.
    pub project_facts: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A task as a model describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskDraft {
    pub title: String,
    pub description: String,
    pub criteria: Vec<Criterion>,
    pub kind: TaskType,
    /// Globs where it may write; empty: unknown.
    pub write: Vec<String>,
    /// Places in the same call, from 0, each before the task's own.
    pub depends_on: Vec<usize>,
    /// The part of the user's message that it is, where one message became several tasks.
    pub part: Option<String>,
    pub context_refs: Vec<String>,
}

/// How the tasks of a turn stand when its run is over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnReport {
    /// By number. Not all are settled when the turn was interrupted.
    pub tasks: Vec<TaskRow>,
}
