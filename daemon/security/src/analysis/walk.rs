//! The walk through the tree of a command.

use std::collections::BTreeMap;

use air_contracts::permission::RiskLevel;

use super::arg::{Arg, Piece};
use super::outcome::Outcome;
use super::state::{Overlay, State};
use super::{CommandContext, environment};
use crate::shell::{Link, Node, Script, Word, parse};

/// Limits: beyond them the rest of the line is unknown.
const MAX_DEPTH: usize = 40;
const MAX_STEPS: usize = 4_000;

/// What a command reads as its input.
#[derive(Debug, Clone, Default)]
pub(crate) enum Stdin {
    /// That of the runtime: closed.
    #[default]
    Nothing,
    /// Known text.
    Text(Arg),
    /// A file, or the output of another command.
    Unknown,
    /// Names of files below the directory, one a line.
    Names,
}

pub(crate) struct Walker<'a> {
    pub context: &'a CommandContext<'a>,
    pub files: &'a Overlay<'a>,
    pub out: Outcome,
    pub state: State,
    pub stdin: Stdin,
    /// Whether the command runs beside others: pipeline, background, substitution.
    pub parallel: bool,
    /// Functions that are being walked, with whether that was in parallel.
    pub calls: Vec<String>,
    depth: usize,
    steps: usize,
}

impl<'a> Walker<'a> {
    pub(crate) fn with_files(context: &'a CommandContext<'a>, files: &'a Overlay<'a>) -> Self {
        let state = State {
            dirs: vec![crate::path::normalise(context.cwd)],
            vars: environment::initial(context),
            ..State::default()
        };
        Self {
            context,
            files,
            out: Outcome::default(),
            state,
            stdin: Stdin::default(),
            parallel: false,
            calls: Vec::new(),
            depth: 0,
            steps: 0,
        }
    }

    /// Walks the text of a command.
    pub(crate) fn text(&mut self, text: &str) {
        let parsed = parse(text);
        if let Some(why) = parsed.refusals.first() {
            self.code(text);
            self.out.opaque(format!("the command is not fully understood: {why}"));
        }
        self.script(&parsed.script);
    }

    /// One step down; `false` where it is too deep or too long.
    fn enter(&mut self) -> bool {
        self.depth += 1;
        self.steps += 1;
        if self.depth > MAX_DEPTH || self.steps > MAX_STEPS {
            self.out.opaque("the command is too long or nested too deeply to be analysed");
            return false;
        }
        true
    }

    pub(crate) fn script(&mut self, script: &Script) {
        for node in &script.items {
            self.node(node);
            self.state.settle();
        }
    }

    /// Walks a script in a subshell, apart from the state.
    pub(crate) fn aside(&mut self, script: &Script) -> Outcome {
        let outer = std::mem::take(&mut self.out);
        let state = self.state.clone();
        let parallel = std::mem::replace(&mut self.parallel, true);
        self.script(script);
        self.parallel = parallel;
        self.state = state;
        std::mem::replace(&mut self.out, outer)
    }

    pub(crate) fn node(&mut self, node: &Node) {
        if self.enter() {
            self.dispatch(node);
        }
        self.depth -= 1;
    }

    fn dispatch(&mut self, node: &Node) {
        match node {
            Node::Simple(simple) => self.alone(|walker| walker.simple(simple, &[])),
            Node::Redirected(inner, redirects) => match inner.as_ref() {
                Node::Simple(simple) => self.alone(|walker| walker.simple(simple, redirects)),
                other => self.alone(|walker| walker.redirected(other, redirects)),
            },
            Node::Pipeline(stages) => self.pipeline(stages),
            Node::Chain(first, rest) => self.chain(first, rest),
            Node::Group(script) => self.script(script),
            Node::Subshell(script) => self.subshell(script),
            Node::Background(inner) => {
                let state = self.state.clone();
                let parallel = std::mem::replace(&mut self.parallel, true);
                self.node(inner);
                self.parallel = parallel;
                self.state = state;
            }
            Node::Time(inner) => {
                self.out.commands.push("time".to_owned());
                self.node(inner);
            }
            Node::If { arms, otherwise } => self.branches(arms, otherwise),
            Node::While { condition, body } => self.twice(|walker| {
                walker.script(condition);
                walker.script(body);
            }),
            Node::For { name, words, body } => self.for_loop(name, words.as_deref(), body),
            Node::Case { subject, arms } => self.case(subject, arms),
            Node::Function { name, body } => self.define(name.as_deref(), body),
            Node::Test { words, numbers } => self.test(words, numbers),
            Node::Arith(ariths) => ariths.iter().for_each(|arith| self.arithmetic(arith)),
            Node::ArithLoop { headers, body } => self.twice(|walker| {
                headers.iter().for_each(|arith| walker.arithmetic(arith));
                walker.script(body);
            }),
            Node::Nothing => {}
        }
    }

