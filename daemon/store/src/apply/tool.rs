//! Tool runs.

use air_contracts::event::{CommandOutcome, ToolCompleted, ToolFailed, ToolStarted};
use air_contracts::ids::{ToolRunId, TurnId};
use air_contracts::tool::ToolStatus;
use serde_json::json as value;
use sha2::{Digest as _, Sha256};

use super::changes::word;
use super::statements::{Insert, Update};
use super::{Changes, Entry, ItemKind};

pub(super) fn started(entry: Entry<'_>, body: &ToolStarted, changes: &mut Changes) {
    insert(entry, body, None, changes);
}

/// What a call is looked up by. Ids of calls are long and random: an index on them would cost twice the writes.
pub(crate) fn call_hash(turn: TurnId, call_id: &str) -> i64 {
    let digest = Sha256::new().chain_update(turn.as_bytes()).chain_update(call_id).finalize();
    digest.iter().take(8).fold(0_i64, |hash, byte| (hash << 8) | i64::from(*byte))
}

/// `ended`: how it ended, when one event says both.
fn insert(entry: Entry<'_>, body: &ToolStarted, ended: Option<ToolStatus>, changes: &mut Changes) {
    let row = (
        body.n,
        body.run_id.hex(),
        body.session_id.hex(),
        body.turn_id.hex(),
        body.task_id.map(|task| task.hex()),
        call_hash(body.turn_id, &body.call_id),
        ended.map(word),
        entry.seq,
        ended.map(|_| entry.seq),
    );
    changes.insert(Insert::ToolRun, row);
    changes.item(body.session_id, entry.seq, ItemKind::ToolRun, body.n);
}

pub(super) fn completed(entry: Entry<'_>, body: &ToolCompleted, changes: &mut Changes) {
    end(entry, body.run_id, ToolStatus::Ok, changes);
    if !body.written.is_empty() || body.may_have_written {
        changes.wrote(body.run_id.hex());
    }
    if let Some(command) = &body.command {
        outcome(entry, body.run_id, command, changes);
    }
}

fn outcome(entry: Entry<'_>, run: ToolRunId, command: &CommandOutcome, changes: &mut Changes) {
    let row = (
        entry.seq,
        run.hex(),
        command.exit_code,
        command.signal,
        i64::from(command.timed_out),
        command.output_bytes,
        command.survivors,
        command.wall_ms,
    );
    changes.insert(Insert::CommandRun, row);
}

pub(super) fn failed(entry: Entry<'_>, body: &ToolFailed, changes: &mut Changes) {
    match &body.refused {
        Some(started) => insert(entry, started, Some(body.status), changes),
        None => end(entry, body.run_id, body.status, changes),
    }
}

fn end(entry: Entry<'_>, run: ToolRunId, status: ToolStatus, changes: &mut Changes) {
    changes.update(Update::ToolRun, run.hex(), [value!(word(status)), value!(entry.seq)]);
}
