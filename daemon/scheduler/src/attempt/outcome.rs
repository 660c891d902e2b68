//! How an agent's work ended.

use air_contracts::AirError;
use air_contracts::error::codes;
use air_contracts::ipc::FinishedClaim;
use air_contracts::task::FailureClass;
use air_contracts::worker_result::{FinishClaim, WorkerStatus};
use serde_json::Value;

use super::conversation::{Conversation, Finish};
use crate::worker::Broken;

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Finished(Finish),
    Failed {
        class: FailureClass,
        note: String,
        retryable: bool,
    },
    Lost(String),
    TimedOut,
    /// Told to stop, by a person or because the daemon stops.
    Stopped,
}

/// What the worker's own last word means.
pub(super) fn result(
    talk: &mut Conversation,
    status: WorkerStatus,
    claim: FinishClaim,
    error: Option<AirError>,
) -> Outcome {
    if let Some(finish) = talk.finish.take() {
        return Outcome::Finished(finish);
    }
    match (status, error) {
        (WorkerStatus::Done, None) => {
            Outcome::Finished(Finish { claim: FinishedClaim { status, claim }, result: Value::Null })
        }
        (_, Some(error)) => failed(error),
        (status, None) => {
            let note = if claim.summary.is_empty() {
                format!("the worker ended as {status:?}")
            } else {
                claim.summary
            };
            Outcome::Failed { class: FailureClass::Tool, note, retryable: true }
        }
    }
}

/// A worker that does not speak any more, or not the protocol.
pub(super) fn of_broken(broken: Broken) -> Outcome {
    match broken {
        Broken::Lost(why) => Outcome::Lost(why),
        Broken::Garbage(note) => Outcome::Failed { class: FailureClass::Tool, note, retryable: true },
    }
}

/// No answer of the model.
pub(super) fn of_model_failure(error: AirError) -> Outcome {
    let class = if error.is(codes::BUDGET_REACHED) { FailureClass::Budget } else { FailureClass::Provider };
    Outcome::Failed { class, note: error.message, retryable: error.retryable }
}

/// An error of any other kind.
pub(super) fn failed(error: AirError) -> Outcome {
    let class = match error.code.as_str() {
        codes::BUDGET_REACHED => FailureClass::Budget,
        code if code.starts_with("provider.") || code == codes::MODEL_NOT_FOUND => FailureClass::Provider,
        _ => FailureClass::Tool,
    };
    Outcome::Failed { class, note: error.message, retryable: error.retryable }
}
