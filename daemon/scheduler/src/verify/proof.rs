//! When a passed check proves its claim. Pure rules over what runs showed.

use air_contracts::evidence::TestCounts;
use air_contracts::project::CheckKind;
use air_contracts::task::CriterionState;

use crate::checks::{CheckRun, CheckSpec, Origin};

/// What is known about one check.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub spec: &'a CheckSpec,
    /// On the tree that is judged.
    pub now: &'a CheckRun,
    /// Before the task wrote anything; `None` where it was not run then.
    pub before: Option<&'a CheckRun>,
    /// Whether the command passes in an empty folder; `None` where nobody looked.
    pub passes_anywhere: Option<bool>,
    /// What the task did to the check itself: `tests/a.cpp was deleted`.
    pub tampered: Option<&'a str>,
}

/// What follows for a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// `Proved`, `Failed`, or `Unproved`.
    pub state: CriterionState,
    /// The check shows less than it did before the task; a reviewer must look.
    pub weaker: bool,
    /// One line: what was seen.
    pub note: String,
}

/// Whether the verdict depends on what the command does in an empty folder.
pub fn needs_control(spec: &CheckSpec, now: &CheckRun, before: Option<&CheckRun>) -> bool {
    now.passed() && !shows_by_itself(spec, now) && !failed_before(before) && !(ran_nothing(spec, now))
}

/// Judges one check.
pub fn judge(facts: Facts<'_>) -> Proof {
    let Facts { spec, now, before, .. } = facts;
    let seen = seen(now, before);
    if let Some((_, why)) = &now.not_run {
        return Proof { state: CriterionState::Failed, weaker: false, note: format!("was not run: {why}") };
    }
    if !now.passed() {
        let known = before.is_some_and(|before| !before.passed() && before.instances == now.instances);
        let note = if known { format!("{seen}: fails as before the task") } else { seen };
        return Proof { state: CriterionState::Failed, weaker: false, note };
    }
    if ran_nothing(spec, now) {
        return Proof { state: CriterionState::Unproved, weaker: false, note: "no test ran".to_owned() };
    }
    if let Some(what) = facts.tampered {
        return Proof { state: CriterionState::Unproved, weaker: true, note: format!("{seen}, but {what}") };
    }
    if let (Some(now), Some(before)) = (now.tests, before.and_then(|before| before.tests))
        && now.ran() < before.ran()
    {
        let note = format!("{} tests ran, {} before", now.ran(), before.ran());
        return Proof { state: CriterionState::Unproved, weaker: true, note };
    }
    if shows_by_itself(spec, now) || failed_before(before) || facts.passes_anywhere == Some(false) {
        return Proof { state: CriterionState::Proved, weaker: false, note: seen };
    }
    let note = if before.is_some() {
        "passes in an empty folder and before the change too: it shows nothing"
    } else {
        "passes in an empty folder too: it shows nothing"
    };
    Proof { state: CriterionState::Unproved, weaker: false, note: note.to_owned() }
}

/// A project's own build means what it says; its tests do when some ran.
fn shows_by_itself(spec: &CheckSpec, now: &CheckRun) -> bool {
    let builds = matches!(spec.check.kind, CheckKind::Configure | CheckKind::Build | CheckKind::Lint);
    spec.origin == Origin::Project && (builds || now.tests.is_some_and(|tests| tests.ran() > 0))
}

fn failed_before(before: Option<&CheckRun>) -> bool {
    before.is_some_and(|before| before.not_run.is_none() && !before.passed())
}

fn ran_nothing(spec: &CheckSpec, now: &CheckRun) -> bool {
    let tests = now.tests.is_some_and(|tests| tests.ran() == 0);
    tests && (spec.check.kind == CheckKind::Test || spec.origin != Origin::Project)
}

/// `3 of 3, before 2 of 3`, `exit 1, before exit 0`.
fn seen(now: &CheckRun, before: Option<&CheckRun>) -> String {
    let mut text = outcome(now);
    if let Some(before) = before.filter(|before| before.not_run.is_none()) {
        let was = outcome(before);
        if was != text {
            text = format!("{text}, before {was}");
        }
    }
    text
}

