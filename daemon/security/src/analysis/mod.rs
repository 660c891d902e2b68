//! Judges a command by what it would do.
//!
//! `text → parse → guards → lower → walk`: the walk follows directories, variables, functions, pipes and
//! redirects through the tree, takes each program apart by its table, and collects effects. The level is
//! that of the worst part. Nothing is executed and nothing is looked up outside [`FsFacts`].

mod arg;
mod builtin;
mod builtin_vars;
mod code;
mod copy;
mod environment;
mod expand;
mod find;
mod flow;
mod git;
mod interpreter;
mod outcome;
mod program;
mod program_grammar;
mod redirect;
mod simple;
mod state;
mod target;
mod walk;
mod wrapper;

use std::path::{Path, PathBuf};

use air_contracts::permission::{Decision, Effect, RiskLevel};

use crate::facts::{Boundaries, FsFacts};
pub(crate) use arg::Arg;
use outcome::Outcome;
pub(crate) use outcome::default_decision;
use state::Overlay;
use walk::Walker;

/// Where a command would run.
#[derive(Clone, Copy)]
pub struct CommandContext<'a> {
    pub boundaries: &'a Boundaries,
    /// The directory, absolute.
    pub cwd: &'a Path,
    pub facts: &'a dyn FsFacts,
    /// Further names of environment variables that hold secrets.
    pub secret_env: &'a [String],
}

/// What a command would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAnalysis {
    pub level: RiskLevel,
    /// The decision of the default policy.
    pub decision: Decision,
    pub effects: Vec<Effect>,
    /// Why it is not silently allowed, one sentence each; the one that decides comes first.
    pub reasons: Vec<String>,
    /// The names of the commands found, in order.
    pub commands: Vec<String>,
    /// Whether something runs that cannot be named: `commands` may be incomplete.
    pub opaque: bool,
    pub may_write: bool,
    /// Whether code of the project runs: its builds, tests, programs, scripts.
    pub runs_project_code: bool,
    pub needs_network: bool,
    /// Whether a full sandbox (no network, writes only in the workspace, credentials masked) makes it
    /// harmless: true for what is only `unknown`.
    pub sandboxable: bool,
    /// What a grant for a session or a project covers: the commands that are asked about, in normal form.
    /// `None` where they have no fixed form, so that only `once` makes sense.
    pub grant_key: Option<String>,
    /// The same for people.
    pub grant_covers: Option<String>,
    /// Scripts of the project that it runs.
    pub scripts: Vec<PathBuf>,
}

/// Analyses a command as bash would run it in `context`. Never fails: what is not understood is `unknown`.
pub fn analyse_command(command: &str, context: &CommandContext) -> CommandAnalysis {
    let files = Overlay::new(context.facts);
    let mut walker = Walker::with_files(context, &files);
    walker.text(command);
    finish(walker.out)
}

fn finish(out: Outcome) -> CommandAnalysis {
    let asks = out.decision == Decision::Ask;
    let keys: Option<Vec<String>> = out.asked.iter().cloned().collect();
    let key = keys.filter(|keys| asks && !out.opaque && !keys.is_empty()).map(|mut keys| {
        keys.sort();
        keys.dedup();
        keys.join("\n")
    });
    CommandAnalysis {
        level: out.level,
        decision: out.decision,
        effects: out.effects,
        reasons: out.reasons,
        commands: out.commands,
        opaque: out.opaque,
        may_write: out.may_write,
        runs_project_code: out.runs_code,
        needs_network: out.network,
        sandboxable: asks && out.level == RiskLevel::Unknown,
        grant_covers: key.as_ref().map(|key| key.replace('\n', "; ")),
        grant_key: key.map(|key| format!("command:{key}")),
        scripts: out.scripts,
    }
}

#[cfg(test)]
pub(crate) use test_context::decide_for_test;

#[cfg(test)]
pub(crate) mod test_context {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::{CommandAnalysis, CommandContext, analyse_command};
    use crate::facts::{Boundaries, FileFact, FileKind, FsFacts};

    struct Plain;

    impl FsFacts for Plain {
        fn lstat(&self, path: &Path) -> Option<FileFact> {
            let text = path.to_str()?;
            match text {
                "/home/u/p" | "/home/u" | "/home" | "/home/u/p/src" | "/home/u/p/build"
                | "/home/u/p/scripts" => Some(FileFact::new(FileKind::Dir)),
                "/home/u/p/src/a.c" | "/home/u/p/a.txt" | "/home/u/p/b.txt" | "/home/u/p/scripts/run.sh" => {
                    Some(FileFact::new(FileKind::File))
                }
                _ => None,
            }
        }

        fn read_small(&self, _: &Path) -> Option<Vec<u8>> {
            None
        }

        fn git_config(&self, _: &Path) -> BTreeMap<String, Vec<String>> {
            BTreeMap::new()
        }

        fn folds_case(&self, _: &Path) -> bool {
            false
        }
    }

    /// Analyses a command in a small project.
    pub(crate) fn decide_for_test(command: &str) -> CommandAnalysis {
        let root = PathBuf::from("/home/u/p");
        let boundaries = Boundaries {
            workspace_root: root.clone(),
            project_root: root.clone(),
            home: PathBuf::from("/home/u"),
            air_home: PathBuf::from("/home/u/.air"),
            temp: vec![PathBuf::from("/tmp")],
            extra_writable: Vec::new(),
        };
        analyse_command(
            command,
            &CommandContext { boundaries: &boundaries, cwd: &root, facts: &Plain, secret_env: &[] },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::test_context::decide_for_test;

    #[test]
    fn the_first_reason_is_the_one_that_decides() {
        for (command, word) in [
            ("cmake --build build; rm -f b.txt", "removes"),
            ("mkdir -p x; sudo ls", "sudo"),
            ("ls && curl http://192.0.2.1/x", "network"),
        ] {
            let reasons = decide_for_test(command).reasons;
            assert!(reasons[0].contains(word), "{command}: {reasons:?}");
        }
    }

    #[test]
    fn a_change_of_the_environment_is_granted_once_only() {
        for command in
            ["export HOME=/tmp/q", "export LD_PRELOAD=/tmp/x.so; ls", "PATH=/tmp/evil:$PATH; git status"]
        {
            let analysis = decide_for_test(command);
            assert_eq!(
                (analysis.grant_key, analysis.decision),
                (None, air_contracts::permission::Decision::Ask),
                "{command}"
            );
        }
    }
}
