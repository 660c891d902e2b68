//! Inputs and what they do.

use air_contracts::task::{AgentRole, AttemptStatus, FailureClass, TaskStatus};
use air_contracts::worker_result::WorkerStatus;

use crate::graph::{Graph, TaskNo, TaskNode};
use crate::retry::{Next, Transcript, after_failure};

/// What a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewVerdict {
    Accept,
    /// Something must change: what, one line each.
    Changes {
        findings: Vec<String>,
    },
    CannotTell {
        reason: String,
    },
}

/// What happened. An input about an attempt that is not the open one of its task changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    TasksCreated {
        tasks: Vec<(TaskNo, TaskNode)>,
    },
    /// Plan again; the first input after a graph was loaded.
    Wake,
    AttemptStarted {
        task: TaskNo,
        n: u32,
    },
    WorkerFinished {
        task: TaskNo,
        n: u32,
        status: WorkerStatus,
    },
    WorkerFailed {
        task: TaskNo,
        n: u32,
        class: FailureClass,
        instances: Vec<String>,
        retryable: bool,
    },
    WorkerLost {
        task: TaskNo,
        n: u32,
    },
    AttemptTimedOut {
        task: TaskNo,
        n: u32,
    },
    VerificationPassed {
        task: TaskNo,
        n: u32,
        needs_review: bool,
    },
    VerificationFailed {
        task: TaskNo,
        n: u32,
        instances: Vec<String>,
    },
    /// Verification or review cannot go on without a person.
    CannotJudge {
        task: TaskNo,
        n: u32,
        kind: &'static str,
        reason: String,
    },
    ReviewDone {
        task: TaskNo,
        n: u32,
        verdict: ReviewVerdict,
    },
    /// A person ends a task, with all that wait for it.
    Cancel {
        task: TaskNo,
        reason: String,
    },
    /// A person wants another try at a failed or blocked task.
    Retry {
        task: TaskNo,
    },
    /// Everything that runs stops and can go on later.
    Interrupt,
}

/// What the caller must do, in order, after it has stored what changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    SetStatus {
        task: TaskNo,
        status: TaskStatus,
        reason: String,
    },
    StartAttempt {
        task: TaskNo,
        n: u32,
        role: AgentRole,
        transcript: Transcript,
    },
    Verify {
        task: TaskNo,
        n: u32,
    },
    Review {
        task: TaskNo,
        n: u32,
    },
    Complete {
        task: TaskNo,
    },
    Fail {
        task: TaskNo,
        reason: String,
    },
    /// `kind` as in `Blocker`, or `dependency`.
    Block {
        task: TaskNo,
        kind: &'static str,
        reason: String,
    },
    CancelAttempt {
        task: TaskNo,
        n: u32,
        reason: String,
    },
}

impl Graph {
    /// Takes an input; the state is then the next one.
    pub fn step(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        self.take(input, &mut actions);
        self.plan(&mut actions);
        actions
    }

    fn take(&mut self, input: Input, actions: &mut Vec<Action>) {
        match input {
            Input::Wake => self.paused = false,
            Input::TasksCreated { tasks } => self.add(tasks),
            Input::AttemptStarted { task, n } => self.started(task, n),
            Input::WorkerFinished { task, n, status } => self.finished(task, n, status, actions),
            Input::WorkerFailed { task, n, class, instances, retryable } => {
                self.end_badly(task, n, AttemptStatus::Failed, class, instances, retryable, actions);
            }
            Input::WorkerLost { task, n } => {
                self.end_badly(
                    task,
                    n,
                    AttemptStatus::Lost,
                    FailureClass::LostWorker,
                    Vec::new(),
                    true,
                    actions,
                );
            }
            Input::AttemptTimedOut { task, n } => {
                self.end_badly(
                    task,
                    n,
                    AttemptStatus::TimedOut,
                    FailureClass::Timeout,
                    Vec::new(),
                    true,
                    actions,
                );
            }
            Input::VerificationPassed { task, n, needs_review } => {
                self.verified(task, n, needs_review, actions)
            }
            Input::VerificationFailed { task, n, instances } => {
                if self.is_in(task, n, TaskStatus::Verifying) {
                    let class = FailureClass::Verification;
                    self.end_badly(task, n, AttemptStatus::Failed, class, instances, true, actions);
                }
            }
            Input::CannotJudge { task, n, kind, reason } => self.cannot_judge(task, n, kind, reason, actions),
            Input::ReviewDone { task, n, verdict } => self.reviewed(task, n, verdict, actions),
            Input::Cancel { task, reason } => self.cancel(task, &reason, actions),
            Input::Retry { task } => self.retry(task, actions),
            Input::Interrupt => self.interrupt(actions),
        }
    }

