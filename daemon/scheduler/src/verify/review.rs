//! When a reviewer looks, what it is given, and what its verdict does.

use std::fmt::Write as _;

use air_contracts::event::{EventSource, EvidenceRecorded, NewEvent};
use air_contracts::evidence::{Evidence, EvidenceKind};
use air_contracts::ids::{EvidenceId, RefKind};
use air_contracts::task::{CriterionOutcome, CriterionState, ReviewPolicy};
use air_contracts::worker_result::WorkerStatus;
use air_scheduler_core::ReviewVerdict;
use air_store::TaskRow;
use serde_json::Value;

use super::tree::Looked;
use super::{Judged, Verdict, Verification};
use crate::checks::CheckList;
use crate::deps::SchedulerDeps;

/// A change up to this size is not reviewed when its checks are green.
const SMALL_FILES: usize = 3;
const SMALL_LINES: u32 = 80;

/// Bytes of a patch that a reviewer is given whole.
const PATCH: usize = 40 * 1024;

/// Whether a reviewer must look before the task is complete.
pub(crate) fn needed(
    verification: &Verification<'_>,
    list: &CheckList,
    looked: &Looked,
    judged: &[Judged],
) -> bool {
    let policy = verification.task.spec.verification.review;
    if policy != ReviewPolicy::Auto {
        return policy == ReviewPolicy::Always;
    }
    if judged.iter().any(|one| one.weaker) {
        return true;
    }
    // Without anything that runs a review would be the only word on it: the report says "unproved" instead.
    if list.is_empty() || verification.claim.status == WorkerStatus::NoChange || looked.changed.is_empty() {
        return false;
    }
    let lines = |file: &air_contracts::workspace::FileChange| {
        file.added.unwrap_or(SMALL_LINES).saturating_add(file.removed.unwrap_or(0))
    };
    let changed: u32 = looked.changed.iter().map(lines).fold(0, u32::saturating_add);
    !(verification.single && looked.changed.len() <= SMALL_FILES && changed <= SMALL_LINES)
}

/// What a reviewer is given beside the task: checks, the change, and the summary last, as a claim.
pub(crate) fn material(verdict: &Verdict, summary: &str) -> String {
    let mut text = format!("# What the checks say\n{}\n", verdict.told.trim_end());
    if verdict.patch.len() <= PATCH {
        let _ = writeln!(text, "# The change\n```diff\n{}\n```", verdict.patch.trim_end());
    } else {
        let files: Vec<String> =
            verdict.changed_files.iter().map(air_contracts::path::WirePath::display).collect();
        let mut end = PATCH;
        while !verdict.patch.is_char_boundary(end) {
            end -= 1;
        }
        let shown = &verdict.patch[..end];
        let _ = writeln!(text, "# The change: {}\n```diff\n{shown}\n```", files.join(", "));
        let left = verdict.patch.len() - end;
        let _ = writeln!(text, "[{left} bytes left out: `git.diff` with range task and a path shows them]");
    }
    let _ = writeln!(text, "# What the worker says of it (a claim, not a fact)\n{}", summary.trim());
    text
}

/// Reads the verdict of a reviewer's `task.finish`.
pub(crate) fn verdict_of(result: &Value) -> ReviewVerdict {
    let findings = result.get("findings").and_then(Value::as_array).into_iter().flatten();
    let findings: Vec<String> = findings.map(finding).filter(|text| !text.is_empty()).collect();
    match result.get("verdict").and_then(Value::as_str) {
        Some("accept") => ReviewVerdict::Accept,
        Some("changes") if !findings.is_empty() => ReviewVerdict::Changes { findings },
        Some("changes") => {
            ReviewVerdict::CannotTell { reason: "the reviewer wants changes but names none".to_owned() }
        }
        _ => {
            let reason = result.get("reason").and_then(Value::as_str).unwrap_or("the reviewer cannot tell");
            ReviewVerdict::CannotTell { reason: reason.to_owned() }
        }
    }
}

fn finding(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Object(fields) => {
            let part = |name: &str| fields.get(name).and_then(Value::as_str).map(str::trim);
            let place = part("place").or_else(|| part("path")).unwrap_or_default();
            let text = part("text").or_else(|| part("what")).or_else(|| part("message")).unwrap_or_default();
            format!("{place} {text}").trim().to_owned()
        }
        _ => String::new(),
    }
}

/// Claims that a reviewer has accepted.
pub(crate) fn accepted(mut criteria: Vec<CriterionOutcome>, evidence: EvidenceId) -> Vec<CriterionOutcome> {
    for one in criteria.iter_mut().filter(|one| one.state == CriterionState::Unproved) {
        one.state = CriterionState::Reviewed;
        one.evidence.push(evidence);
    }
    criteria
}

/// The verdict as evidence.
pub(crate) fn evidence(
    deps: &SchedulerDeps,
    task: &TaskRow,
    verdict: &str,
    tree: String,
    write_seq: u64,
) -> NewEvent {
    let evidence = Evidence {
        id: EvidenceId::from_uuid(deps.ids.next()),
        n: deps.store.next_ref(RefKind::Evidence),
        task_id: task.id,
        claim: "review of the change".to_owned(),
        kind: EvidenceKind::Review { verdict: verdict.to_owned() },
        tree,
        write_seq,
        command: None,
        exit_code: None,
        tests: None,
        tests_before: None,
        artifact: None,
        weaker: false,
        note: verdict.to_owned(),
    };
    let body = EvidenceRecorded { session_id: task.session_id, evidence };
    NewEvent::new(task.session_id, EventSource::scheduler(), body).task(Some(task.id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_verdict_without_findings_is_no_reason_to_change() {
        assert_eq!(verdict_of(&json!({ "verdict": "accept", "findings": ["note"] })), ReviewVerdict::Accept);
        let findings = vec!["src/a.cpp:3 loses the last byte".to_owned(), "no test".to_owned()];
        let said = json!({ "verdict": "changes", "findings": [{ "path": "src/a.cpp:3", "text": "loses the last byte" }, "no test"] });
        assert_eq!(verdict_of(&said), ReviewVerdict::Changes { findings });
        for vague in
            [json!({}), json!({ "verdict": "changes" }), json!({ "verdict": "cannot_tell" }), json!("yes")]
        {
            assert!(matches!(verdict_of(&vague), ReviewVerdict::CannotTell { .. }), "{vague}");
        }
    }
}
