//! What is recorded of a verification, and how models are told of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use air_contracts::event::{EventBody, EventSource, EvidenceRecorded, NewEvent};
use air_contracts::evidence::{Evidence, EvidenceKind};
use air_contracts::ids::{EvidenceId, RefKind};
use air_contracts::task::{CriterionOutcome, CriterionState};

use super::tree::Looked;
use super::{Judged, Verification};
use crate::checks::{Baseline, CheckList, CheckRun};

/// Bytes of a failed check's output that the next attempt is given.
const EXCERPT: usize = 2 * 1024;

/// One piece of evidence for each claim whose check passed, and one for the change itself.
pub(crate) fn evidence(
    verification: &Verification<'_>,
    list: &CheckList,
    looked: &Looked,
    judged: &[Judged],
) -> Vec<NewEvent> {
    let mut events = Vec::new();
    for one in judged {
        let Some(spec) = one.claim.spec else { continue };
        let (Some(run), Some(check)) = (looked.runs.get(spec), list.specs.get(spec)) else { continue };
        if run.passed() && (one.state == CriterionState::Proved || one.weaker) {
            events.push(of_check(verification, looked, one, run, &check.check.command));
        }
    }
    if !looked.changed.is_empty() {
        let area = judged.iter().find(|one| one.claim.spec.is_none() && one.claim.criterion.is_none());
        let claim = area
            .map_or_else(|| format!("what k{} changed", verification.task.n), |one| one.claim.text.clone());
        events.push(of_change(verification, looked, &claim));
    }
    events
}

fn of_check(
    verification: &Verification<'_>,
    looked: &Looked,
    one: &Judged,
    run: &CheckRun,
    command: &str,
) -> NewEvent {
    // A run that is itself the one from before the task has nothing before it.
    let before = verification.baseline.of(command).filter(|before| before.run_id != run.run_id);
    let kind =
        EvidenceKind::CheckPassed { tool_run: run.run_id, baseline: before.map(|before| before.run_id) };
    let mut evidence = blank(verification, looked, &one.claim.text, kind, &one.note);
    evidence.command = Some(command.to_owned());
    evidence.exit_code = run.exit_code;
    evidence.tests = run.tests;
    evidence.tests_before = before.and_then(|before| before.tests);
    evidence.artifact.clone_from(&run.artifact);
    evidence.weaker = one.weaker;
    recorded(verification, evidence)
}

fn of_change(verification: &Verification<'_>, looked: &Looked, claim: &str) -> NewEvent {
    let paths = looked.changed.iter().map(|file| file.path.clone()).collect();
    let (mut added, mut removed) = (0u32, 0u32);
    for file in &looked.changed {
        added = added.saturating_add(file.added.unwrap_or(0));
        removed = removed.saturating_add(file.removed.unwrap_or(0));
    }
    let files = if looked.changed.len() == 1 {
        "1 file".to_owned()
    } else {
        format!("{} files", looked.changed.len())
    };
    let note = format!("{files}, +{added} -{removed}");
    recorded(verification, blank(verification, looked, claim, EvidenceKind::Diff { paths }, &note))
}

fn blank(
    verification: &Verification<'_>,
    looked: &Looked,
    claim: &str,
    kind: EvidenceKind,
    note: &str,
) -> Evidence {
    Evidence {
        id: EvidenceId::from_uuid(verification.deps.ids.next()),
        n: verification.deps.store.next_ref(RefKind::Evidence),
        task_id: verification.task.id,
        claim: claim.to_owned(),
        kind,
        tree: looked.tree.clone(),
        write_seq: looked.write_seq,
        command: None,
        exit_code: None,
        tests: None,
        tests_before: None,
        artifact: None,
        weaker: false,
        note: note.to_owned(),
    }
}

fn recorded(verification: &Verification<'_>, evidence: Evidence) -> NewEvent {
    let session_id = verification.task.session_id;
    let body = EvidenceRecorded { session_id, evidence };
    NewEvent::new(session_id, EventSource::scheduler(), body)
        .task(Some(verification.task.id))
        .agent(verification.agent_id)
}

/// Criteria as the task's row holds them, with the evidence among the events.
pub(crate) fn outcomes(judged: &[Judged], events: &[NewEvent]) -> Vec<CriterionOutcome> {
    let mut by_claim: BTreeMap<&str, Vec<EvidenceId>> = BTreeMap::new();
    for event in events {
        if let EventBody::EvidenceRecorded(recorded) = &event.body {
            by_claim.entry(recorded.evidence.claim.as_str()).or_default().push(recorded.evidence.id);
        }
    }
    let outcome = |one: &Judged| CriterionOutcome {
        text: one.claim.text.clone(),
        check: one.claim.check.clone(),
        state: one.state,
        evidence: by_claim.get(one.claim.text.as_str()).cloned().unwrap_or_default(),
        note: one.note.clone(),
    };
    judged.iter().map(outcome).collect()
}

/// For the next attempt and for a reviewer: one line for each claim, then what failed.
pub(crate) fn told(list: &CheckList, looked: &Looked, judged: &[Judged], baseline: &Baseline) -> String {
    let mut text = String::new();
    for one in judged {
        let run =
            one.claim.spec.and_then(|spec| looked.runs.get(spec)).map(|run| format!(" (r{})", run.run_ref));
        let state = serde_json::to_value(one.state).unwrap_or_default();
        let state = state.as_str().unwrap_or_default();
        let _ = writeln!(text, "- {}: {state}, {}{}", one.claim.text, one.note, run.unwrap_or_default());
    }
    for (spec, run) in list.specs.iter().zip(&looked.runs).filter(|(_, run)| !run.passed()) {
        let before = baseline.of(&spec.check.command);
        let known = |one: &&String| before.is_some_and(|before| before.instances.contains(one));
        let (old, new): (Vec<&String>, Vec<&String>) = run.instances.iter().partition(known);
        let _ = writeln!(text, "\n{}: `{}`", spec.check.name, spec.check.command);
        for (label, items) in [("new", new), ("failed before the task too", old)] {
            if !items.is_empty() {
                let items: Vec<&str> = items.into_iter().map(String::as_str).take(20).collect();
                let _ = writeln!(text, "{label}: {}", items.join(", "));
            }
        }
        let _ = writeln!(text, "{}", tail(&run.content, EXCERPT));
    }
    text
}

/// The end of a text, whole lines, with a sign where it was cut.
pub(crate) fn tail(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut start = text.len() - limit;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let start = text[start..].find('\n').map_or(start, |at| start + at + 1);
    format!("[{start} bytes left out]\n{}", &text[start..])
}
