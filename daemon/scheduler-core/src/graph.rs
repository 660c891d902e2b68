//! The state: tasks with their attempts.

use std::collections::BTreeMap;

use air_contracts::task::{AgentRole, AttemptStatus, FailureClass, TaskStatus, TaskType};

use crate::area::WriteArea;

/// The number of a task, the one in `k4`: unique in a project, rising with creation.
pub type TaskNo = u64;

/// Limits of planning and of retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Attempts that run at once.
    pub max_workers: usize,
    /// Tasks that may change the user's tree at once.
    pub max_writers: usize,
    /// Attempts of a task that end in a failure of its own, unless the task says otherwise.
    pub max_attempts: u32,
    /// Attempts of a task whose worker may be lost before it is given up.
    pub max_losses: u32,
    /// Further attempts after one that failed at its provider.
    pub max_provider_retries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_workers: 4, max_writers: 1, max_attempts: 3, max_losses: 5, max_provider_retries: 2 }
    }
}

/// One try at a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// From 1 within the task.
    pub n: u32,
    pub status: AttemptStatus,
    pub class: Option<FailureClass>,
    /// What failed, sorted, without doubles: two attempts with the same list made no progress.
    pub instances: Vec<String>,
}

impl Attempt {
    /// Whether it still runs, or is being verified.
    pub const fn is_open(&self) -> bool {
        matches!(self.status, AttemptStatus::Starting | AttemptStatus::Running | AttemptStatus::Checkpointed)
    }
}

/// A task as planning sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNode {
    pub kind: TaskType,
    pub dependencies: Vec<TaskNo>,
    pub area: WriteArea,
    /// Overrides [`Limits::max_attempts`].
    pub max_attempts: Option<u32>,
    pub status: TaskStatus,
    pub attempts: Vec<Attempt>,
    /// Attempts before this index do not count any more: a person asked for another try.
    pub counted_from: usize,
}

impl TaskNode {
    /// A task that has just been created.
    pub fn new(kind: TaskType, dependencies: Vec<TaskNo>, area: WriteArea) -> Self {
        let (max_attempts, attempts) = (None, Vec::new());
        Self {
            kind,
            dependencies,
            area,
            max_attempts,
            status: TaskStatus::Pending,
            attempts,
            counted_from: 0,
        }
    }

    /// Whether it may change files.
    pub const fn writes(&self) -> bool {
        !matches!(self.kind, TaskType::Review | TaskType::Design | TaskType::Compact | TaskType::Mine)
    }

    /// Whether an attempt of it runs, or its result is being looked at.
    pub const fn is_active(&self) -> bool {
        matches!(self.status, TaskStatus::Running | TaskStatus::Verifying | TaskStatus::Reviewing)
    }

    /// The attempt that runs, if any.
    pub fn open_attempt(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.is_open())
    }

    /// Attempts that count for limits and for the choice of a role.
    pub fn counted(&self) -> &[Attempt] {
        self.attempts.get(self.counted_from..).unwrap_or_default()
    }

    /// The role that works on such a task, unless its failures call for another.
    pub const fn role(&self) -> AgentRole {
        match self.kind {
            TaskType::Implement | TaskType::Build | TaskType::Test | TaskType::MergeRepair => {
                AgentRole::Executor
            }
            TaskType::Debug => AgentRole::Debugger,
            TaskType::Review => AgentRole::Reviewer,
            TaskType::Design => AgentRole::ArchitectureDesigner,
            TaskType::Compact => AgentRole::Compactor,
            TaskType::Mine => AgentRole::ExperienceMiner,
        }
    }
}

/// The tasks of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    pub(crate) tasks: BTreeMap<TaskNo, TaskNode>,
    pub(crate) limits: Limits,
    /// Set by an interruption: nothing starts.
    pub(crate) paused: bool,
}

impl Graph {
    /// A graph from what a store holds. Attempts that are open in it must be reported as lost before
    /// anything else happens, or go on.
    pub fn new(limits: Limits, tasks: BTreeMap<TaskNo, TaskNode>) -> Self {
        Self { tasks, limits, paused: false }
    }

    /// The same graph, in which nothing starts before [`crate::Input::Wake`].
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.paused = true;
        self
    }

    /// The tasks by number.
    pub const fn tasks(&self) -> &BTreeMap<TaskNo, TaskNode> {
        &self.tasks
    }

    /// Whether nothing happens any more by itself.
    pub fn is_settled(&self) -> bool {
        self.tasks.values().all(|task| task.status.is_settled() || (self.paused && !task.is_active()))
    }

    /// How many attempts run or are being verified.
    pub fn active(&self) -> usize {
        self.tasks.values().filter(|task| task.is_active()).count()
    }

    /// All tasks that wait for the given one, directly or not, in order of their numbers.
    pub(crate) fn dependants(&self, of: TaskNo) -> Vec<TaskNo> {
        let mut found = vec![of];
        let mut grew = true;
        while grew {
            grew = false;
            for (no, task) in &self.tasks {
                let waits = task.dependencies.iter().any(|dependency| found.contains(dependency));
                if waits && !found.contains(no) {
                    found.push(*no);
                    grew = true;
                }
            }
        }
        found.retain(|no| *no != of);
        found.sort_unstable();
        found
    }
}
