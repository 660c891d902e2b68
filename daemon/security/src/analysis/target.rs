//! Paths in commands: what an operand names, and what is done to it.

use std::path::{Path, PathBuf};

use air_contracts::permission::{Decision, EffectKind, RiskLevel};

use super::arg::Arg;
use super::walk::Walker;
use crate::facts::{FileKind, FsFacts};
use crate::path::{
    PathClass, PathOp, PathVerdict, Resolved, classify_path, glob_may_name_secret, is_public_template,
    is_rebuildable, normalise, resolve,
};

/// Devices that are mere streams.
const STREAMS: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "-",
];

/// Names with a meaning that a pattern may match.
const SPECIAL_NAMES: &[&str] = &[".git", ".air", ".env", ".ssh"];

impl Walker<'_> {
    /// Judges `op` on what an operand names.
    pub(crate) fn path(&mut self, arg: &Arg, op: PathOp) {
        if arg.is_secret() {
            self.secret("a secret is used as a name");
        }
        match arg.pattern() {
            Some(text) if arg.has_glob() => self.pattern_path(&text, op),
            Some(text) => self.exact_path(&text, op),
            None => self.partly_known(arg, op),
        }
    }

    /// The places that a text names, one for each directory where the shell may be.
    fn places(&self, text: &str) -> Vec<PathBuf> {
        if text.starts_with('/') {
            return vec![PathBuf::from(text)];
        }
        self.state.dirs.iter().map(|dir| dir.join(text)).collect()
    }

    /// The resolved places of an operand whose text is known.
    pub(crate) fn known_paths(&self, arg: &Arg) -> Vec<PathBuf> {
        let Some(text) = arg.exact() else { return Vec::new() };
        self.places(text)
            .iter()
            .map(|path| match resolve(path, true, false, self.files) {
                Resolved::Found { path, .. } | Resolved::Invalid { path, .. } => path,
            })
            .collect()
    }

    fn exact_path(&mut self, text: &str, op: PathOp) {
        if is_stream(text) && op != PathOp::Delete {
            return;
        }
        if text.is_empty() {
            return;
        }
        let places = self.places(text);
        if places.is_empty() {
            self.out.unknown(format!("{text} is relative to a directory that is not known"));
            return;
        }
        for place in places {
            let verdict = self.classify(&place, op);
            self.apply(verdict, op);
        }
    }

    pub(crate) fn classify(&self, place: &Path, op: PathOp) -> PathVerdict {
        let mut verdict = classify_path(place, op, self.context.boundaries, self.files);
        // A command on a file that is not there, or below what is none, only fails.
        if verdict.class == PathClass::Invalid {
            verdict.decision = Decision::Ask;
        }
        verdict
    }

    pub(crate) fn apply(&mut self, verdict: PathVerdict, op: PathOp) {
        let target = verdict.resolved.to_string_lossy().into_owned();
        let kind = match op {
            PathOp::Read => EffectKind::Read,
            PathOp::Write => EffectKind::Write,
            PathOp::Delete => EffectKind::Delete,
        };
        self.out.effect(kind, target);
        if verdict.class == PathClass::Credential && op == PathOp::Read {
            self.out.secret = true;
        }
        if op == PathOp::Read && self.files.is_tainted(&verdict.resolved) {
            self.secret("a file that holds a secret since this line");
        }
        // Version control may be read; the tool for paths shows that, a command need not.
        let decision = if op == PathOp::Read && verdict.class == PathClass::VcsInternal {
            super::default_decision(verdict.level)
        } else {
            verdict.decision
        };
        self.out.set(verdict.level, decision, verdict.reason);
    }

    /// A pattern: judged by the folder that it is matched in, and by the special names it may match.
    fn pattern_path(&mut self, text: &str, op: PathOp) {
        let globs_from = text.find(['*', '?', '[']).unwrap_or(text.len());
        let split = text[..globs_from].rfind('/').map_or(0, |at| at + 1);
        let (base, rest) = text.split_at(split);
        let base = if base.is_empty() { "." } else { base };
        if op == PathOp::Read && glob_may_name_secret(rest) && !is_public_template(rest) {
            self.out.secret = true;
            self.out.raise(RiskLevel::Credential, format!("{text} may match files with secrets"));
        }
        let places = self.places(base);
        if places.is_empty() {
            self.out.unknown(format!("{text} is relative to a directory that is not known"));
        }
        for place in places {
            if op == PathOp::Delete {
                self.delete_pattern(&place, rest);
            } else {
                // A name that stands for any: the pattern's first component with its wild cards taken out.
                let first = rest.split('/').next().unwrap_or_default();
                let verdict = self.classify(&place.join(sample(first)), op);
                self.apply(verdict, op);
            }
            for special in special_matches(rest) {
                let verdict = self.classify(&place.join(special), op);
                self.apply(verdict, op);
            }
        }
    }

    fn delete_pattern(&mut self, base: &Path, rest: &str) {
        let base = match resolve(base, true, false, self.files) {
            Resolved::Found { path, .. } | Resolved::Invalid { path, .. } => path,
        };
        let mut own = self.classify(&base, PathOp::Delete);
        let everything = rest.split('/').all(|part| matches!(part, "*" | "**" | "" | ".*"));
        let root =
            base == self.context.boundaries.workspace_root || base == self.context.boundaries.project_root;
        if own.decision == Decision::Deny && !root && everything {
            self.apply(own, PathOp::Delete);
            return;
        }
        if own.decision == Decision::Deny && (own.class != PathClass::ProjectRoot) && !root {
            own.decision = Decision::Ask;
            self.apply(own, PathOp::Delete);
            return;
        }
        let verdict = self.classify(&base.join(sample(rest)), PathOp::Delete);
        self.apply(verdict, PathOp::Delete);
    }

    /// A name of which a part is not known.
    fn partly_known(&mut self, arg: &Arg, op: PathOp) {
        if let Some(text) = arg.if_empty()
            && op == PathOp::Delete
            && !text.is_empty()
        {
            // `rm -rf "$x/"` with an empty variable: judged as written then.
            let before = self.out.decision;
            if arg.has_glob() {
                self.pattern_path(&text, op)
            } else {
                self.exact_path(&text, op)
            }
            if self.out.decision == Decision::Deny && before != Decision::Deny {
                return;
            }
        }
        let printed = arg.gaps().all(|gap| gap.name || gap.number);
        match op {
            PathOp::Read if printed => self.out.effect(EffectKind::Read, arg.to_string()),
            PathOp::Delete => {
                self.out.effect(EffectKind::Delete, arg.to_string());
                self.out.raise(
                    RiskLevel::Destructive,
                    format!("removes {arg}, which is not known before it runs"),
                );
            }
            _ => self.out.unknown(format!("the name {arg} is not known before it runs")),
        }
    }

    /// A file that loses its content: as bad as removing it where it is no product of a build.
    pub(crate) fn path_overwritten(&mut self, arg: &Arg) {
        self.path(arg, PathOp::Write);
        for path in self.known_paths(arg) {
            let exists = matches!(self.files.lstat(&path), Some(fact) if fact.kind == FileKind::File);
            let below = path.strip_prefix(&self.context.boundaries.workspace_root);
            if let Ok(below) = below
                && exists
                && !is_rebuildable(below)
            {
                self.out.raise(RiskLevel::Destructive, format!("{}: loses its content", path.display()));
            }
        }
    }

    /// A change of mode or owner: never of what is never removed.
    pub(crate) fn path_mode(&mut self, arg: &Arg) {
        self.path(arg, PathOp::Write);
        let text = arg.pattern().or_else(|| arg.if_empty());
        for place in text.map(|text| self.places(&text)).unwrap_or_default() {
            self.out.effect(EffectKind::Chmod, place.to_string_lossy());
            let removal = self.classify(&place, PathOp::Delete);
            if removal.decision == Decision::Deny {
                self.out.deny(
                    RiskLevel::Destructive,
                    format!("{}: its mode and owner are never changed", place.display()),
                );
            }
        }
    }

    /// The arguments of a program that is not known: nothing in them may name what is never touched.
    pub(crate) fn suspect(&mut self, arg: &Arg) {
        if arg.is_secret() {
            self.secret("a secret is given to a program");
        }
        let Some(text) = arg.pattern() else { return };
        let ends = [
            Some(text.as_str()),
            text.split_once('=').map(|(_, value)| value),
            text.split_once('@').map(|(_, value)| value),
        ];
        if let Some((_, rest)) = text.split_once("://") {
            self.host(rest);
        }
        for candidate in ends.into_iter().flatten() {
            if candidate.is_empty()
                || candidate.len() > 1024
                || candidate.contains("://")
                || candidate.contains('\n')
            {
                continue;
            }
            for place in self.places(candidate) {
                self.suspect_place(&place);
            }
        }
        self.code(&text);
    }

    /// The host of an address, for rules about hosts.
    fn host(&mut self, rest: &str) {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default();
        if !host.is_empty() {
            self.out.effect(EffectKind::Network, host);
        }
    }

    fn suspect_place(&mut self, place: &Path) {
        let read = self.classify(place, PathOp::Read);
        if read.class == PathClass::Credential {
            self.apply(read, PathOp::Read);
        } else if self.files.is_tainted(&read.resolved) {
            self.secret("a file that holds a secret since this line");
        }
        let write = self.classify(place, PathOp::Write);
        if matches!(write.class, PathClass::RuntimePolicy | PathClass::RuntimePrivate) {
            self.apply(write, PathOp::Write);
        }
    }

    /// A secret is read, printed or passed on.
    pub(crate) fn secret(&mut self, why: &str) {
        self.out.secret = true;
        self.out.raise(RiskLevel::Credential, why);
    }

    /// Whether a place lies in the workspace.
    pub(crate) fn in_workspace(&self, path: &Path) -> bool {
        normalise(path).starts_with(&self.context.boundaries.workspace_root)
    }
}

pub(crate) fn is_stream(text: &str) -> bool {
    STREAMS.contains(&text)
        || text.strip_prefix("/dev/fd/").is_some_and(|fd| fd.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A name that a pattern matches.
fn sample(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' | '?' => out.push('x'),
            '[' => {
                rest.by_ref().find(|c| *c == ']');
                out.push('x');
            }
            other => out.push(other),
        }
    }
    out
}

/// The special names that the first component of a pattern may match. A leading dot must be written.
fn special_matches(pattern: &str) -> Vec<String> {
    let (first, rest) = pattern.split_once('/').map_or((pattern, None), |(first, rest)| (first, Some(rest)));
    if !first.starts_with(['.', '[']) || !first.contains(['*', '?', '[']) {
        return Vec::new();
    }
    let Ok(glob) = globset::GlobBuilder::new(first).case_insensitive(true).build() else { return Vec::new() };
    let matcher = glob.compile_matcher();
    SPECIAL_NAMES
        .iter()
        .filter(|name| matcher.is_match(name))
        .map(|name| rest.map_or_else(|| (*name).to_owned(), |rest| format!("{name}/{}", sample(rest))))
        .collect()
}
