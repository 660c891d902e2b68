//! Lowers statements and commands.

use std::ops::Range;
use std::sync::Arc;

use shuck_ast::{
    BackgroundOperator, BinaryOp, BuiltinCommand, Command, CompoundCommand, DeclOperand, ForSyntax,
    FunctionDef, Redirect as ShuckRedirect, SimpleCommand, Span, Stmt, StmtSeq, StmtTerminator,
    Word as ShuckWord,
};

use super::RESERVED;
use super::cover::Cover;
use super::scan::{Body, Counts};
use super::tree::{Assign, Link, Node, Part, Redirect, Script, Simple, Word};

/// The state of one lowering.
pub(super) struct Lower<'s> {
    pub(super) source: &'s str,
    pub(super) cover: Cover,
    pub(super) refusals: Vec<String>,
    /// Substitutions in the tree, to compare with the scanner's.
    pub(super) counts: Counts,
    pub(super) bodies: Vec<Body>,
    /// Text in which a backslash-newline stays as it is.
    pub(super) literals: Vec<Range<usize>>,
    /// Whether the text is inside backticks.
    pub(super) in_backticks: bool,
}

pub(super) fn range(span: Span) -> Range<usize> {
    span.start.offset()..span.end.offset()
}

impl<'s> Lower<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            cover: Cover::new(source.len()),
            refusals: Vec::new(),
            counts: Counts::default(),
            bodies: Vec::new(),
            literals: Vec::new(),
            in_backticks: false,
        }
    }

    pub(super) fn refuse(&mut self, at: usize, why: &str) {
        if self.refusals.len() < 8 {
            self.refusals.push(format!("{why} (byte {at})"));
        }
    }

    pub(super) fn slice(&self, span: Span) -> &'s str {
        self.source.get(range(span)).unwrap_or_default()
    }

    /// A backslash-newline that joins two halves of a word, where the parser may not have joined them.
    pub(super) fn stray_continuation(&self) -> Option<usize> {
        let bytes = self.source.as_bytes();
        self.source.match_indices("\\\n").map(|(at, _)| at).find(|at| {
            let before = at.checked_sub(1).map(|index| bytes[index]);
            !matches!(before, None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|'))
                && !self.literals.iter().any(|literal| literal.contains(at))
        })
    }

    pub(super) fn sequence(&mut self, sequence: &StmtSeq) -> Script {
        let mut items = Vec::with_capacity(sequence.stmts.len());
        let mut previous: Option<&Stmt> = None;
        for statement in &sequence.stmts {
            if let Some(before) = previous
                && before.terminator.is_none()
                && !self.separated(before.span, statement.span)
            {
                self.refuse(statement.span.start.offset(), "two commands without a separator");
            }
            items.push(self.statement(statement));
            previous = Some(statement);
        }
        Script { items }
    }

    /// Whether a newline or `;` lies between two statements (or ends the first: spans may include it).
    fn separated(&self, before: Span, after: Span) -> bool {
        let end = after.start.offset();
        let start = before.end.offset().min(end).saturating_sub(1);
        self.source.get(start..end).is_some_and(|gap| gap.contains(['\n', ';']))
    }

    pub(super) fn statement(&mut self, statement: &Stmt) -> Node {
        let redirects: Vec<Redirect> =
            statement.redirects.iter().filter_map(|redirect| self.redirect(redirect)).collect();
        let node = self.command(&statement.command, &statement.redirects).with(redirects);
        match statement.terminator {
            Some(StmtTerminator::Background(operator)) => {
                if operator != BackgroundOperator::Plain {
                    self.refuse(statement.span.start.offset(), "syntax of another shell");
                }
                Node::Background(Box::new(node))
            }
            _ => node,
        }
    }

    fn command(&mut self, command: &Command, redirects: &[ShuckRedirect]) -> Node {
        match command {
            Command::Simple(simple) => self.simple(simple, redirects),
            Command::Builtin(builtin) => self.builtin(builtin, redirects),
            Command::Decl(clause) => self.declaration(clause, redirects),
            Command::Binary(_) => self.chain(command),
            Command::Compound(compound) => self.compound(compound),
            Command::Function(function) => self.function(function),
            Command::AnonymousFunction(function) => {
                self.refuse(function.span.start.offset(), "a function without a name");
                self.statement(&function.body)
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, redirects: &[ShuckRedirect]) -> Node {
        let assigns: Vec<Assign> = simple.assignments.iter().map(|found| self.assignment(found)).collect();
        let mut spans: Vec<Span> = simple.assignments.iter().map(|found| found.span).collect();
        let mut words = Vec::new();
        if !is_absent(&simple.name) {
            self.check_name(&simple.name);
            spans.push(simple.name.span);
            words.push(self.word(&simple.name));
        }
        for argument in &simple.args {
            spans.push(argument.span);
            words.push(self.word(argument));
        }
        self.check_apart(spans, redirects);
        Node::Simple(Box::new(Simple { assigns, words, declares: Vec::new() }))
    }

    /// A name that bash might read as syntax, or as an assignment to an element.
    fn check_name(&mut self, name: &ShuckWord) {
        let text = self.slice(name.span);
        let open = text != "[" && text.matches('[').count() > text.matches(']').count();
        if RESERVED.contains(&text) || text.contains('=') || open {
            self.refuse(name.span.start.offset(), "a command name that may be syntax");
        }
    }

    /// Words that touch in the source are one word to bash.
    fn check_apart(&mut self, mut spans: Vec<Span>, redirects: &[ShuckRedirect]) {
        spans.extend(redirects.iter().filter(|redirect| !self.is_second_half(redirect)).map(|redirect| {
            let start = redirect.fd_var_span.map_or(redirect.span.start, |span| span.start);
            Span { start, end: redirect.span.end }
        }));
        spans.sort_by_key(|span| span.start.offset());
        for pair in spans.windows(2) {
            let [before, after] = pair else { continue };
            let (end, start) = (before.end.offset(), after.start.offset());
            let operator = matches!(self.source.as_bytes().get(start), Some(b'<' | b'>' | b'&'));
            if end > start || (end == start && !operator) {
                self.refuse(start, "two words that touch");
            }
        }
    }

    fn builtin(&mut self, builtin: &BuiltinCommand, redirects: &[ShuckRedirect]) -> Node {
        let (name, first, more, assigned, span) = match builtin {
            BuiltinCommand::Break(c) => ("break", &c.depth, &c.extra_args, &c.assignments, c.span),
            BuiltinCommand::Continue(c) => ("continue", &c.depth, &c.extra_args, &c.assignments, c.span),
            BuiltinCommand::Return(c) => ("return", &c.code, &c.extra_args, &c.assignments, c.span),
            BuiltinCommand::Exit(c) => ("exit", &c.code, &c.extra_args, &c.assignments, c.span),
        };
        let assigns: Vec<Assign> = assigned.iter().map(|found| self.assignment(found)).collect();
        self.mark_name(name, span);
        let mut spans: Vec<Span> = assigned.iter().map(|found| found.span).collect();
        let mut words = vec![plain(name)];
        for word in first.iter().chain(more.iter()) {
            spans.push(word.span);
            words.push(self.word(word));
        }
        self.check_apart(spans, redirects);
        Node::Simple(Box::new(Simple { assigns, words, declares: Vec::new() }))
    }

    /// Marks the name of a builtin, whose place the tree does not tell.
    fn mark_name(&mut self, name: &str, span: Span) {
        let text = self.slice(span);
        match text.find(name) {
            Some(at) => {
                let start = span.start.offset() + at;
                self.cover.mark(start..start + name.len());
            }
            None => self.refuse(span.start.offset(), "a builtin written in an unusual way"),
        }
    }

    fn declaration(&mut self, clause: &shuck_ast::DeclClause, redirects: &[ShuckRedirect]) -> Node {
        let assigns: Vec<Assign> = clause.assignments.iter().map(|found| self.assignment(found)).collect();
        self.cover.mark(range(clause.variant_span));
        if self.slice(clause.variant_span) != clause.variant.as_str() {
            self.refuse(clause.variant_span.start.offset(), "a declaration written in an unusual way");
        }
        let mut spans: Vec<Span> = clause.assignments.iter().map(|found| found.span).collect();
        spans.push(clause.variant_span);
        let mut words = vec![plain(clause.variant.as_str())];
        let mut declares = Vec::new();
        for operand in &clause.operands {
            match operand {
                DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                    spans.push(word.span);
                    words.push(self.word(word));
                }
                DeclOperand::Name(reference) => {
                    spans.push(reference.span);
                    self.cover.mark(range(reference.span));
                    if let Some(subscript) = &reference.subscript {
                        self.subscript(subscript);
                    }
                    words.push(plain(self.slice(reference.span)));
                }
                DeclOperand::Assignment(assignment) => {
                    spans.push(assignment.span);
                    declares.push(self.assignment(assignment));
                }
            }
        }
        self.check_apart(spans, redirects);
        Node::Simple(Box::new(Simple { assigns, words, declares }))
    }

    /// Chains lean to the left and may be long: walked in a loop.
    fn chain(&mut self, command: &Command) -> Node {
        let mut right_to_left: Vec<(BinaryOp, &Stmt)> = Vec::new();
        let mut left: Option<&Stmt> = None;
        let mut outer: Vec<&[ShuckRedirect]> = Vec::new();
        let mut at = command;
        while let Command::Binary(binary) = at {
            right_to_left.push((binary.op, &binary.right));
            self.cover.mark(range(binary.op_span));
            left = Some(&binary.left);
            at = &binary.left.command;
            if matches!(at, Command::Binary(_)) {
                outer.push(&binary.left.redirects);
                if binary.left.terminator.is_some() {
                    self.refuse(binary.span.start.offset(), "a chain with a terminator inside");
                }
            }
        }
        let Some(first) = left else { return Node::Nothing };
        let mut node = self.statement(first);
        for redirects in outer {
            let lowered: Vec<Redirect> =
                redirects.iter().filter_map(|redirect| self.redirect(redirect)).collect();
            node = node.with(lowered);
        }
        for (op, statement) in right_to_left.into_iter().rev() {
            let next = self.statement(statement);
            node = join(node, op, next);
        }
        node
    }

    fn function(&mut self, function: &FunctionDef) -> Node {
        if let Some(span) = function.header.function_keyword_span {
            self.cover.mark(range(span));
        }
        for entry in &function.header.entries {
            self.cover.mark(range(entry.word.span));
        }
        let name = match function.header.entries.as_slice() {
            [entry] => entry
                .static_name
                .as_ref()
                .map(|name| name.as_str().to_owned())
                .filter(|name| self.slice(entry.word.span) == name.as_str()),
            _ => None,
        };
        if name.is_none() {
            self.refuse(function.span.start.offset(), "a function with an unusual name");
        }
        let body = self.statement(&function.body);
        Node::Function { name, body: Arc::new(body) }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Node {
        match compound {
            CompoundCommand::If(command) => {
                let mut arms = vec![(self.sequence(&command.condition), self.sequence(&command.then_branch))];
                for (condition, body) in &command.elif_branches {
                    arms.push((self.sequence(condition), self.sequence(body)));
                }
                let otherwise =
                    command.else_branch.as_ref().map(|body| self.sequence(body)).unwrap_or_default();
                Node::If { arms, otherwise }
            }
            CompoundCommand::For(command) => self.for_loop(command),
            CompoundCommand::Select(command) => {
                self.cover.mark(range(command.variable_span));
                let words = command.words.iter().map(|word| self.word(word)).collect();
                let name = command.variable.as_str().to_owned();
                Node::For { name, words: Some(words), body: self.sequence(&command.body) }
            }
            CompoundCommand::ArithmeticFor(command) => self.arithmetic_loop(command),
            CompoundCommand::While(command) => Node::While {
                condition: self.sequence(&command.condition),
                body: self.sequence(&command.body),
            },
            CompoundCommand::Until(command) => Node::While {
                condition: self.sequence(&command.condition),
                body: self.sequence(&command.body),
            },
            CompoundCommand::Case(command) => {
                let subject = self.word(&command.word);
                let mut arms = Vec::with_capacity(command.cases.len());
                for item in &command.cases {
                    let patterns = item.patterns.iter().map(|pattern| self.pattern(pattern)).collect();
                    arms.push((patterns, self.sequence(&item.body)));
                }
                Node::Case { subject, arms }
            }
            CompoundCommand::Subshell(body) => Node::Subshell(self.sequence(body)),
            CompoundCommand::BraceGroup(body) => Node::Group(self.sequence(body)),
            CompoundCommand::Arithmetic(command) => self.arithmetic_command(command),
            CompoundCommand::Time(command) => {
                let inner = command.command.as_ref().map_or(Node::Nothing, |inner| self.statement(inner));
                Node::Time(Box::new(inner))
            }
            CompoundCommand::Conditional(command) => self.conditional(command),
            CompoundCommand::Coproc(command) => {
                // Inside a substitution, bash gives it the name COPROC and runs that.
                self.refuse(command.span.start.offset(), "a coprocess");
                if let Some(span) = command.name_span {
                    self.cover.mark(range(span));
                }
                Node::Background(Box::new(self.statement(&command.body)))
            }
            CompoundCommand::Repeat(_) | CompoundCommand::Foreach(_) | CompoundCommand::Always(_) => {
                self.refuse(0, "syntax of another shell");
                Node::Nothing
            }
        }
    }

    fn for_loop(&mut self, command: &shuck_ast::ForCommand) -> Node {
        let usual = matches!(command.syntax, ForSyntax::InDoDone { .. } | ForSyntax::InBrace { .. });
        let name = match command.targets.as_slice() {
            [target] if usual => target.name.as_ref().map(|name| name.as_str().to_owned()),
            _ => None,
        };
        for target in &command.targets {
            self.cover.mark(range(target.span));
        }
        if name.is_none() {
            self.refuse(command.span.start.offset(), "a loop in an unusual form");
        }
        let words = command.words.as_ref().map(|words| words.iter().map(|word| self.word(word)).collect());
        Node::For { name: name.unwrap_or_default(), words, body: self.sequence(&command.body) }
    }
}

fn plain(text: &str) -> Word {
    Word { parts: vec![Part::Text { text: text.to_owned(), quoted: true }] }
}

/// Whether a name stands for "no command, only assignments or redirects".
fn is_absent(name: &ShuckWord) -> bool {
    name.span.start.offset() == name.span.end.offset()
}

/// Adds the next command to a chain or a pipeline, which bind from the left.
fn join(left: Node, op: BinaryOp, right: Node) -> Node {
    match op {
        BinaryOp::Pipe | BinaryOp::PipeAll => match left {
            Node::Pipeline(mut stages) => {
                stages.push(right);
                Node::Pipeline(stages)
            }
            other => Node::Pipeline(vec![other, right]),
        },
        BinaryOp::And | BinaryOp::Or => {
            let link = if op == BinaryOp::And { Link::And } else { Link::Or };
            match left {
                Node::Chain(first, mut rest) => {
                    rest.push((link, right));
                    Node::Chain(first, rest)
                }
                other => Node::Chain(Box::new(other), vec![(link, right)]),
            }
        }
    }
}