fn outcome(run: &CheckRun) -> String {
    let tests = run.tests.filter(|tests: &TestCounts| tests.ran() > 0);
    match (tests, run.exit_code) {
        (Some(tests), _) => format!("{} of {}", tests.passed, tests.ran()),
        (None, Some(code)) => format!("exit {code}"),
        (None, None) => "no exit code".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use air_contracts::ids::{ToolRunId, TurnId};
    use air_contracts::project::ProjectCheck;

    use super::*;

    fn spec(kind: CheckKind, origin: Origin) -> CheckSpec {
        let check = ProjectCheck {
            name: "c".into(),
            claim: "it works".into(),
            command: "c".into(),
            kind,
            timeout_ms: None,
            defined_by: Vec::new(),
        };
        CheckSpec { check, origin }
    }

    fn run(exit: i32, tests: Option<(u32, u32)>) -> CheckRun {
        CheckRun {
            run_id: ToolRunId::from_slice(&[0; 16]).unwrap(),
            run_ref: 1,
            turn_id: TurnId::from_slice(&[0; 16]).unwrap(),
            not_run: None,
            exit_code: Some(exit),
            tests: tests.map(|(passed, failed)| TestCounts { passed, failed, skipped: 0 }),
            instances: if exit == 0 { Vec::new() } else { vec!["c: x".into()] },
            content: String::new(),
            artifact: None,
            tree: "t".into(),
            write_seq: 0,
        }
    }

    fn check(
        spec: &CheckSpec,
        (now, before): (CheckRun, Option<CheckRun>),
        anywhere: Option<bool>,
        tampered: Option<&str>,
        expected: (CriterionState, bool, &str),
    ) {
        let facts = Facts { spec, now: &now, before: before.as_ref(), passes_anywhere: anywhere, tampered };
        let proof = judge(facts);
        assert_eq!((proof.state, proof.weaker, proof.note.as_str()), expected);
    }

    #[test]
    fn a_criterion_check_must_tell_something_apart() {
        use CriterionState::{Failed, Proved, Unproved};
        let own = spec(CheckKind::Other, Origin::Criterion(1));
        let nothing = "passes in an empty folder and before the change too: it shows nothing";
        check(&own, (run(0, None), Some(run(0, None))), Some(true), None, (Unproved, false, nothing));
        check(&own, (run(0, None), Some(run(1, None))), None, None, (Proved, false, "exit 0, before exit 1"));
        check(&own, (run(0, None), Some(run(0, None))), Some(false), None, (Proved, false, "exit 0"));
        check(
            &own,
            (run(1, None), Some(run(1, None))),
            None,
            None,
            (Failed, false, "exit 1: fails as before the task"),
        );
        check(&own, (run(1, None), Some(run(0, None))), None, None, (Failed, false, "exit 1, before exit 0"));
        check(&own, (run(0, Some((0, 0))), None), Some(false), None, (Unproved, false, "no test ran"));
    }

    #[test]
    fn tests_prove_when_they_ran_and_are_not_fewer() {
        use CriterionState::{Proved, Unproved};
        let tests = spec(CheckKind::Test, Origin::Project);
        let before = || Some(run(1, Some((2, 1))));
        check(&tests, (run(0, Some((3, 0))), before()), None, None, (Proved, false, "3 of 3, before 2 of 3"));
        check(
            &tests,
            (run(0, Some((2, 0))), before()),
            None,
            None,
            (Unproved, true, "2 tests ran, 3 before"),
        );
        check(&tests, (run(0, Some((0, 0))), None), None, None, (Unproved, false, "no test ran"));
        let gone = "tests/a.cpp was deleted";
        let note = "3 of 3, before 2 of 3, but tests/a.cpp was deleted";
        check(&tests, (run(0, Some((3, 0))), before()), None, Some(gone), (Unproved, true, note));
    }

    #[test]
    fn an_empty_folder_is_asked_only_where_it_decides() {
        let own = spec(CheckKind::Other, Origin::Criterion(1));
        assert!(needs_control(&own, &run(0, None), Some(&run(0, None))));
        assert!(!needs_control(&own, &run(0, None), Some(&run(1, None))));
        assert!(!needs_control(&own, &run(1, None), None));
        assert!(!needs_control(&spec(CheckKind::Build, Origin::Project), &run(0, None), None));
        assert!(needs_control(&spec(CheckKind::Test, Origin::Project), &run(0, None), None));
    }
}
