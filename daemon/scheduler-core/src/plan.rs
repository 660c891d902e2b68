//! Which task starts next. Runs again after every input: a wave is no barrier.

use air_contracts::task::{AttemptStatus, TaskStatus};

use crate::graph::{Attempt, Graph, TaskNo};
use crate::retry::{next_role, next_transcript};
use crate::step::Action;

/// Where the dependencies of a pending task stand.
enum Gate {
    Open,
    Waits,
    Cancelled(TaskNo),
    /// It failed, is blocked, or is not there.
    Stuck(TaskNo),
}

impl Graph {
    /// Moves pending tasks on and starts what may start.
    pub(crate) fn plan(&mut self, actions: &mut Vec<Action>) {
        self.open_gates(actions);
        if self.paused {
            return;
        }
        let ready: Vec<TaskNo> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.status == TaskStatus::Ready)
            .map(|(no, _)| *no)
            .collect();
        for no in ready {
            if self.active() >= self.limits.max_workers.max(1) {
                break;
            }
            if self.may_write_now(no) {
                self.start(no, actions);
            }
        }
    }

    /// Settles the dependants of settled tasks, until nothing changes any more.
    fn open_gates(&mut self, actions: &mut Vec<Action>) {
        loop {
            let mut moved = false;
            for no in self.pending() {
                let (status, action) = match self.gate(no) {
                    Gate::Waits => continue,
                    Gate::Open => (
                        TaskStatus::Ready,
                        Action::SetStatus { task: no, status: TaskStatus::Ready, reason: String::new() },
                    ),
                    Gate::Cancelled(cause) => {
                        let reason = format!("k{cause} was cancelled");
                        (
                            TaskStatus::Cancelled,
                            Action::SetStatus { task: no, status: TaskStatus::Cancelled, reason },
                        )
                    }
                    Gate::Stuck(cause) => (TaskStatus::Blocked, self.block_behind(no, cause)),
                };
                self.set(no, status);
                actions.push(action);
                moved = true;
            }
            if !moved && !self.break_cycle(actions) {
                return;
            }
        }
    }

    fn pending(&self) -> Vec<TaskNo> {
        self.tasks.iter().filter(|(_, task)| task.status == TaskStatus::Pending).map(|(no, _)| *no).collect()
    }

    fn gate(&self, no: TaskNo) -> Gate {
        let Some(task) = self.tasks.get(&no) else { return Gate::Waits };
        let mut gate = Gate::Open;
        for dependency in &task.dependencies {
            match self.tasks.get(dependency).map(|task| task.status) {
                Some(TaskStatus::Completed) => {}
                Some(TaskStatus::Cancelled) => return Gate::Cancelled(*dependency),
                None | Some(TaskStatus::Failed | TaskStatus::Blocked) => gate = Gate::Stuck(*dependency),
                Some(_) => {
                    if matches!(gate, Gate::Open) {
                        gate = Gate::Waits;
                    }
                }
            }
        }
        gate
    }

    fn block_behind(&self, no: TaskNo, cause: TaskNo) -> Action {
        let why = match self.tasks.get(&cause).map(|task| task.status) {
            Some(TaskStatus::Failed) => "failed",
            Some(_) => "is blocked",
            None => "is not known",
        };
        Action::Block { task: no, kind: "dependency", reason: format!("k{cause} {why}") }
    }

    /// Tasks that only wait for each other would wait for ever.
    fn break_cycle(&mut self, actions: &mut Vec<Action>) -> bool {
        let alive = |task: &crate::TaskNode| task.is_active() || task.status == TaskStatus::Ready;
        if self.tasks.values().any(alive) {
            return false;
        }
        let Some(no) = self.pending().first().copied() else { return false };
        self.set(no, TaskStatus::Blocked);
        let reason = "its dependencies wait for itself".to_owned();
        actions.push(Action::Block { task: no, kind: "dependency", reason });
        true
    }

    fn may_write_now(&self, no: TaskNo) -> bool {
        let Some(task) = self.tasks.get(&no) else { return false };
        if !task.writes() {
            return true;
        }
        let writers: Vec<_> =
            self.tasks.values().filter(|other| other.is_active() && other.writes()).collect();
        writers.len() < self.limits.max_writers.max(1)
            && writers.iter().all(|other| !other.area.overlaps(&task.area))
    }

    fn start(&mut self, no: TaskNo, actions: &mut Vec<Action>) {
        let Some(task) = self.tasks.get_mut(&no) else { return };
        let n = task.attempts.last().map_or(0, |attempt| attempt.n) + 1;
        let (role, transcript) = (next_role(task), next_transcript(task));
        task.status = TaskStatus::Running;
        task.attempts.push(Attempt {
            n,
            status: AttemptStatus::Starting,
            class: None,
            instances: Vec::new(),
        });
        let reason = if n == 1 { String::new() } else { format!("attempt {n}") };
        actions.push(Action::SetStatus { task: no, status: TaskStatus::Running, reason });
        actions.push(Action::StartAttempt { task: no, n, role, transcript });
    }
}