    pub(crate) fn set(&mut self, no: TaskNo, status: TaskStatus) {
        if let Some(task) = self.tasks.get_mut(&no) {
            task.status = status;
        }
    }

    fn add(&mut self, tasks: Vec<(TaskNo, TaskNode)>) {
        for (no, task) in tasks {
            self.tasks.entry(no).or_insert(task);
        }
    }

    /// Whether the task is in that state and `n` is its open attempt.
    fn is_in(&self, no: TaskNo, n: u32, status: TaskStatus) -> bool {
        self.tasks
            .get(&no)
            .is_some_and(|task| task.status == status && task.open_attempt().is_some_and(|open| open.n == n))
    }

    fn started(&mut self, no: TaskNo, n: u32) {
        if !self.is_in(no, n, TaskStatus::Running) {
            return;
        }
        if let Some(attempt) = self.tasks.get_mut(&no).and_then(|task| task.attempts.last_mut()) {
            attempt.status = AttemptStatus::Running;
        }
    }

    fn finished(&mut self, no: TaskNo, n: u32, status: WorkerStatus, actions: &mut Vec<Action>) {
        if !self.is_in(no, n, TaskStatus::Running) {
            return;
        }
        let class = match status {
            WorkerStatus::Done | WorkerStatus::NoChange => {
                self.started(no, n);
                self.move_to(no, TaskStatus::Verifying, actions);
                actions.push(Action::Verify { task: no, n });
                return;
            }
            WorkerStatus::Blocked => FailureClass::Blocked,
            WorkerStatus::Failed | WorkerStatus::Cancelled => FailureClass::Tool,
        };
        self.end_badly(no, n, AttemptStatus::Failed, class, Vec::new(), true, actions);
    }

