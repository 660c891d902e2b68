//! Redirects: effects of the shell itself, whatever the program is.

use air_contracts::permission::{EffectKind, RiskLevel};

use super::arg::Arg;
use super::walk::{Stdin, Walker};
use crate::path::PathOp;
use crate::shell::{Node, Redirect, RedirectKind};

impl Walker<'_> {
    /// A compound command with redirects.
    pub(crate) fn redirected(&mut self, inner: &Node, redirects: &[Redirect]) {
        let stdin = self.stdin.clone();
        self.redirects(redirects);
        self.node(inner);
        self.stdin = stdin;
    }

    /// Judges redirects, and sets what the command reads. Returns the files that are emptied.
    pub(crate) fn redirects(&mut self, redirects: &[Redirect]) -> Vec<Arg> {
        let mut emptied = Vec::new();
        for redirect in redirects {
            match &redirect.kind {
                RedirectKind::Read(word) => {
                    let args = self.expand(word);
                    self.stdin = Stdin::Unknown;
                    self.redirect_target(args, &[PathOp::Read], redirect.fd);
                }
                RedirectKind::Write(word) => {
                    let args = self.expand(word);
                    emptied.extend(args.iter().cloned());
                    self.redirect_target(args, &[PathOp::Write], redirect.fd);
                }
                RedirectKind::Append(word) => {
                    let args = self.expand(word);
                    self.redirect_target(args, &[PathOp::Write], redirect.fd);
                }
                RedirectKind::ReadWrite(word) => {
                    let args = self.expand(word);
                    self.redirect_target(args, &[PathOp::Read, PathOp::Write], redirect.fd);
                }
                RedirectKind::Duplicate(text) => self.duplicate(text),
                RedirectKind::Feed(feed) => {
                    let text = self.expand_one(&feed.word);
                    if text.is_secret() {
                        self.out.secret = true;
                    }
                    self.stdin = Stdin::Text(text);
                }
            }
        }
        emptied
    }

    fn redirect_target(&mut self, args: Vec<Arg>, ops: &[PathOp], fd: Option<i32>) {
        let [target] = args.as_slice() else {
            self.out.unknown("a redirect to a name that is not known");
            return;
        };
        if let Some(text) = target.exact()
            && (text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/"))
        {
            self.network(text);
            if let Some(fd) = fd {
                self.state.network_fds.insert(fd);
            }
            return;
        }
        // A process substitution: its commands are judged where they stand.
        if target.gaps().any(|gap| gap.name)
            && target.literal_start().is_empty()
            && target.pieces().len() == 1
        {
            return;
        }
        for op in ops {
            self.path(target, *op);
        }
        if ops.contains(&PathOp::Write) {
            self.authored(target);
        }
    }

    fn duplicate(&mut self, text: &str) {
        if let Ok(fd) = text.trim_end_matches('-').parse::<i32>()
            && self.state.network_fds.contains(&fd)
        {
            self.network(&format!("descriptor {fd}"));
        }
    }

    /// The network is reached.
    pub(crate) fn network(&mut self, target: &str) {
        self.out.network = true;
        self.out.effect(EffectKind::Network, target);
        self.out.raise(RiskLevel::Network, format!("reaches the network: {target}"));
    }

    /// A file whose content this line gives: running it is running that content.
    pub(crate) fn authored(&mut self, target: &Arg) {
        for path in self.known_paths(target) {
            self.files.add_written(&path);
            if self.out.secret {
                self.files.taint(&path);
            }
        }
    }

    /// `> file` with nothing to write: the file is emptied.
    pub(crate) fn emptied(&mut self, targets: &[Arg]) {
        for target in targets {
            self.path_overwritten(target);
        }
    }
}
