//! Agents and attempts.

use air_contracts::event::{AgentEnded, AgentLost, AgentStarted, ProviderWaiting};
use air_contracts::ids::AttemptId;
use air_contracts::task::AttemptStatus;
use serde_json::{Value, json as value};

use super::changes::{json, word};
use super::statements::{Insert, Update};
use super::{Changes, Entry, ItemKind};

pub(super) fn started(entry: Entry<'_>, body: &AgentStarted, changes: &mut Changes) {
    let task = body.attempt.as_ref().map(|attempt| attempt.task_id.hex());
    let running = word(AttemptStatus::Running);
    let row =
        (body.n, body.agent_id.hex(), body.session_id.hex(), task, running.as_str(), entry.seq, entry.at);
    changes.insert(Insert::Agent, row);
    if let Some(attempt) = &body.attempt {
        let row = (
            entry.seq,
            attempt.attempt_id.hex(),
            attempt.task_id.hex(),
            body.agent_id.hex(),
            attempt.n,
            running,
            entry.at,
        );
        changes.insert(Insert::Attempt, row);
    }
}

pub(super) fn ended(entry: Entry<'_>, body: &AgentEnded, changes: &mut Changes) {
    let columns = [value!(word(body.status)), Value::Null, Value::Null, value!(entry.at)];
    changes.update(Update::Agent, body.agent_id.hex(), columns);
    let class = body.failure_class.map_or(Value::Null, |class| value!(word(class)));
    end_attempt(
        body.attempt_id,
        [
            value!(word(body.status)),
            class,
            value!(body.note),
            json(&body.failure_instances),
            value!(entry.at),
        ],
        changes,
    );
}

pub(super) fn lost(entry: Entry<'_>, body: &AgentLost, changes: &mut Changes) {
    let status = value!(word(AttemptStatus::Lost));
    changes.update(
        Update::Agent,
        body.agent_id.hex(),
        [status.clone(), Value::Null, Value::Null, value!(entry.at)],
    );
    let class = value!(word(air_contracts::task::FailureClass::LostWorker));
    end_attempt(
        body.attempt_id,
        [status, class, value!(body.reason), Value::Null, value!(entry.at)],
        changes,
    );
}

fn end_attempt(attempt: Option<AttemptId>, columns: [Value; 5], changes: &mut Changes) {
    if let Some(attempt) = attempt {
        changes.update(Update::Attempt, attempt.hex(), columns);
    }
}

pub(super) fn waiting(entry: Entry<'_>, body: &ProviderWaiting, changes: &mut Changes) {
    let columns = [Value::Null, value!(body.error.message), value!(body.until.as_millis()), Value::Null];
    changes.update(Update::Agent, body.agent_id.hex(), columns);
    changes.item(body.session_id, entry.seq, ItemKind::Notice, 0);
}