    /// Walks one part with findings of its own, so that a secret and the network meet only within it.
    fn alone(&mut self, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.out);
        walk(self);
        let mut part = std::mem::replace(&mut self.out, outer);
        check_leak(&mut part);
        self.out.prints_names = part.prints_names;
        self.out.prints_number = part.prints_number;
        self.out.merge(part);
    }

    fn pipeline(&mut self, stages: &[Node]) {
        let outer = std::mem::take(&mut self.out);
        let state = self.state.clone();
        let parallel = std::mem::replace(&mut self.parallel, true);
        let stdin = self.stdin.clone();
        let mut whole = Outcome::default();
        let (mut names, mut number) = (false, false);
        for (index, stage) in stages.iter().enumerate() {
            if index > 0 {
                self.stdin = if names { Stdin::Names } else { Stdin::Unknown };
            }
            self.node(stage);
            self.state = state.clone();
            let part = std::mem::take(&mut self.out);
            names = part.prints_names;
            number = part.prints_number;
            whole.merge(part);
        }
        self.stdin = stdin;
        self.parallel = parallel;
        self.out = outer;
        check_leak(&mut whole);
        self.out.prints_names = names;
        self.out.prints_number = number;
        self.out.merge(whole);
    }

    /// `a && b || c`: what follows `&&` runs where `a` led, what follows `||` where it failed to.
    fn chain(&mut self, first: &Node, rest: &[(Link, Node)]) {
        self.node(first);
        for (link, node) in rest {
            let succeeded = self.split_success();
            let failed = std::mem::take(&mut self.state);
            match link {
                Link::And => {
                    self.state = succeeded;
                    self.node(node);
                    if self.state.left {
                        self.state = failed;
                        continue;
                    }
                    let failed_dirs = failed.dirs.clone();
                    let own = self.state.dirs_if_failed.take().unwrap_or_else(|| self.state.dirs.clone());
                    let joined = super::state::join_dirs(&own, &failed_dirs);
                    self.state.dirs_if_failed = (joined != self.state.dirs).then_some(joined);
                    if failed.left {
                        self.state.dirs_if_failed = None;
                    }
                    self.join_all_but_dirs(failed);
                }
                Link::Or => {
                    self.state = failed;
                    self.node(node);
                    let on_failure = self.state.clone();
                    self.state = succeeded;
                    if !on_failure.left {
                        self.state.join(on_failure);
                    }
                }
            }
        }
    }

    /// The state after success; the walker keeps the state after failure.
    fn split_success(&mut self) -> State {
        let mut succeeded = self.state.clone();
        let failed = succeeded.dirs_if_failed.take();
        self.state.dirs_if_failed = None;
        if let Some(dirs) = failed {
            self.state.dirs = dirs;
        }
        succeeded
    }

    fn join_all_but_dirs(&mut self, other: State) {
        let (dirs, failed) = (self.state.dirs.clone(), self.state.dirs_if_failed.clone());
        self.state.join(State { dirs: dirs.clone(), dirs_if_failed: None, ..other });
        self.state.dirs = dirs;
        self.state.dirs_if_failed = failed;
    }

    pub(crate) fn subshell(&mut self, script: &Script) {
        let state = self.state.clone();
        self.script(script);
        self.state = state;
    }

    fn branches(&mut self, arms: &[(Script, Script)], otherwise: &Script) {
        let mut ends: Vec<State> = Vec::new();
        for (condition, body) in arms {
            self.script(condition);
            let next = self.state.clone();
            self.script(body);
            ends.push(std::mem::replace(&mut self.state, next));
        }
        self.script(otherwise);
        for end in ends {
            self.state.join(end);
        }
    }

    /// Runs a body twice, so that what the first round leaves is seen by the second, and joins with none.
    pub(super) fn twice(&mut self, body: impl Fn(&mut Self)) {
        let before = self.state.clone();
        body(self);
        self.state.left = false;
        self.state.join(before.clone());
        body(self);
        self.state.left = false;
        self.state.join(before);
    }

    /// `[[ … ]]`: looks at files and values, runs what is inside; some operands are arithmetic.
    fn test(&mut self, words: &[Word], numbers: &[Word]) {
        for word in words {
            self.expand(word);
        }
        for word in numbers {
            for arg in self.expand(word) {
                let name = arg.exact().is_some_and(is_name);
                let number = arg.is_number();
                let known = name && arg.exact().is_some_and(|name| !self.is_evaluated(name));
                if !(number || known) {
                    self.out.opaque("a test that evaluates a value which is not known");
                }
            }
        }
    }

    /// Whether looking a name up in arithmetic may run something.
    pub(crate) fn is_evaluated(&self, name: &str) -> bool {
        match self.state.vars.get(name).map(Vec::as_slice) {
            Some([Piece::Text(text)]) => !super::arg::is_integer(text) && !text.is_empty(),
            Some([Piece::Gap(gap)]) => !gap.number,
            Some([]) => false,
            Some(_) => true,
            None => true,
        }
    }
}

/// Whether a text is the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A secret and the network in one pipeline: refused.
fn check_leak(part: &mut Outcome) {
    if part.secret && part.network {
        part.deny(RiskLevel::Credential, "a secret would flow into a command that reaches the network");
    }
}

/// Values that a new shell has.
pub(crate) type Vars = BTreeMap<String, Vec<Piece>>;
