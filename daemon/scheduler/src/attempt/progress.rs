//! What an attempt has shown so far: for L9, and for judging `task.finish`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use air_contracts::task::CriterionState;
use air_contracts::tool::{ToolResultEnvelope, ToolStatus};
use air_store::ToolRunRow;
use serde_json::Value;

use super::calls::only_reads;
use super::seat::Seat;
use crate::scheduler::Scheduler;

/// The last run of a check that a worker asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) run_ref: u64,
    pub(crate) passed: bool,
    /// What failed that had not failed before the task.
    pub(crate) new: Vec<String>,
}

/// An agent at work, as tools see it that act on its behalf.
pub(crate) struct Live {
    pub(crate) seat: Seat,
    scheduler: Arc<Scheduler>,
    state: Mutex<Progress>,
}

/// What is known of an attempt.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Names of the calls of the answer that is being carried out.
    pub(crate) batch: Vec<String>,
    /// The run that wrote last, as its number.
    pub(crate) last_write: Option<u64>,
    /// Whether it did more than look around.
    pub(crate) acted: bool,
    /// By command, and by name.
    pub(crate) checks: BTreeMap<String, Seen>,
    /// Commands in the background: run number and command.
    pub(crate) background: BTreeMap<u64, String>,
    /// How long the last call ran.
    pub(crate) last_duration_ms: u64,
}

impl Live {
    pub(crate) fn new(seat: Seat, scheduler: Arc<Scheduler>) -> Self {
        Self { seat, scheduler, state: Mutex::default() }
    }

    pub(crate) fn scheduler(&self) -> &Arc<Scheduler> {
        &self.scheduler
    }

    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        // Every change is one assignment: a panic leaves nothing half-done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    /// Takes over the result of a call.
    pub(crate) fn take(&mut self, envelope: &ToolResultEnvelope) {
        self.last_duration_ms = envelope.duration_ms;
        if !envelope.written.is_empty() {
            self.last_write = Some(envelope.run_ref);
        }
        self.acted |= !only_reads(&envelope.tool) && envelope.status == ToolStatus::Ok;
        if envelope.data.get("background").and_then(Value::as_bool) == Some(true) {
            self.background.insert(envelope.run_ref, envelope.summary.clone());
        }
    }

    /// Notices that a command in the background (`r41`) has ended.
    pub(crate) fn watch(&mut self, envelope: &ToolResultEnvelope, target: Option<&str>) {
        let ended = match envelope.tool.as_str() {
            "process.kill" => envelope.status == ToolStatus::Ok,
            "process.output" => envelope.data.get("running").and_then(Value::as_bool) == Some(false),
            _ => false,
        };
        let run =
            target.and_then(|target| target.strip_prefix('r')).and_then(|number| number.parse::<u64>().ok());
        if let (true, Some(run)) = (ended, run) {
            self.background.remove(&run);
        }
    }

    /// Takes over runs of an earlier life of the attempt.
    pub(crate) fn take_row(&mut self, row: &ToolRunRow) {
        if !row.written.is_empty() {
            self.last_write = Some(row.n);
        }
        self.acted |= !row.written.is_empty() || row.may_have_written;
    }

    /// The last run of a command, if nothing was written after it.
    pub(crate) fn fresh(&self, command: &str) -> Option<&Seen> {
        self.checks.get(command).filter(|seen| self.last_write.is_none_or(|write| seen.run_ref > write))
    }

    /// State and note of a criterion with this check.
    pub(crate) fn criterion(&self, command: Option<&str>) -> (CriterionState, String) {
        let Some(command) = command else { return (CriterionState::Unproved, "has no check".to_owned()) };
        match (self.checks.get(command), self.fresh(command)) {
            (_, Some(seen)) if seen.passed => (CriterionState::Proved, format!("r{}", seen.run_ref)),
            (_, Some(seen)) => (CriterionState::Failed, format!("r{}", seen.run_ref)),
            (Some(seen), None) => {
                (CriterionState::Stale, format!("r{} is older than the last write", seen.run_ref))
            }
            (None, None) => (CriterionState::Unproved, "not run yet".to_owned()),
        }
    }

    /// Failures in the last runs that the baseline did not have.
    pub(crate) fn new_failures(&self) -> Vec<String> {
        // A check is known by its name and by its command.
        let new: BTreeSet<&String> = self.checks.values().flat_map(|seen| &seen.new).collect();
        new.into_iter().take(10).cloned().collect()
    }
}
