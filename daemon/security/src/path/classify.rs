//! The rules that turn a resolved path into a class and a decision.

use std::path::{Component, Path, PathBuf};

use air_contracts::permission::{Decision, RiskLevel};

use super::credential::{Secret, secret_of};
use super::names::{VCS_DIRS, has_vcs, is_harmless_fact, is_permissions, is_system, next_is, odd_name};
use super::{PathClass, PathOp, PathVerdict, Resolved, is_rebuildable, normalise, resolve};
use crate::facts::{Boundaries, FileKind, FsFacts};

pub(super) fn classify(path: &Path, op: PathOp, boundaries: &Boundaries, facts: &dyn FsFacts) -> PathVerdict {
    let whole = absolute(path, boundaries);
    let strict = !path.is_absolute();
    let resolved = if path.as_os_str().is_empty() { PathBuf::new() } else { whole.clone() };
    match resolve(&resolved, op != PathOp::Delete, strict, facts) {
        Resolved::Invalid { path, why } => {
            PathVerdict::new(PathClass::Invalid, RiskLevel::Unknown, Decision::Deny, path, why)
        }
        Resolved::Found { path: found, kind, nlink } => {
            let rules = Rules { op, boundaries, fold: facts.folds_case(&boundaries.workspace_root) };
            let by_target = rules.judge(&found, kind, nlink);
            // A link may hide under an innocent name, or an innocent target under a name with a meaning.
            let by_name = rules.by_name(&normalise(&whole), &found);
            let verdict = by_name.map_or(by_target.clone(), |named| by_target.stricter(named));
            odd_name(path, op, verdict)
        }
    }
}

/// The path as an absolute one. A leading `~` is home; `~name` is left below the parent of home.
fn absolute(path: &Path, boundaries: &Boundaries) -> PathBuf {
    let mut components = path.components();
    if let Some(Component::Normal(first)) = components.next()
        && let Some(user) = first.to_str().and_then(|text| text.strip_prefix('~'))
    {
        let base = if user.is_empty() {
            boundaries.home.clone()
        } else {
            boundaries.home.parent().unwrap_or(Path::new("/home")).join(user)
        };
        return base.join(components.as_path());
    }
    boundaries.workspace_root.join(path)
}

struct Rules<'a> {
    op: PathOp,
    boundaries: &'a Boundaries,
    fold: bool,
}

