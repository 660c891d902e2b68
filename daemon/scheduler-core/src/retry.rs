//! What follows a failed attempt.

use air_contracts::task::{AgentRole, AttemptStatus, FailureClass};

use crate::graph::{Attempt, Limits, TaskNode};

/// What a new attempt begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transcript {
    /// A context of its own, with what failed before.
    Fresh,
    /// The transcript of the attempt before it: nothing in that one was wrong.
    Continue,
}

/// The decision about a task whose attempt has just ended badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Again,
    Fail(String),
    Block { kind: &'static str, reason: String },
}

/// Judges by the class of the last attempt and by those before it.
pub(crate) fn after_failure(task: &TaskNode, limits: &Limits, retryable: bool) -> Next {
    let counted = task.counted();
    let Some(last) = counted.last() else { return Next::Again };
    let of_class = |class| {
        u32::try_from(counted.iter().filter(|one| one.class == Some(class)).count()).unwrap_or(u32::MAX)
    };
    match last.class {
        Some(FailureClass::LostWorker) => {
            if counted.iter().filter(|one| one.status == AttemptStatus::Lost).count()
                > limits.max_losses as usize
            {
                return block("worker", format!("its worker was lost {} times", limits.max_losses + 1));
            }
            Next::Again
        }
        Some(FailureClass::Provider) => {
            if !retryable || of_class(FailureClass::Provider) > limits.max_provider_retries {
                return block("provider", "the model gives no answer".to_owned());
            }
            Next::Again
        }
        Some(FailureClass::Budget) => block("budget", "the budget is reached".to_owned()),
        Some(FailureClass::Blocked) => block("worker", "the worker says that it cannot go on".to_owned()),
        Some(FailureClass::Verification) => after_red_checks(task, limits),
        Some(FailureClass::Tool | FailureClass::Timeout) | None => {
            let failures = own_failures(counted);
            if failures >= max_attempts(task, limits) {
                return Next::Fail(format!("{failures} attempts failed"));
            }
            Next::Again
        }
    }
}

fn after_red_checks(task: &TaskNode, limits: &Limits) -> Next {
    let streak = same_failures(task.counted());
    if streak >= 3 {
        let failures = plural(task.counted().last().map_or(0, |last| last.instances.len()).max(1), "failure");
        return block("verification", format!("blocked after {streak} attempts: no progress on {failures}"));
    }
    let failures = own_failures(task.counted());
    if failures >= max_attempts(task, limits) {
        return block(
            "verification",
            format!("blocked after {}: checks still fail", plural(failures as usize, "attempt")),
        );
    }
    Next::Again
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

fn block(kind: &'static str, reason: String) -> Next {
    Next::Block { kind, reason }
}

fn max_attempts(task: &TaskNode, limits: &Limits) -> u32 {
    task.max_attempts.unwrap_or(limits.max_attempts).max(1)
}

/// Attempts that failed by what they did: lost workers and unreachable models are no fault of theirs.
fn own_failures(attempts: &[Attempt]) -> u32 {
    let own = |attempt: &&Attempt| {
        matches!(attempt.class, Some(FailureClass::Tool | FailureClass::Timeout | FailureClass::Verification))
    };
    u32::try_from(attempts.iter().filter(own).count()).unwrap_or(u32::MAX)
}

/// How many of the last verified attempts failed in exactly the same way. Attempts that never came to
/// verification do not break the row.
pub(crate) fn same_failures(attempts: &[Attempt]) -> usize {
    let mut verified =
        attempts.iter().rev().filter(|attempt| attempt.class == Some(FailureClass::Verification));
    let Some(last) = verified.next() else { return 0 };
    1 + verified.take_while(|attempt| attempt.instances == last.instances).count()
}

/// The role of the next attempt: a Debugger once the same failure came twice.
pub(crate) fn next_role(task: &TaskNode) -> AgentRole {
    match task.role() {
        AgentRole::Executor if same_failures(task.counted()) >= 2 => AgentRole::Debugger,
        role => role,
    }
}

/// What the next attempt begins with.
pub(crate) fn next_transcript(task: &TaskNode) -> Transcript {
    let Some(last) = task.attempts.last() else { return Transcript::Fresh };
    let cut_short = matches!(last.status, AttemptStatus::Lost | AttemptStatus::Cancelled);
    let blameless =
        matches!(last.class, Some(FailureClass::Provider | FailureClass::Budget | FailureClass::LostWorker));
    if cut_short || blameless { Transcript::Continue } else { Transcript::Fresh }
}