    fn move_to(&mut self, no: TaskNo, status: TaskStatus, actions: &mut Vec<Action>) {
        self.set(no, status);
        actions.push(Action::SetStatus { task: no, status, reason: String::new() });
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one record, named at each call")]
    fn end_badly(
        &mut self,
        no: TaskNo,
        n: u32,
        status: AttemptStatus,
        class: FailureClass,
        mut instances: Vec<String>,
        retryable: bool,
        actions: &mut Vec<Action>,
    ) {
        let Some(task) = self.tasks.get_mut(&no).filter(|task| task.is_active()) else { return };
        let Some(attempt) = task.attempts.last_mut().filter(|attempt| attempt.n == n && attempt.is_open())
        else {
            return;
        };
        instances.sort();
        instances.dedup();
        (attempt.status, attempt.class, attempt.instances) = (status, Some(class), instances);
        match after_failure(task, &self.limits, retryable) {
            Next::Again => self.move_to(no, TaskStatus::Ready, actions),
            Next::Fail(reason) => {
                self.set(no, TaskStatus::Failed);
                actions.push(Action::Fail { task: no, reason });
            }
            Next::Block { kind, reason } => self.block(no, kind, reason, actions),
        }
    }

    fn block(&mut self, no: TaskNo, kind: &'static str, reason: String, actions: &mut Vec<Action>) {
        self.set(no, TaskStatus::Blocked);
        actions.push(Action::Block { task: no, kind, reason });
    }

    fn verified(&mut self, no: TaskNo, n: u32, needs_review: bool, actions: &mut Vec<Action>) {
        if !self.is_in(no, n, TaskStatus::Verifying) {
            return;
        }
        if needs_review {
            self.move_to(no, TaskStatus::Reviewing, actions);
            actions.push(Action::Review { task: no, n });
        } else {
            self.complete(no, actions);
        }
    }

    fn complete(&mut self, no: TaskNo, actions: &mut Vec<Action>) {
        self.close_attempt(no, AttemptStatus::Succeeded);
        self.set(no, TaskStatus::Completed);
        actions.push(Action::Complete { task: no });
    }

    fn close_attempt(&mut self, no: TaskNo, status: AttemptStatus) {
        if let Some(attempt) = self.tasks.get_mut(&no).and_then(|task| task.attempts.last_mut())
            && attempt.is_open()
        {
            attempt.status = status;
        }
    }

    fn cannot_judge(
        &mut self,
        no: TaskNo,
        n: u32,
        kind: &'static str,
        reason: String,
        actions: &mut Vec<Action>,
    ) {
        if self.is_in(no, n, TaskStatus::Verifying) || self.is_in(no, n, TaskStatus::Reviewing) {
            self.close_attempt(no, AttemptStatus::Succeeded);
            self.block(no, kind, reason, actions);
        }
    }

    fn reviewed(&mut self, no: TaskNo, n: u32, verdict: ReviewVerdict, actions: &mut Vec<Action>) {
        if !self.is_in(no, n, TaskStatus::Reviewing) {
            return;
        }
        match verdict {
            ReviewVerdict::Accept => self.complete(no, actions),
            ReviewVerdict::Changes { findings } => {
                let class = FailureClass::Verification;
                self.end_badly(no, n, AttemptStatus::Failed, class, findings, true, actions);
            }
            ReviewVerdict::CannotTell { reason } => self.cannot_judge(no, n, "needs_review", reason, actions),
        }
    }

    fn cancel(&mut self, no: TaskNo, reason: &str, actions: &mut Vec<Action>) {
        let over =
            |status| matches!(status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled);
        if self.tasks.get(&no).is_none_or(|task| over(task.status)) {
            return;
        }
        for one in std::iter::once(no).chain(self.dependants(no)) {
            let Some(task) = self.tasks.get(&one).filter(|task| !over(task.status)) else { continue };
            let open = task.open_attempt().map(|attempt| attempt.n);
            let why = if one == no { reason.to_owned() } else { format!("k{no} was cancelled") };
            self.close_attempt(one, AttemptStatus::Cancelled);
            self.set(one, TaskStatus::Cancelled);
            actions.push(Action::SetStatus { task: one, status: TaskStatus::Cancelled, reason: why.clone() });
            actions.extend(open.map(|n| Action::CancelAttempt { task: one, n, reason: why }));
        }
    }

    fn retry(&mut self, no: TaskNo, actions: &mut Vec<Action>) {
        let again = |status| matches!(status, TaskStatus::Failed | TaskStatus::Blocked);
        let Some(task) = self.tasks.get_mut(&no).filter(|task| again(task.status)) else { return };
        task.counted_from = task.attempts.len();
        self.move_to(no, TaskStatus::Pending, actions);
        for one in self.dependants(no) {
            if self
                .tasks
                .get(&one)
                .is_some_and(|task| task.status == TaskStatus::Blocked && task.attempts.is_empty())
            {
                self.move_to(one, TaskStatus::Pending, actions);
            }
        }
    }

    fn interrupt(&mut self, actions: &mut Vec<Action>) {
        self.paused = true;
        let active: Vec<TaskNo> =
            self.tasks.iter().filter(|(_, task)| task.is_active()).map(|(no, _)| *no).collect();
        for no in active {
            let open = self.tasks.get(&no).and_then(|task| task.open_attempt()).map(|attempt| attempt.n);
            self.close_attempt(no, AttemptStatus::Cancelled);
            self.set(no, TaskStatus::Ready);
            let reason = "interrupted".to_owned();
            actions.push(Action::SetStatus { task: no, status: TaskStatus::Ready, reason: reason.clone() });
            actions.extend(open.map(|n| Action::CancelAttempt { task: no, n, reason }));
        }
    }
}