impl Rules<'_> {
    fn judge(&self, path: &Path, kind: Option<FileKind>, nlink: u64) -> PathVerdict {
        if let Some(verdict) = self.policy_file(path).or_else(|| self.protected(path)) {
            return verdict;
        }
        if let Some(verdict) = self.device(path, kind).or_else(|| self.credential(path)) {
            return verdict;
        }
        if let Some(below) = self.below(path, &self.boundaries.workspace_root) {
            return self.in_workspace(path, &below, kind, nlink);
        }
        self.elsewhere(path)
    }

    /// `path` relative to `root`, by component; without case where the volume folds it.
    fn below(&self, path: &Path, root: &Path) -> Option<PathBuf> {
        if let Ok(rest) = path.strip_prefix(root) {
            return Some(rest.to_path_buf());
        }
        if !self.fold {
            return None;
        }
        let mut rest = path.components();
        for expected in root.components() {
            let got = rest.next()?;
            if !got.as_os_str().eq_ignore_ascii_case(expected.as_os_str()) {
                return None;
            }
        }
        Some(rest.as_path().to_path_buf())
    }

    fn verdict(
        &self,
        class: PathClass,
        level: RiskLevel,
        decision: Decision,
        path: &Path,
        why: &str,
    ) -> PathVerdict {
        let reason = format!("{}: {why}", path.display());
        PathVerdict::new(class, level, decision, path.to_path_buf(), reason)
    }

    /// Permission files, and folders whose removal would remove them.
    fn policy_file(&self, path: &Path) -> Option<PathVerdict> {
        let global = self.below(path, &self.boundaries.air_home).is_some_and(|rest| is_permissions(&rest));
        let shared =
            [&self.boundaries.workspace_root, &self.boundaries.project_root].into_iter().any(|root| {
                self.below(path, root).is_some_and(|rest| {
                    let mut parts = rest.components();
                    let in_shared = next_is(&mut parts, ".air") && next_is(&mut parts, "shared");
                    in_shared && is_permissions(parts.as_path())
                })
            });
        if !global && !shared {
            return None;
        }
        Some(match self.op {
            PathOp::Read => self.verdict(
                PathClass::RuntimePolicy,
                RiskLevel::Safe,
                Decision::Allow,
                path,
                "the permission rules",
            ),
            PathOp::Write | PathOp::Delete => self.verdict(
                PathClass::RuntimePolicy,
                RiskLevel::SystemSensitive,
                Decision::Deny,
                path,
                "permission rules are never changed by a tool call",
            ),
        })
    }

    /// Roots and folders that are never removed, with everything that contains them.
    fn protected(&self, path: &Path) -> Option<PathVerdict> {
        if self.op != PathOp::Delete {
            return None;
        }
        let b = self.boundaries;
        let roots = [&b.workspace_root, &b.project_root, &b.home, &b.air_home];
        let contains = roots.into_iter().any(|root| self.below(root, path).is_some());
        let folder = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
        let inside =
            self.below(path, &b.workspace_root).is_some() || self.below(path, &b.project_root).is_some();
        let class = if path == b.workspace_root || path == b.project_root {
            PathClass::ProjectRoot
        } else if contains && is_system(path) {
            PathClass::System
        } else if contains {
            PathClass::Outside
        } else if VCS_DIRS.contains(&folder.as_str()) {
            PathClass::VcsInternal
        } else if inside && self.is_runtime_folder(path) {
            PathClass::RuntimePolicy
        } else {
            return None;
        };
        let level = if class == PathClass::RuntimePolicy {
            RiskLevel::SystemSensitive
        } else {
            RiskLevel::Destructive
        };
        Some(self.verdict(class, level, Decision::Deny, path, "it, or what it contains, is never removed"))
    }

    fn is_runtime_folder(&self, path: &Path) -> bool {
        [&self.boundaries.workspace_root, &self.boundaries.project_root].into_iter().any(|root| {
            self.below(path, root).is_some_and(|rest| {
                let text = rest.to_string_lossy().to_ascii_lowercase();
                matches!(text.as_str(), ".air" | ".air/shared" | ".air/local")
            })
        })
    }

    fn device(&self, path: &Path, kind: Option<FileKind>) -> Option<PathVerdict> {
        let text = path.to_string_lossy();
        let special = matches!(kind, Some(FileKind::Fifo | FileKind::Socket | FileKind::Device));
        let named = text.starts_with("/dev/") || text == "/dev";
        let descriptor = text.starts_with("/proc/") && (text.contains("/fd/") || text.ends_with("/mem"));
        if !(special || named || descriptor) {
            return None;
        }
        let level = match self.op {
            PathOp::Read => RiskLevel::SystemSensitive,
            PathOp::Write | PathOp::Delete => RiskLevel::Destructive,
        };
        let why = "a device, pipe, socket or open descriptor is no file to work on";
        Some(self.verdict(PathClass::Device, level, Decision::Deny, path, why))
    }

    fn credential(&self, path: &Path) -> Option<PathVerdict> {
        let secret = secret_of(path, self.boundaries)?;
        let decision = match secret {
            Secret::Personal => Decision::Deny,
            Secret::Project => Decision::Ask,
        };
        Some(self.verdict(PathClass::Credential, RiskLevel::Credential, decision, path, "it holds secrets"))
    }

    fn in_workspace(&self, path: &Path, below: &Path, kind: Option<FileKind>, nlink: u64) -> PathVerdict {
        if below.as_os_str().is_empty() {
            return self.verdict(
                PathClass::ProjectRoot,
                RiskLevel::Safe,
                Decision::Allow,
                path,
                "the root of the project",
            );
        }
        if let Some(verdict) = self.special_folder(path, below) {
            return verdict;
        }
        if self.op == PathOp::Write && kind == Some(FileKind::File) && nlink > 1 {
            let why = "the file has a second name that may lie outside the project";
            return self.verdict(PathClass::Project, RiskLevel::SystemSensitive, Decision::Ask, path, why);
        }
        let (level, decision, why) = match self.op {
            PathOp::Read => (RiskLevel::Safe, Decision::Allow, "a file of the project"),
            PathOp::Write => (RiskLevel::ProjectWrite, Decision::Announce, "a file of the project"),
            PathOp::Delete if is_rebuildable(below) => {
                (RiskLevel::ProjectWrite, Decision::Announce, "a rebuild makes it again")
            }
            PathOp::Delete => (RiskLevel::Destructive, Decision::Ask, "removes a file of the project"),
        };
        self.verdict(PathClass::Project, level, decision, path, why)
    }

    /// `.git` anywhere below, `.air` at the top.
    fn special_folder(&self, path: &Path, below: &Path) -> Option<PathVerdict> {
        if has_vcs(below) {
            return Some(self.vcs(path));
        }
        let mut parts = below.components();
        if !next_is(&mut parts, ".air") {
            return None;
        }
        if next_is(&mut parts, "local") {
            return Some(self.private(path));
        }
        Some(match self.op {
            PathOp::Read => self.verdict(
                PathClass::RuntimeShared,
                RiskLevel::Safe,
                Decision::Allow,
                path,
                "rules of the project",
            ),
            _ => self.verdict(
                PathClass::RuntimeShared,
                RiskLevel::SystemSensitive,
                Decision::Ask,
                path,
                "rules of the project steer later work",
            ),
        })
    }

    fn vcs(&self, path: &Path) -> PathVerdict {
        match self.op {
            PathOp::Read => self.verdict(
                PathClass::VcsInternal,
                RiskLevel::Safe,
                Decision::Announce,
                path,
                "inside version control",
            ),
            _ => self.verdict(
                PathClass::VcsInternal,
                RiskLevel::SystemSensitive,
                Decision::Ask,
                path,
                "it decides what version control runs and remembers",
            ),
        }
    }

    fn private(&self, path: &Path) -> PathVerdict {
        let decision = if self.op == PathOp::Read { Decision::Ask } else { Decision::Deny };
        let why = "private state of the runtime";
        self.verdict(PathClass::RuntimePrivate, RiskLevel::SystemSensitive, decision, path, why)
    }

    fn elsewhere(&self, path: &Path) -> PathVerdict {
        let b = self.boundaries;
        if self.below(path, &b.air_home).is_some() {
            return self.private(path);
        }
        if has_vcs(path) {
            let mut verdict = self.vcs(path);
            verdict.decision = verdict.decision.max(Decision::Ask);
            verdict.level = RiskLevel::SystemSensitive;
            return verdict;
        }
        let scratch = b.temp.iter().chain(&b.extra_writable);
        for root in scratch {
            if self
                .below(path, root)
                .is_some_and(|rest| !rest.as_os_str().is_empty() || self.op == PathOp::Read)
            {
                let (level, decision) = match self.op {
                    PathOp::Read => (RiskLevel::Safe, Decision::Allow),
                    _ => (RiskLevel::ProjectWrite, Decision::Announce),
                };
                return self.verdict(
                    PathClass::Outside,
                    level,
                    decision,
                    path,
                    "a place for temporary files or caches",
                );
            }
        }
        if self.op == PathOp::Read && self.below(path, &b.project_root).is_some() {
            let why = "the main checkout of the same project";
            return self.verdict(PathClass::Outside, RiskLevel::Safe, Decision::Allow, path, why);
        }
        if is_system(path) {
            return self.system(path);
        }
        self.verdict(
            PathClass::Outside,
            RiskLevel::SystemSensitive,
            Decision::Ask,
            path,
            "outside the project",
        )
    }

    fn system(&self, path: &Path) -> PathVerdict {
        if self.op == PathOp::Read && is_harmless_fact(path) {
            let why = "a harmless fact about the system";
            return self.verdict(PathClass::System, RiskLevel::Safe, Decision::Allow, path, why);
        }
        self.verdict(
            PathClass::System,
            RiskLevel::SystemSensitive,
            Decision::Ask,
            path,
            "belongs to the system",
        )
    }

    /// What the path is by its name alone, where its links lead away from a name with a meaning.
    fn by_name(&self, name: &Path, found: &Path) -> Option<PathVerdict> {
        if name == found {
            return None;
        }
        let below = self.below(name, &self.boundaries.workspace_root)?;
        self.policy_file(name).or_else(|| self.special_folder(name, &below)).or_else(|| self.credential(name))
    }
}
