//! One vocabulary: the mark and the word of each state.

use air_contracts::api::OutcomeStatus;
use air_contracts::approval::{ApprovalAnswer, ApprovalDecision};
use air_contracts::permission::GrantScope;
use air_contracts::projection::{SessionState, ToolRunView};
use air_contracts::session::TurnStatus;
use air_contracts::task::{AgentRole, CriterionState, TaskStatus};
use air_contracts::tool::ToolStatus;

use super::style::Mark;

/// A session.
pub const fn session_state(state: SessionState) -> (Mark, &'static str) {
    match state {
        SessionState::New => (Mark::Pending, "new"),
        SessionState::Working => (Mark::Running, "running"),
        SessionState::WaitingForYou => (Mark::Waiting, "waiting for you"),
        SessionState::Done => (Mark::Done, "done"),
        SessionState::Failed => (Mark::Failed, "failed"),
        SessionState::Blocked => (Mark::Blocked, "blocked"),
        SessionState::Interrupted => (Mark::Cancelled, "interrupted"),
        SessionState::Budget => (Mark::Blocked, "budget reached"),
        SessionState::Closed => (Mark::Cancelled, "closed"),
    }
}

/// A task.
pub const fn task_status(status: TaskStatus) -> (Mark, &'static str) {
    match status {
        TaskStatus::Pending => (Mark::Pending, "pending"),
        TaskStatus::Ready => (Mark::Pending, "ready"),
        TaskStatus::Running => (Mark::Running, "running"),
        TaskStatus::Verifying => (Mark::Running, "verifying"),
        TaskStatus::Reviewing => (Mark::Running, "reviewing"),
        TaskStatus::Completed => (Mark::Done, "done"),
        TaskStatus::Failed => (Mark::Failed, "failed"),
        TaskStatus::Blocked => (Mark::Blocked, "blocked"),
        TaskStatus::Cancelled => (Mark::Cancelled, "cancelled"),
    }
}

/// A turn.
pub const fn turn_status(status: TurnStatus) -> (Mark, &'static str) {
    match status {
        TurnStatus::Queued => (Mark::Pending, "queued"),
        TurnStatus::Running => (Mark::Running, "running"),
        TurnStatus::Completed => (Mark::Done, "done"),
        TurnStatus::Answered => (Mark::Done, "answered"),
        TurnStatus::Failed => (Mark::Failed, "failed"),
        TurnStatus::Blocked => (Mark::Blocked, "blocked"),
        TurnStatus::Interrupted => (Mark::Cancelled, "interrupted"),
        TurnStatus::Budget => (Mark::Blocked, "budget reached"),
        TurnStatus::Cancelled => (Mark::Cancelled, "cancelled"),
    }
}

/// An outcome, as one word.
pub const fn outcome_status(status: OutcomeStatus) -> &'static str {
    match status {
        OutcomeStatus::Completed => "done",
        OutcomeStatus::Answered => "answered",
        OutcomeStatus::Failed => "failed",
        OutcomeStatus::Blocked => "blocked",
        OutcomeStatus::Waiting => "waiting for you",
        OutcomeStatus::Interrupted => "interrupted",
        OutcomeStatus::Budget => "budget reached",
        OutcomeStatus::Cancelled => "cancelled",
        OutcomeStatus::Running => "running",
    }
}

/// A criterion.
pub const fn criterion_state(state: CriterionState) -> (Mark, &'static str) {
    match state {
        CriterionState::Proved => (Mark::Done, "proved"),
        CriterionState::Reviewed => (Mark::Reviewed, "reviewed"),
        CriterionState::Unproved => (Mark::Pending, "unproved"),
        CriterionState::Failed => (Mark::Failed, "failed"),
        CriterionState::Stale => (Mark::Stale, "stale"),
    }
}

/// A tool run. A command that ended with another exit code than 0 has failed for people.
pub fn tool_run(run: &ToolRunView) -> (Mark, &'static str) {
    match run.status {
        None => (Mark::Running, "running"),
        Some(ToolStatus::Ok) if run.exit_code.is_some_and(|code| code != 0) => (Mark::Failed, "failed"),
        Some(ToolStatus::Ok) => (Mark::Done, "ok"),
        Some(ToolStatus::Error) => (Mark::Failed, "error"),
        Some(ToolStatus::Denied) => (Mark::Failed, "denied"),
        Some(ToolStatus::Cancelled) => (Mark::Cancelled, "cancelled"),
        Some(ToolStatus::Interrupted) => (Mark::Blocked, "outcome unknown"),
    }
}

/// A role.
pub const fn role(role: AgentRole) -> &'static str {
    match role {
        AgentRole::Main => "main",
        AgentRole::ArchitectureDesigner => "architect",
        AgentRole::Scheduler => "scheduler",
        AgentRole::Executor => "executor",
        AgentRole::Reviewer => "reviewer",
        AgentRole::Debugger => "debugger",
        AgentRole::Compactor => "compactor",
        AgentRole::ExperienceMiner => "miner",
        AgentRole::Runtime => "runtime",
    }
}

/// A scope.
pub const fn scope(scope: GrantScope) -> &'static str {
    match scope {
        GrantScope::Once => "once",
        GrantScope::Session => "session",
        GrantScope::Project => "project",
    }
}

/// `allowed once`, `denied`, `answered`.
pub fn answer(answer: &ApprovalAnswer) -> String {
    match (answer.decision, answer.scope) {
        (Some(ApprovalDecision::Deny), _) => "denied".to_owned(),
        (Some(ApprovalDecision::Allow), Some(GrantScope::Once) | None) => "allowed once".to_owned(),
        (Some(ApprovalDecision::Allow), Some(wider)) => format!("allowed for the {}", scope(wider)),
        (None, _) => "answered".to_owned(),
    }
}

/// `1 task`, `2 tasks`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}
