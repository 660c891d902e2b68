//! The shape of the data about a program.

use std::collections::BTreeMap;

use air_contracts::permission::{EffectKind, RiskLevel};
use serde::Deserialize;

/// One file of data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub program: BTreeMap<String, Spec>,
}

/// What a value or an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Must not be there.
    #[default]
    None,
    /// A number, or something that can only be one.
    Number,
    /// Exact text that names nothing on disk.
    Word,
    /// Any text, also unknown.
    Text,
    /// A pattern for names. Where the program reads what it finds, a pattern for secrets counts.
    Glob,
    /// A file or folder that is read.
    ReadPath,
    /// A file or folder that is written.
    WritePath,
    /// A file that is emptied or filled anew.
    OverwritePath,
    /// A file or folder that is removed.
    DeletePath,
    /// A file or folder whose mode or owner changes.
    ModePath,
    /// A folder that the program works in.
    Dir,
    /// A file or folder of code that is run or built: must be of the project.
    CodePath,
    /// A revision, a range, `revision:path`, or a path.
    RevOrPath,
    CodeSed,
    CodeAwk,
    /// A command and its arguments up to the end.
    Exec,
    /// An address on the network.
    Url,
    /// `NAME=value` for a build.
    BuildVariable,
    /// What is to be built.
    Target,
    /// `+FORMAT`
    PlusFormat,
    /// Code that is not looked into.
    Opaque,
    /// A script of the project and its arguments up to the end.
    Script,
    /// Anything; the program asks at every call.
    Any,
}

/// Commands whose arguments have a grammar of their own, in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Grammar {
    Copy,
    Move,
    Link,
    Find,
    Xargs,
    Shell,
    /// Runs the rest of its arguments as a command.
    Wrapper,
    /// As above, as another user.
    Root,
    Env,
    Git,
    Kill,
    Dd,
    Interpreter,
    Tar,
    Cmake,
    /// A multi-call binary: the first operand is the program.
    Multicall,
}

/// The table of a program, or of a sub-command.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Spec {
    /// Other names of the same program.
    pub aliases: Vec<String>,
    pub grammar: Option<Grammar>,
    /// What every call is at least.
    pub level: RiskLevel,
    /// Whether a call is refused without a prompt.
    pub deny: bool,
    /// What a call does besides what its paths say.
    pub effect: Option<EffectKind>,
    /// Whether single-letter options may be written together.
    pub bundle: bool,
    /// Whether `-20` is an option.
    pub number_flag: bool,
    /// Whether options end at the first operand.
    pub stop: bool,
    /// Options without a value.
    pub flags: Vec<String>,
    /// Beginnings of options whose rest is free text: `-W`, `-std=`.
    pub prefixes: Vec<String>,
    /// Options with a value, attached or in the next word.
    pub value: BTreeMap<String, Kind>,
    /// Options with a value only where it is attached.
    pub optional: BTreeMap<String, Kind>,
    /// What the operands are.
    pub operands: Kind,
    /// What the first operand is, unless one of the options in `unless_first` is given.
    pub first: Option<Kind>,
    pub unless_first: Vec<String>,
    /// What the last of several operands is.
    pub last: Option<Kind>,
    /// Options and operands that make a call worse than `level`.
    pub raise: BTreeMap<String, RiskLevel>,
    /// Options with which nothing is written, and paths are only read.
    pub read_only: Vec<String>,
    /// Options with which the operands are written instead of read.
    pub writes_with: Vec<String>,
    /// Options that must be given; without all of them the call is unknown.
    pub require: Vec<String>,
    /// Whether a call writes where it runs.
    pub writes_here: bool,
    /// Whether a call runs code of the project.
    pub runs_code: bool,
    /// Whether a call without operands works on the directory where it runs.
    pub reads_here: bool,
    /// Options with which the output is names of files, or `always`.
    pub prints_names: Vec<String>,
    /// Whether the output is part of the input.
    pub filter: bool,
    /// Whether the output is one number.
    pub prints_number: bool,
    /// Whether what a secret file holds does not come out.
    pub hides_content: bool,
    /// How many own operands a wrapper has before the command.
    pub own_operands: usize,
    /// What the configuration of the repository must not do: `fsmonitor`, `external-diff`, `filters`.
    pub needs: Vec<String>,
    /// Sub-commands. With them, the options above stand before the sub-command.
    pub sub: BTreeMap<String, Spec>,
    /// A call that runs without a question; empty where there is none.
    pub allow: String,
    /// A call that does not.
    pub refuse: String,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            aliases: Vec::new(),
            grammar: None,
            level: RiskLevel::Safe,
            deny: false,
            effect: None,
            bundle: false,
            number_flag: false,
            stop: false,
            flags: Vec::new(),
            prefixes: Vec::new(),
            value: BTreeMap::new(),
            optional: BTreeMap::new(),
            operands: Kind::None,
            first: None,
            unless_first: Vec::new(),
            last: None,
            raise: BTreeMap::new(),
            read_only: Vec::new(),
            writes_with: Vec::new(),
            require: Vec::new(),
            writes_here: false,
            runs_code: false,
            reads_here: false,
            prints_names: Vec::new(),
            filter: false,
            prints_number: false,
            hides_content: false,
            own_operands: 0,
            needs: Vec::new(),
            sub: BTreeMap::new(),
            allow: String::new(),
            refuse: String::new(),
        }
    }
}

impl Spec {
    /// What is wrong with the table, if anything.
    #[cfg(test)]
    pub(crate) fn defect(&self) -> Option<String> {
        for option in self.flags.iter().chain(self.value.keys()).chain(self.optional.keys()) {
            if !option.starts_with(['-', '+']) {
                return Some(format!("{option} is no option"));
            }
        }
        if let Some(option) = self.flags.iter().find(|flag| self.value.contains_key(*flag)) {
            return Some(format!("{option} has a value and has none"));
        }
        let unlisted = self
            .raise
            .keys()
            .chain(&self.read_only)
            .chain(&self.require)
            .chain(&self.writes_with)
            .chain(&self.unless_first)
            .find(|option| {
                option.starts_with('-')
                    && !self.flags.contains(option)
                    && !self.value.contains_key(*option)
                    && !self.optional.contains_key(*option)
                    && !self.prefixes.iter().any(|prefix| option.starts_with(prefix.as_str()))
                    && self.operands != Kind::Any
            });
        if let Some(option) = unlisted {
            return Some(format!("{option} is used and not listed"));
        }
        self.sub.values().find_map(Spec::defect)
    }
}
