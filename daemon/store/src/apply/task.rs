//! Tasks, evidence, diagnostics.

use air_contracts::event::{DiagnosticRecorded, EvidenceRecorded, TaskCreated, TaskStatusChanged};
use air_contracts::evidence::EvidenceKind;
use air_contracts::task::TaskStatus;
use serde_json::json as value;

use super::changes::{json, word};
use super::statements::{Insert, Update};
use super::{Changes, Entry, ItemKind};

pub(super) fn created(entry: Entry<'_>, body: &TaskCreated, changes: &mut Changes) {
    let task = &body.task;
    let status = word(TaskStatus::Pending);
    let row = (
        body.n,
        task.id.hex(),
        body.session_id.hex(),
        task.turn_id.hex(),
        status,
        entry.seq,
        entry.at,
        entry.at,
    );
    changes.insert(Insert::Task, row);
    for dependency in &task.dependencies {
        changes.insert(Insert::Dependency, (task.id.hex(), dependency.hex()));
    }
}

pub(super) fn status(entry: Entry<'_>, body: &TaskStatusChanged, changes: &mut Changes) {
    let columns = [
        value!(word(body.status)),
        value!(body.reason),
        value!(body.summary),
        json(&body.criteria),
        json(&body.changed_files),
        json(&body.foreign_files),
        json(&body.blocker),
        value!(body.note),
        value!(entry.at),
    ];
    changes.update(Update::Task, body.task_id.hex(), columns);
}

pub(super) fn evidence(entry: Entry<'_>, body: &EvidenceRecorded, changes: &mut Changes) {
    let evidence = &body.evidence;
    let kind = kind_word(&evidence.kind);
    let row = (
        evidence.n,
        evidence.id.hex(),
        body.session_id.hex(),
        evidence.task_id.hex(),
        kind,
        evidence.write_seq,
        entry.seq,
    );
    changes.insert(Insert::Evidence, row);
    changes.item(body.session_id, entry.seq, ItemKind::Evidence, evidence.n);
}

/// The name of a kind of evidence.
pub(crate) const fn kind_word(kind: &EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::CheckPassed { .. } => "check_passed",
        EvidenceKind::Diff { .. } => "diff",
        EvidenceKind::Review { .. } => "review",
    }
}

pub(super) fn diagnostic(entry: Entry<'_>, body: &DiagnosticRecorded, changes: &mut Changes) {
    let diagnostic = &body.diagnostic;
    let row = (
        entry.seq,
        diagnostic.id.hex(),
        body.session_id.hex(),
        body.run_id.hex(),
        word(diagnostic.severity),
        &diagnostic.signature,
        &diagnostic.instance,
    );
    changes.insert(Insert::Diagnostic, row);
}
