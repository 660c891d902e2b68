//! From runs to claims.

use air_contracts::project::CheckKind;
use air_contracts::task::CriterionState;
use air_contracts::workspace::FileChange;
use globset::{Glob, GlobSetBuilder};

use super::Verification;
use super::proof::{Facts, Proof, judge as judge_check, needs_control};
use super::tree::Looked;
use crate::checks::{CheckList, CheckSpec, Claim, Origin};

/// A claim with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    pub(crate) claim: Claim,
    pub(crate) state: CriterionState,
    pub(crate) weaker: bool,
    pub(crate) note: String,
}

/// Judges every claim, and the area where the task was to stay.
pub(crate) async fn judge(verification: &Verification<'_>, list: &CheckList, looked: &Looked) -> Vec<Judged> {
    let checker = verification.checker();
    let mut proofs: Vec<Proof> = Vec::with_capacity(list.specs.len());
    for (spec, now) in list.specs.iter().zip(&looked.runs) {
        let before = verification.baseline.of(&spec.check.command);
        let passes_anywhere = match needs_control(spec, now, before) {
            true => Some(checker.passes_anywhere(&spec.check).await),
            false => None,
        };
        let tampered = tampered(spec, &looked.changed);
        proofs.push(judge_check(Facts { spec, now, before, passes_anywhere, tampered: tampered.as_deref() }));
    }
    let of_claim = |claim: &Claim| match claim.spec.and_then(|spec| proofs.get(spec)) {
        Some(proof) => Judged {
            claim: claim.clone(),
            state: proof.state,
            weaker: proof.weaker,
            note: proof.note.clone(),
        },
        None => {
            let note = "nothing that runs was named for it".to_owned();
            Judged { claim: claim.clone(), state: CriterionState::Unproved, weaker: false, note }
        }
    };
    let mut judged: Vec<Judged> = list.claims.iter().map(of_claim).collect();
    judged.extend(area(&verification.task.spec.scope.write, &looked.changed));
    judged
}

/// What the task did to a check: edited what defines it, or deleted a test.
pub(crate) fn tampered(spec: &CheckSpec, changed: &[FileChange]) -> Option<String> {
    if spec.origin != Origin::Project {
        return None;
    }
    let defined_by = globs(&spec.check.defined_by);
    changed.iter().find_map(|file| {
        let path = file.path.to_path();
        let shown = file.path.display();
        if file.status == "deleted" && spec.check.kind == CheckKind::Test && is_test(&shown) {
            return Some(format!("{shown} was deleted"));
        }
        // A new file defines nothing that was there before; a test that is added makes no check weaker.
        let edited = file.status != "added" && defined_by.as_ref().is_some_and(|globs| globs.is_match(&path));
        edited.then(|| format!("{shown}, which defines this check, was {}", file.status))
    })
}

fn is_test(path: &str) -> bool {
    let path = path.to_lowercase();
    path.contains("test") || path.contains("spec")
}

fn globs(patterns: &[String]) -> Option<globset::GlobSet> {
    if patterns.is_empty() {
        return None;
    }
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|pattern| Glob::new(pattern.trim_start_matches("./")).ok()) {
        set.add(glob);
    }
    set.build().ok()
}

/// A declared area is a claim as well, shown by the comparison of trees.
fn area(write: &[String], changed: &[FileChange]) -> Option<Judged> {
    let inside = globs(write)?;
    let below = |path: &std::path::Path| {
        inside.is_match(path) || write.iter().any(|area| path.starts_with(area.trim_start_matches("./")))
    };
    let outside: Vec<String> =
        changed.iter().filter(|file| !below(&file.path.to_path())).map(|file| file.path.display()).collect();
    let claim = Claim {
        text: format!("only {} changed", write.join(", ")),
        check: None,
        criterion: None,
        spec: None,
    };
    let files = if changed.len() == 1 { "1 file".to_owned() } else { format!("{} files", changed.len()) };
    Some(match outside.is_empty() {
        true => Judged { claim, state: CriterionState::Proved, weaker: false, note: files },
        false => {
            let note = format!("{files}, outside of it: {}", outside.join(", "));
            Judged { claim, state: CriterionState::Unproved, weaker: false, note }
        }
    })
}

#[cfg(test)]
mod tests {
    use air_contracts::path::WirePath;
    use air_contracts::project::ProjectCheck;

    use super::*;

    fn change(path: &str, status: &str) -> FileChange {
        FileChange {
            path: WirePath::Path(path.into()),
            status: status.into(),
            added: Some(1),
            removed: Some(1),
        }
    }

    fn tests_check() -> CheckSpec {
        let check = ProjectCheck {
            name: "test".into(),
            claim: "all tests pass".into(),
            command: "ctest".into(),
            kind: CheckKind::Test,
            timeout_ms: None,
            defined_by: vec!["CMakeLists.txt".into(), "tests/**/CMakeLists.txt".into()],
        };
        CheckSpec { check, origin: Origin::Project }
    }

    #[test]
    fn edits_of_a_check_are_seen() {
        let cases = [
            (change("tests/unit/CMakeLists.txt", "modified"), true),
            (change("CMakeLists.txt", "deleted"), true),
            (change("tests/a_test.cpp", "deleted"), true),
            (change("tests/a_test.cpp", "modified"), false),
            (change("tests/new/CMakeLists.txt", "added"), false),
            (change("src/a.cpp", "deleted"), false),
        ];
        for (file, expected) in cases {
            let found = tampered(&tests_check(), std::slice::from_ref(&file));
            assert_eq!(found.is_some(), expected, "{file:?}: {found:?}");
        }
    }

    #[test]
    fn an_area_is_kept_or_the_report_names_what_lies_outside() {
        let write = ["src/*.cpp".to_owned(), "docs".to_owned()];
        let kept = area(&write, &[change("src/a.cpp", "modified"), change("docs/x/y.md", "added")]).unwrap();
        assert_eq!((kept.state, kept.note.as_str()), (CriterionState::Proved, "2 files"));
        let left = area(&write, &[change("README.md", "modified")]).unwrap();
        assert_eq!(
            (left.state, left.note.as_str()),
            (CriterionState::Unproved, "1 file, outside of it: README.md")
        );
        assert_eq!(area(&[], &[]), None);
    }
}
