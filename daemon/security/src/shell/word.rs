//! Lowers words and the parts of words, and decodes their quotes.

use std::ops::Range;

use shuck_ast::{
    ArithmeticExpansionSyntax, ArithmeticExprNode, CommandSubstitutionSyntax, Pattern, PatternPart, Span,
    StmtSeq, Word as ShuckWord, WordPart, WordPartNode,
};

use super::ansi;
use super::command::{Lower, range};
use super::tree::{Assign, Form, Part, SubstKind, Word};

/// The quotes around a part.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quoting {
    /// Inside double quotes or a here-document.
    pub double: bool,
    /// Inside the body of a here-document, where a double quote is an ordinary character.
    pub body: bool,
    /// Inside the operand of `${…}`, where separators are ordinary characters.
    pub operand: bool,
}

impl Lower<'_> {
    pub(super) fn word(&mut self, word: &ShuckWord) -> Word {
        self.word_in(word, Quoting::default())
    }

    pub(super) fn word_in(&mut self, word: &ShuckWord, quoting: Quoting) -> Word {
        self.check_joined(&word.parts, range(word.span));
        Word { parts: self.parts(&word.parts, quoting) }
    }

    /// The parts of a word must be all of it, without a byte between them.
    fn check_joined(&mut self, parts: &[WordPartNode], whole: Range<usize>) {
        let mut at = whole.start;
        for part in parts {
            let span = range(part.span);
            if span.start != at {
                return self.refuse(at, "a word that is not parsed whole");
            }
            at = span.end;
        }
        if at != whole.end {
            self.refuse(at, "a word that is not parsed whole");
        }
    }

    fn parts(&mut self, parts: &[WordPartNode], quoting: Quoting) -> Vec<Part> {
        parts.iter().flat_map(|part| self.part(&part.kind, part.span, quoting)).collect()
    }

    fn part(&mut self, part: &WordPart, span: Span, quoting: Quoting) -> Vec<Part> {
        self.cover.mark(range(span));
        match part {
            WordPart::Literal(_) => self.literal(span, quoting),
            WordPart::SingleQuoted { dollar, .. } => self.single_quoted(*dollar, span, quoting),
            WordPart::DoubleQuoted { parts, .. } => {
                let text = self.slice(span);
                let text = text.strip_prefix('$').unwrap_or(text);
                if text.len() < 2 || !text.starts_with('"') || !text.ends_with('"') {
                    self.refuse(span.start.offset(), "a quoted string that ends elsewhere");
                }
                let whole = range(span);
                let open = self.slice(span).find('"').unwrap_or(0) + 1;
                self.check_joined(parts, whole.start + open..whole.end.saturating_sub(1));
                let inner = Quoting { double: true, ..quoting };
                let mut lowered = self.parts(parts, inner);
                // An empty pair of quotes is still a word.
                lowered.push(Part::Text { text: String::new(), quoted: true });
                lowered
            }
            WordPart::Variable(name) => self.variable(name.as_str(), span, quoting),
            WordPart::CommandSubstitution { body, syntax } => self.substitution(body, *syntax, span, quoting),
            WordPart::ArithmeticExpansion { expression_ast, syntax, .. } => {
                self.arithmetic_expansion(expression_ast.as_deref(), *syntax, span)
            }
            WordPart::Parameter(parameter) => self.parameter(parameter, span, quoting),
            WordPart::ProcessSubstitution { body, is_input } => {
                self.counts.process += 1;
                let script = self.inside(body, span, 2);
                let kind = if *is_input { SubstKind::From } else { SubstKind::To };
                vec![Part::Subst { script, quoted: quoting.double, kind }]
            }
            _ => {
                self.refuse(span.start.offset(), "an expansion in an unusual form");
                vec![unknown(quoting)]
            }
        }
    }

    fn single_quoted(&mut self, dollar: bool, span: Span, quoting: Quoting) -> Vec<Part> {
        if quoting.operand && quoting.double {
            self.refuse(span.start.offset(), "a single quote inside a quoted expansion");
        }
        let raw = self.slice(span);
        let open = if dollar { "$'" } else { "'" };
        let inner = raw.strip_prefix(open).and_then(|rest| rest.strip_suffix('\''));
        let text = match inner {
            Some(inner) if dollar => ansi::decode(inner),
            Some(inner) => (!inner.contains('\'')).then(|| inner.to_owned()),
            None => None,
        };
        self.literals.push(range(span));
        match text {
            Some(text) => vec![Part::Text { text, quoted: true }],
            None => {
                self.refuse(span.start.offset(), "a quoted string that cannot be decoded");
                vec![unknown(quoting)]
            }
        }
    }

    /// Literal text: checked for what bash would not take as text, then decoded.
    pub(super) fn literal(&mut self, span: Span, quoting: Quoting) -> Vec<Part> {
        let raw = self.slice(span);
        if let Some(why) = self.not_literal(span, quoting) {
            self.refuse(span.start.offset(), why);
        }
        if quoting.operand && quoting.double && raw.contains('\'') {
            self.refuse(span.start.offset(), "a single quote inside a quoted expansion");
        }
        if self.in_backticks && raw.contains('\\') {
            self.refuse(span.start.offset(), "a backslash inside backticks");
        }
        if quoting.double { decode_double(raw, quoting.body) } else { decode_unquoted(raw) }
    }

    fn not_literal(&self, span: Span, quoting: Quoting) -> Option<&'static str> {
        let bytes = self.source.as_bytes();
        let Range { start, end } = range(span);
        if end > bytes.len() {
            return Some("text that is not in the command");
        }
        let mut at = start;
        while at < end {
            let next = bytes.get(at + 1).copied();
            match bytes[at] {
                b'\\' => at += 1,
                b'`' => return Some("a backtick in text"),
                b'$' if starts_expansion(next, quoting.double) => return Some("an expansion in text"),
                b'<' | b'>' if next == Some(b'(') && !quoting.double => {
                    return Some("a substitution in text");
                }
                b'\'' | b'"' if !quoting.double => return Some("a quote in text"),
                b'"' if !quoting.body => return Some("a quote in text"),
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
                    if !quoting.double && !quoting.operand =>
                {
                    return Some("a separator in text");
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    pub(super) fn variable(&mut self, name: &str, span: Span, quoting: Quoting) -> Vec<Part> {
        let raw = self.slice(span);
        let written = raw
            .strip_prefix('$')
            .map(|rest| rest.strip_prefix('{').and_then(|r| r.strip_suffix('}')).unwrap_or(rest));
        if written != Some(name) {
            self.refuse(span.start.offset(), "a variable in an unusual form");
        }
        vec![Part::Var { name: name.to_owned(), quoted: quoting.double, form: Form::Plain }]
    }

    pub(super) fn substitution(
        &mut self,
        body: &StmtSeq,
        syntax: CommandSubstitutionSyntax,
        span: Span,
        quoting: Quoting,
    ) -> Vec<Part> {
        let script = match syntax {
            CommandSubstitutionSyntax::DollarParen => {
                self.counts.dollar += 1;
                self.inside(body, span, 2)
            }
            CommandSubstitutionSyntax::Backtick => {
                self.counts.backtick += 1;
                if self.slice(span).contains('\\') || self.in_backticks {
                    self.refuse(span.start.offset(), "a backslash inside backticks");
                }
                let outer = std::mem::replace(&mut self.in_backticks, true);
                let script = self.inside(body, span, 1);
                self.in_backticks = outer;
                script
            }
        };
        vec![Part::Subst { script, quoted: quoting.double, kind: SubstKind::Command }]
    }

    /// The inside of a substitution, which must account for itself.
    fn inside(&mut self, body: &StmtSeq, span: Span, open: usize) -> crate::shell::tree::Script {
        let whole = range(span);
        let text = self.slice(span);
        let (opens, closes) = if open == 1 {
            (text.starts_with('`'), '`')
        } else {
            (text.get(1..).is_some_and(|rest| rest.starts_with('(')), ')')
        };
        if !opens || !text.ends_with(closes) {
            self.refuse(whole.start, "a substitution that ends elsewhere");
        }
        self.cover.mark(whole.clone());
        self.cover.unmark(whole.start + open..whole.end.saturating_sub(1));
        self.sequence(body)
    }

    pub(super) fn arithmetic_expansion(
        &mut self,
        expression: Option<&ArithmeticExprNode>,
        syntax: ArithmeticExpansionSyntax,
        span: Span,
    ) -> Vec<Part> {
        if syntax == ArithmeticExpansionSyntax::DollarParenParen {
            self.counts.dollar += 1;
        }
        self.cover.mark(range(span));
        let text = self.slice(span);
        if !(text.starts_with("$((") && text.ends_with("))") || text.starts_with("$[") && text.ends_with(']'))
        {
            self.refuse(span.start.offset(), "arithmetic that ends elsewhere");
        }
        let arith = self.arithmetic(expression, span);
        vec![Part::Arith { arith }]
    }

    /// A pattern as a word whose text is only looked at, never compared.
    pub(super) fn pattern(&mut self, pattern: &Pattern) -> Word {
        self.pattern_in(pattern, Quoting { operand: true, ..Quoting::default() })
    }

    pub(super) fn pattern_in(&mut self, pattern: &Pattern, quoting: Quoting) -> Word {
        self.cover.mark(range(pattern.span));
        let mut parts = Vec::new();
        for part in &pattern.parts {
            match &part.kind {
                PatternPart::Literal(_) => parts.extend(self.literal(part.span, quoting)),
                PatternPart::AnyString | PatternPart::AnyChar => parts.push(unknown(quoting)),
                PatternPart::CharClass(text) => {
                    if text.slice(self.source).contains(['$', '`', '\'', '"', '\\']) {
                        self.refuse(part.span.start.offset(), "an expansion in a character class");
                    }
                    parts.push(unknown(quoting));
                }
                PatternPart::Group { patterns, .. } => {
                    for inner in patterns {
                        parts.extend(self.pattern_in(inner, quoting).parts);
                    }
                }
                PatternPart::Word(word) => parts.extend(self.word_in(word, quoting).parts),
            }
        }
        Word { parts }
    }

    pub(super) fn assignment(&mut self, assignment: &shuck_ast::Assignment) -> Assign {
        let whole = range(assignment.span);
        let name_end = assignment.target.name_span.end.offset();
        self.cover.mark(assignment.target.name_span.start.offset()..name_end);
        let subscript = assignment.target.subscript.as_deref().map(|found| {
            self.cover.mark(name_end..found.span().end.offset() + 1);
            self.subscript(found)
        });
        let name = assignment.target.name.as_str().to_owned();
        if self.slice(assignment.target.name_span) != name {
            self.refuse(whole.start, "an assignment in an unusual form");
        }
        let (values, array) = match &assignment.value {
            shuck_ast::AssignmentValue::Scalar(word) => {
                self.mark_operator(assignment.span, word.span, name_end);
                (vec![self.word(word)], false)
            }
            shuck_ast::AssignmentValue::Compound(array) => {
                self.mark_operator(assignment.span, array.span, name_end);
                (array.elements.iter().map(|element| self.element(element)).collect(), true)
            }
        };
        Assign { name, append: assignment.append, subscript, values, array }
    }

    /// Marks the `=` between a name and a value.
    fn mark_operator(&mut self, whole: Span, value: Span, name_end: usize) {
        let end = if value.start.offset() == value.end.offset() {
            whole.end.offset()
        } else {
            value.start.offset()
        };
        let from = self.source.get(name_end..end).and_then(|text| text.rfind('=')).map(|at| name_end + at);
        match from {
            Some(at) => {
                let start = if at > name_end && self.source.as_bytes()[at - 1] == b'+' { at - 1 } else { at };
                self.cover.mark(start..at + 1);
            }
            None => self.refuse(name_end, "an assignment in an unusual form"),
        }
    }

    fn element(&mut self, element: &shuck_ast::ArrayElem) -> Word {
        match element {
            shuck_ast::ArrayElem::Sequential(value) => self.word(&value.word),
            shuck_ast::ArrayElem::Keyed { key, value } | shuck_ast::ArrayElem::KeyedAppend { key, value } => {
                let start = key.span().start.offset();
                self.cover.mark(start.saturating_sub(1)..value.word.span.start.offset());
                let arith = self.subscript(key);
                let mut word = self.word(&value.word);
                word.parts.push(Part::Arith { arith });
                word
            }
        }
    }
}

/// Something whose value is not known.
fn unknown(quoting: Quoting) -> Part {
    Part::Var {
        name: "?".to_owned(),
        quoted: quoting.double,
        form: Form::Other { words: Vec::new(), ariths: Vec::new(), evaluates: false },
    }
}

fn starts_expansion(next: Option<u8>, double: bool) -> bool {
    match next {
        Some(b'(' | b'{' | b'[' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' | b'_') => true,
        Some(b'\'' | b'"') => !double,
        Some(byte) => byte.is_ascii_alphanumeric(),
        None => false,
    }
}

/// Unquoted text: a backslash makes the next character literal.
fn decode_unquoted(raw: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut push = |c: char, is_quoted: bool| match parts.last_mut() {
        Some(Part::Text { text, quoted }) if *quoted == is_quoted => text.push(c),
        _ => parts.push(Part::Text { text: c.to_string(), quoted: is_quoted }),
    };
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            push(c, false);
            continue;
        }
        match rest.next() {
            Some('\n') => {}
            Some(escaped) => push(escaped, true),
            None => push('\\', true),
        }
    }
    parts
}

/// Text in double quotes: a backslash is only special before a few characters.
fn decode_double(raw: &str, body: bool) -> Vec<Part> {
    if !raw.contains('\\') {
        return vec![Part::Text { text: raw.to_owned(), quoted: true }];
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match rest.peek() {
            Some('\n') => {
                rest.next();
            }
            Some('"') if body => text.push('\\'),
            Some(&escaped @ ('$' | '`' | '"' | '\\')) => {
                text.push(escaped);
                rest.next();
            }
            _ => text.push('\\'),
        }
    }
    vec![Part::Text { text, quoted: true }]
}
