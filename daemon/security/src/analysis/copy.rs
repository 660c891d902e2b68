//! `cp`, `mv`, `ln`: what ends up where, under which name.

use std::path::PathBuf;

use air_contracts::permission::{Decision, RiskLevel};

use super::arg::Arg;
use super::walk::Walker;
use crate::path::PathOp;
use crate::programs::{Options, Spec, read_options};

/// Sources and the target of a call.
struct Transfer {
    sources: Vec<Arg>,
    target: Option<Arg>,
}

impl Walker<'_> {
    fn transfer(&mut self, name: &str, spec: &Spec, args: &[Arg]) -> (Transfer, Options) {
        let options = read_options(spec, args);
        self.unlisted(name, &options);
        for option in ["-S", "--suffix", "--backup", "-m", "--mode"] {
            if options.value(option).is_some_and(|value| value.exact().is_none_or(|text| text.contains('/')))
            {
                self.out.unknown(format!("{name} {option}"));
            }
        }
        let mut sources = options.operands.clone();
        let target = options
            .value("-t")
            .or_else(|| options.value("--target-directory"))
            .cloned()
            .or_else(|| if sources.len() > 1 { sources.pop() } else { None });
        (Transfer { sources, target }, options)
    }

    pub(crate) fn copy(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let (transfer, _) = self.transfer(name, spec, args);
        self.out.raise(RiskLevel::ProjectWrite, format!("{name} writes files"));
        for source in &transfer.sources {
            self.path(source, PathOp::Read);
        }
        let Some(target) = transfer.target else {
            return;
        };
        for source in &transfer.sources {
            self.arrives(source, &target);
            if matches!(source.exact(), Some("/dev/null")) {
                self.path_overwritten(&target);
            }
        }
        self.authored(&target);
    }

    /// A file arrives at a target: under that name, or under its own name in that folder.
    fn arrives(&mut self, source: &Arg, target: &Arg) {
        self.path(target, PathOp::Write);
        let base = source
            .pattern()
            .map(|text| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
        let Some(base) = base.filter(|base| !base.is_empty() && base != "." && base != "..") else { return };
        let Some(text) = target.exact().map(str::to_owned) else { return };
        let folder = text.ends_with('/') || self.known_paths(target).iter().any(|place| self.is_dir(place));
        if folder {
            let inner = format!("{}/{base}", text.trim_end_matches('/'));
            let inner = if text == "/" { format!("/{base}") } else { inner };
            let arg = if source.has_glob() { glob_arg(&inner) } else { Arg::text(inner) };
            self.path(&arg, PathOp::Write);
            self.authored(&arg);
        }
    }

    pub(crate) fn rename(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let (transfer, _) = self.transfer(name, spec, args);
        self.out.raise(RiskLevel::ProjectWrite, format!("{name} moves files"));
        let Some(target) = transfer.target else {
            return self.out.unknown(format!("{name} without a target"));
        };
        let stays = self.known_paths(&target).iter().all(|place| self.in_workspace(place))
            && target.exact().is_some();
        for source in &transfer.sources {
            self.leaves(source, stays);
            self.arrives(source, &target);
        }
    }

    /// A file leaves its place. Within the project nothing is lost by that.
    fn leaves(&mut self, source: &Arg, stays: bool) {
        let outer = std::mem::take(&mut self.out);
        self.path(source, PathOp::Delete);
        let mut part = std::mem::replace(&mut self.out, outer);
        let inside = source.pattern().is_some_and(|text| {
            self.known_paths(&Arg::text(text)).iter().all(|place| self.in_workspace(place))
        });
        if stays && inside && part.decision == Decision::Ask && part.level == RiskLevel::Destructive {
            part.level = RiskLevel::ProjectWrite;
            part.decision = Decision::Announce;
            part.reasons.clear();
        }
        self.out.merge(part);
    }

    pub(crate) fn link(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let (mut transfer, options) = self.transfer(name, spec, args);
        self.out.raise(RiskLevel::ProjectWrite, format!("{name} makes links"));
        let symbolic = options.has("-s") || options.has("--symbolic");
        let target = match transfer.target.take() {
            Some(target) => target,
            // One operand: the link gets its base name here.
            None => {
                match transfer.sources.first().and_then(Arg::exact).and_then(|text| text.rsplit('/').next()) {
                    Some(base) => Arg::text(base),
                    None => return self.out.unknown(format!("{name} with a name that is not known")),
                }
            }
        };
        for source in &transfer.sources {
            if symbolic {
                self.metadata_of(source);
            } else {
                // A hard link is a second name: writing to it writes to the source.
                self.path(source, PathOp::Read);
                self.path(source, PathOp::Write);
            }
            self.arrives(source, &target);
            self.remember_link(source, &target);
        }
        if options.has("-f") || options.has("--force") {
            self.replaces(&target);
        }
    }

    /// Where a link leads may be a secret; the link itself shows nothing yet.
    fn metadata_of(&mut self, source: &Arg) {
        if source.exact().is_none() {
            self.out.unknown(format!("a link to {source}, which is not known"));
        }
    }

    /// What was at the place of a forced link is gone.
    fn replaces(&mut self, target: &Arg) {
        let outer = std::mem::take(&mut self.out);
        self.path(target, PathOp::Delete);
        let part = std::mem::replace(&mut self.out, outer);
        if part.decision == Decision::Deny {
            self.out.merge(part);
        }
    }

    fn remember_link(&mut self, source: &Arg, target: &Arg) {
        let Some(to) = source.exact().map(PathBuf::from) else { return };
        let Some(text) = target.exact() else { return };
        let base = to.file_name().map(PathBuf::from).unwrap_or_default();
        for dir in self.state.dirs.clone() {
            let place = crate::path::normalise(&dir.join(text));
            let at = if self.is_dir(&place) { place.join(&base) } else { place };
            self.files.add_link(at, to.clone());
        }
    }
}

/// Text with patterns as an argument.
fn glob_arg(text: &str) -> Arg {
    let mut arg = Arg::default();
    for c in text.chars() {
        arg.push(match c {
            '*' | '?' => super::arg::Piece::Glob(c.to_string()),
            other => super::arg::Piece::Text(other.to_string()),
        });
    }
    arg
}
