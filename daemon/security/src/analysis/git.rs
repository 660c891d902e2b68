//! `git`: sub-commands by table, the rest by what the configuration of the repository runs.

use std::path::PathBuf;

use air_contracts::permission::{Decision, EffectKind, RiskLevel};

use super::arg::Arg;
use super::walk::Walker;
use crate::facts::FsFacts;
use crate::path::PathOp;
use crate::programs::{Spec, read_leading_options, read_options};

impl Walker<'_> {
    pub(crate) fn git(&mut self, spec: &Spec, args: &[Arg]) {
        let options = read_leading_options(spec, args);
        self.unlisted("git", &options);
        let dirs = self.state.dirs.clone();
        if let Some(dir) = options.value("-C").cloned() {
            self.change_dir(&dir);
        }
        match options.operands.split_first() {
            None if options.has("--version") || options.has("--help") => {}
            None => {}
            Some((sub, rest)) => self.git_sub(spec, sub, rest),
        }
        self.state.dirs = dirs;
    }

    fn git_sub(&mut self, spec: &Spec, sub: &Arg, rest: &[Arg]) {
        let Some(name) = sub.exact() else {
            return self.out.opaque("git with a sub-command that is not known");
        };
        let Some(table) = spec.sub.get(name) else {
            rest.iter().for_each(|arg| self.suspect(arg));
            return self.out.unknown(format!("git {name} is not known, or an alias"));
        };
        self.out.effect(EffectKind::Vcs, name);
        self.other_repository(name);
        self.repository_runs(name, &table.needs);
        self.git_table(name, table, rest);
    }

    /// A form of the sub-command: `git stash list`, `git branch -D`.
    fn git_table(&mut self, name: &str, table: &Spec, rest: &[Arg]) {
        let whole = format!("git {name}");
        let inner = rest.first().and_then(Arg::exact).and_then(|form| table.sub.get(form));
        match inner {
            Some(form) => {
                let form_name = rest[0].to_string();
                self.repository_runs(name, &form.needs);
                self.plain(&format!("{whole} {form_name}"), form, &rest[1..]);
            }
            None => {
                let dirs = self.state.dirs.clone();
                self.judged(&whole, table, rest, &read_options(table, rest));
                self.state.dirs = dirs;
                self.git_paths(name, rest);
            }
        }
    }

    /// Paths behind `--`, which the tables do not tell apart from revisions.
    fn git_paths(&mut self, name: &str, rest: &[Arg]) {
        if name == "push" {
            let forced = rest
                .iter()
                .any(|arg| arg.literal_start().starts_with('+') || arg.literal_start().starts_with(':'));
            if forced {
                self.out.raise(RiskLevel::Destructive, "git push overwrites or deletes a remote branch");
            }
        }
        let behind = rest.iter().position(|arg| arg.exact() == Some("--"));
        if let Some(at) = behind
            && name == "checkout"
            && rest.len() > at + 1
        {
            self.out.raise(RiskLevel::Destructive, "git checkout throws away changes of files");
        }
        // Without `--`, a word that is a file now is one.
        if name == "checkout"
            && rest.iter().filter_map(Arg::exact).any(|text| {
                !text.starts_with('-')
                    && (text == "."
                        || self
                            .known_paths(&Arg::text(text))
                            .iter()
                            .any(|place| self.files.lstat(place).is_some()))
            })
        {
            self.out.raise(RiskLevel::Destructive, "git checkout throws away changes of files");
        }
    }

    /// A revision, a range, `revision:path`, or a path.
    pub(crate) fn revision(&mut self, arg: &Arg) {
        let Some(text) = arg.pattern() else {
            if !arg.gaps().all(|gap| gap.name || gap.number)
                && arg.literal_start().is_empty()
                && arg.may_split()
            {
                self.out.unknown(format!("git: {arg} is not known"));
            }
            return;
        };
        if let Some((_, path)) = text.split_once(':')
            && !path.is_empty()
        {
            let top = self.repository().unwrap_or_else(|| self.context.boundaries.workspace_root.clone());
            let verdict = self.classify(&top.join(path), PathOp::Read);
            // The content comes from history, whatever is in the tree.
            if verdict.level == RiskLevel::Credential {
                self.apply(verdict, PathOp::Read);
            }
            return;
        }
        if text.starts_with(':') || text.starts_with('^') || text.contains("..") && !text.contains('/') {
            return;
        }
        let looks_like_path =
            text.contains('/') || text.starts_with('.') || text.starts_with('~') || text.contains(['*', '?']);
        let is_file =
            self.known_paths(&Arg::text(text.as_str())).iter().any(|place| self.files.lstat(place).is_some());
        if looks_like_path || is_file {
            let outer = std::mem::take(&mut self.out);
            self.path(arg, PathOp::Read);
            let part = std::mem::replace(&mut self.out, outer);
            // `origin/main` is no path; a path that leads nowhere is no file.
            if part.level > RiskLevel::Safe || part.decision > Decision::Announce {
                self.out.merge(part);
            }
        }
    }

    /// The top of the repository that git would work in.
    fn repository(&self) -> Option<PathBuf> {
        let dir = self.state.dirs.first()?;
        dir.ancestors().find(|at| self.files.lstat(&at.join(".git")).is_some()).map(PathBuf::from)
    }

    /// Outside the workspace another repository brings its own configuration.
    fn other_repository(&mut self, name: &str) {
        let outside = self.state.dirs.is_empty() || self.state.dirs.iter().any(|dir| !self.in_workspace(dir));
        if outside {
            self.out.unknown(format!("git {name} in another repository"));
        }
    }

    /// What the configuration makes git run for a sub-command with these needs.
    fn repository_runs(&mut self, name: &str, needs: &[String]) {
        if needs.is_empty() {
            return;
        }
        let top = self.repository().unwrap_or_else(|| self.context.boundaries.workspace_root.clone());
        let config = self.files.git_config(&top);
        for (key, values) in &config {
            let Some(need) = runs_program(key) else { continue };
            let value = values.last().map(String::as_str).unwrap_or_default();
            if needs.iter().any(|found| found == need) && !is_harmless(key, value) {
                self.out.unknown(format!("git {name} runs {value}, which the configuration names in {key}"));
            }
        }
    }
}

/// What a key of the configuration makes git run, by the name of the need in the tables.
fn runs_program(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase();
    let last = key.rsplit('.').next().unwrap_or_default();
    let first = key.split('.').next().unwrap_or_default();
    match (first, last) {
        ("core", "fsmonitor") => Some("fsmonitor"),
        ("diff", "external" | "textconv" | "command") => Some("external-diff"),
        ("filter", "clean" | "smudge" | "process") => Some("filters"),
        ("merge", "driver") => Some("merge-driver"),
        ("gpg", "program") => Some("signing"),
        ("core", "hookspath") => Some("hooks"),
        ("core", "sshcommand" | "gitproxy" | "askpass") | ("credential", "helper") => Some("transport"),
        _ => None,
    }
}

/// Values that name no program, or one that everybody has.
fn is_harmless(key: &str, value: &str) -> bool {
    let lower = value.trim().to_ascii_lowercase();
    if matches!(lower.as_str(), "" | "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1") {
        return true;
    }
    let key = key.to_ascii_lowercase();
    key.starts_with("filter.lfs.") && lower.starts_with("git-lfs ")
        || key == "core.hookspath" && matches!(lower.as_str(), ".githooks" | ".husky" | ".husky/_")
}
