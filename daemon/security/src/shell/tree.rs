//! The normal form of a command: the only shape of shell text that the analysis sees.

use std::sync::Arc;

/// A sequence of commands, run one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    pub items: Vec<Node>,
}

/// How the next command of a chain depends on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    And,
    Or,
}

/// One command of any kind.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Simple(Box<Simple>),
    /// Commands whose output feeds the next one.
    Pipeline(Vec<Node>),
    /// `a && b || c`
    Chain(Box<Node>, Vec<(Link, Node)>),
    Group(Script),
    Subshell(Script),
    Background(Box<Node>),
    /// `time`: behind a pipe it is a program instead, which runs the same command.
    Time(Box<Node>),
    If {
        arms: Vec<(Script, Script)>,
        otherwise: Script,
    },
    While {
        condition: Script,
        body: Script,
    },
    /// `for` and `select`; without words it runs over the positional parameters.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, Script)>,
    },
    Function {
        name: Option<String>,
        body: Arc<Node>,
    },
    /// `[[ … ]]`: the operands, and those that are evaluated as arithmetic.
    Test {
        words: Vec<Word>,
        numbers: Vec<Word>,
    },
    Arith(Vec<Arith>),
    /// `for ((…))`
    ArithLoop {
        headers: Vec<Arith>,
        body: Script,
    },
    Redirected(Box<Node>, Vec<Redirect>),
    /// `time` without a command, and what the lowering refused.
    Nothing,
}

/// A simple command: assignments, words, redirects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    pub assigns: Vec<Assign>,
    pub words: Vec<Word>,
    /// Operands of `declare`, `export`, … that are assignments, in order with `words`.
    pub declares: Vec<Assign>,
}

/// `name=value`
#[derive(Debug, Clone)]
pub(crate) struct Assign {
    pub name: String,
    pub append: bool,
    /// `name[subscript]=…`
    pub subscript: Option<Arith>,
    pub values: Vec<Word>,
    pub array: bool,
}

/// A word before expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Text after quote removal.
    Text {
        text: String,
        quoted: bool,
    },
    Var {
        name: String,
        quoted: bool,
        form: Form,
    },
    Subst {
        script: Script,
        quoted: bool,
        kind: SubstKind,
    },
    Arith {
        arith: Arith,
    },
}

/// What `${…}` does to a variable.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    Plain,
    /// `${x:-word}`, and with `:=` the assignment.
    Default {
        word: Word,
        assigns: bool,
    },
    /// `${x:+word}`
    Alternate(Word),
    /// `${#x}`
    Length,
    /// Any other form, with the words and expressions inside it. `evaluates` marks forms that run or
    /// look up the value: `${x@P}`, `${!x}`.
    Other {
        words: Vec<Word>,
        ariths: Vec<Arith>,
        evaluates: bool,
    },
}

/// The bracket of a substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubstKind {
    /// `$(…)` and backticks.
    Command,
    /// `<(…)`
    From,
    /// `>(…)`
    To,
}

/// An arithmetic expression: what it looks at and what runs inside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arith {
    /// Variables whose value is evaluated.
    pub names: Vec<String>,
    /// Variables that are set.
    pub sets: Vec<String>,
    /// Words with expansions.
    pub words: Vec<Word>,
}

/// A redirect.
#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    /// The descriptor, where written.
    pub fd: Option<i32>,
    pub kind: RedirectKind,
}

/// What a redirect does.
#[derive(Debug, Clone)]
pub(crate) enum RedirectKind {
    Read(Word),
    Write(Word),
    Append(Word),
    ReadWrite(Word),
    /// `>&3`, `<&-`: a descriptor by number, or closing.
    Duplicate(String),
    Feed(Feed),
}

/// Text given as input.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    pub word: Word,
}

impl Node {
    /// Puts redirects around a command, where there are any.
    pub(crate) fn with(self, redirects: Vec<Redirect>) -> Self {
        if redirects.is_empty() { self } else { Self::Redirected(Box::new(self), redirects) }
    }
}
