//! What a shell would remember between commands, as far as it is known.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arg::{Gap, Piece};
use crate::facts::{FileFact, FsFacts};
use crate::shell::Node;

/// The most directories that are followed at once.
const MAX_DIRS: usize = 4;

/// The state of one shell. Subshells get a copy.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// Where the shell may be; empty where that is not known.
    pub dirs: Vec<PathBuf>,
    /// Where it may be if the last command failed, where that differs.
    pub dirs_if_failed: Option<Vec<PathBuf>>,
    pub vars: BTreeMap<String, Vec<Piece>>,
    pub exported: BTreeSet<String>,
    pub functions: BTreeMap<String, Arc<Node>>,
    /// Descriptors that lead to the network.
    pub network_fds: BTreeSet<i32>,
    /// Whether a failing command ends the shell.
    pub errexit: bool,
    /// Whether the shell has ended or left the loop.
    pub left: bool,
}

impl State {
    /// Joins what may be after two ways through.
    pub(crate) fn join(&mut self, other: Self) {
        if other.left {
            return;
        }
        if self.left {
            *self = other;
            return;
        }
        self.dirs = join_dirs(&self.dirs, &other.dirs);
        self.dirs_if_failed = match (self.dirs_if_failed.take(), other.dirs_if_failed) {
            (None, None) => None,
            (a, b) => {
                let (a, b) = (a.unwrap_or_else(|| self.dirs.clone()), b.unwrap_or_else(|| self.dirs.clone()));
                Some(join_dirs(&a, &b))
            }
        };
        self.join_vars(other.vars);
        self.exported.extend(other.exported);
        self.functions.extend(other.functions);
        self.network_fds.extend(other.network_fds);
        self.errexit &= other.errexit;
    }

    fn join_vars(&mut self, other: BTreeMap<String, Vec<Piece>>) {
        let names: BTreeSet<String> = self.vars.keys().chain(other.keys()).cloned().collect();
        for name in names {
            let (a, b) = (self.vars.get(&name), other.get(&name));
            if a == b {
                continue;
            }
            let number = [a, b].iter().all(|value| value.is_some_and(|pieces| is_number(pieces)));
            let secret = [a, b].iter().flatten().any(|pieces| pieces.iter().any(is_secret));
            let gap = Gap { empty: !number, split: !number, secret, number, name: false };
            self.vars.insert(name, vec![Piece::Gap(gap)]);
        }
    }

    /// The end of a command: what came before no longer matters.
    pub(crate) fn settle(&mut self) {
        if let Some(failed) = self.dirs_if_failed.take()
            && !self.errexit
        {
            self.dirs = join_dirs(&self.dirs, &failed);
        }
    }
}

fn is_number(pieces: &[Piece]) -> bool {
    match pieces {
        [Piece::Text(text)] => super::arg::is_integer(text),
        [Piece::Gap(gap)] => gap.number,
        _ => false,
    }
}

fn is_secret(piece: &Piece) -> bool {
    matches!(piece, Piece::Gap(gap) if gap.secret)
}

/// Both sets; empty (not known) where one is, or where there would be too many.
pub(crate) fn join_dirs(a: &[PathBuf], b: &[PathBuf]) -> Vec<PathBuf> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let mut all = a.to_vec();
    for dir in b {
        if !all.contains(dir) {
            all.push(dir.clone());
        }
    }
    if all.len() > MAX_DIRS { Vec::new() } else { all }
}

/// The file system as it would be after what the line has done so far: links and files it made.
pub(crate) struct Overlay<'a> {
    base: &'a dyn FsFacts,
    links: RefCell<BTreeMap<PathBuf, PathBuf>>,
    /// Files whose content the line itself gives.
    written: RefCell<BTreeSet<PathBuf>>,
    /// Files that hold a secret since this line.
    tainted: RefCell<BTreeSet<PathBuf>>,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(base: &'a dyn FsFacts) -> Self {
        Self { base, links: RefCell::default(), written: RefCell::default(), tainted: RefCell::default() }
    }

    pub(crate) fn add_link(&self, at: PathBuf, target: PathBuf) {
        self.links.borrow_mut().insert(at, target);
    }

    pub(crate) fn add_written(&self, path: &Path) {
        self.written.borrow_mut().insert(path.to_path_buf());
    }

    pub(crate) fn was_written(&self, path: &Path) -> bool {
        self.written.borrow().contains(path)
    }

    pub(crate) fn taint(&self, path: &Path) {
        self.tainted.borrow_mut().insert(path.to_path_buf());
    }

    pub(crate) fn is_tainted(&self, path: &Path) -> bool {
        self.tainted.borrow().contains(path)
    }
}

impl FsFacts for Overlay<'_> {
    fn lstat(&self, path: &Path) -> Option<FileFact> {
        if let Some(target) = self.links.borrow().get(path) {
            return Some(FileFact::link(target.clone()));
        }
        self.base.lstat(path)
    }

    fn read_small(&self, path: &Path) -> Option<Vec<u8>> {
        self.base.read_small(path)
    }

    fn git_config(&self, repo: &Path) -> BTreeMap<String, Vec<String>> {
        self.base.git_config(repo)
    }

    fn folds_case(&self, path: &Path) -> bool {
        self.base.folds_case(path)
    }
}
