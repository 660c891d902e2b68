//! Exit codes: what a script can rely on.

use air_contracts::AirError;
use air_contracts::api::OutcomeStatus;
use air_contracts::error::codes;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, with an answer and no task that failed or is blocked.
    Ok,
    /// 1: a task, or the command itself, failed.
    Failed,
    /// 2: wrong usage.
    Usage,
    /// 3: blocked, or only an approval can advance it.
    Blocked,
    /// 4: the daemon cannot be reached.
    Unreachable,
    /// 5: a budget is reached.
    Budget,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Blocked => 3,
            Self::Unreachable => 4,
            Self::Budget => 5,
            Self::Interrupted => 130,
        }
    }

    /// Of an error, by its code.
    pub fn of_error(error: &AirError) -> Self {
        match error.code.as_str() {
            code if code.starts_with("usage.") => Self::Usage,
            codes::DAEMON_UNREACHABLE | codes::DAEMON_STOPPING => Self::Unreachable,
            codes::BUDGET_REACHED => Self::Budget,
            codes::CLIENT_INTERRUPTED => Self::Interrupted,
            _ => Self::Failed,
        }
    }

    /// Of a turn.
    pub const fn of_outcome(status: OutcomeStatus) -> Self {
        match status {
            OutcomeStatus::Completed | OutcomeStatus::Answered => Self::Ok,
            OutcomeStatus::Failed | OutcomeStatus::Cancelled | OutcomeStatus::Running => Self::Failed,
            OutcomeStatus::Blocked | OutcomeStatus::Waiting => Self::Blocked,
            OutcomeStatus::Interrupted => Self::Interrupted,
            OutcomeStatus::Budget => Self::Budget,
        }
    }
}
