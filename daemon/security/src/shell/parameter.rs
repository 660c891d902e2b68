//! Lowers `${…}`.

use shuck_ast::{
    BourneParameterExpansion as Bourne, ParameterExpansion, ParameterExpansionSyntax, ParameterOp, Span,
    Subscript, VarRef,
};

use super::command::{Lower, range};
use super::tree::{Arith, Form, Part, Word};
use super::word::Quoting;

/// Words and expressions found inside an expansion.
#[derive(Default)]
struct Inner {
    words: Vec<Word>,
    ariths: Vec<Arith>,
}

impl Lower<'_> {
    pub(super) fn parameter(
        &mut self,
        parameter: &ParameterExpansion,
        span: Span,
        quoting: Quoting,
    ) -> Vec<Part> {
        self.cover.mark(range(span));
        let text = self.slice(span);
        if !text.starts_with("${") || !text.ends_with('}') {
            self.refuse(span.start.offset(), "an expansion that ends elsewhere");
        }
        // bash ends the expansion at the first `}`, whatever braces are open in it.
        let inner = text.get(2..).unwrap_or_default().as_bytes();
        if inner.iter().enumerate().any(|(at, byte)| *byte == b'{' && (at == 0 || inner[at - 1] != b'$')) {
            self.refuse(span.start.offset(), "a brace inside an expansion");
        }
        let looks_up = matches!(
            parameter.bourne(),
            Some(Bourne::Indirect { .. } | Bourne::Indices { .. } | Bourne::PrefixMatch { .. })
        );
        if text.starts_with("${!") && !looks_up {
            self.refuse(span.start.offset(), "an indirect expansion in an unusual form");
        }
        let operand = Quoting { operand: true, ..quoting };
        let ParameterExpansionSyntax::Bourne(bourne) = &parameter.syntax else {
            self.refuse(span.start.offset(), "an expansion of another shell");
            return Vec::new();
        };
        let mut inner = Inner::default();
        let (name, form) = match bourne {
            Bourne::Access { reference } => {
                let name = self.reference(reference, &mut inner);
                let whole = reference.subscript.is_none();
                (name, if whole { Form::Plain } else { other(inner, false) })
            }
            Bourne::Length { reference } => (self.reference(reference, &mut inner), length(inner)),
            Bourne::Indices { reference } => {
                let name = self.reference(reference, &mut inner);
                (name, other(inner, false))
            }
            Bourne::PrefixMatch { prefix, .. } => (prefix.as_str().to_owned(), other(inner, false)),
            Bourne::Transformation { reference, operator } => {
                let name = self.reference(reference, &mut inner);
                (name, other(inner, *operator == 'P'))
            }
            Bourne::Indirect { reference, operator, operand: text, operand_word_ast, .. } => {
                let name = self.reference(reference, &mut inner);
                self.operation(
                    operator.as_deref(),
                    text.is_some(),
                    operand_word_ast.as_deref(),
                    operand,
                    &mut inner,
                );
                (name, other(inner, true))
            }
            Bourne::Slice { reference, offset_ast, length, length_ast, .. } => {
                let name = self.reference(reference, &mut inner);
                inner.ariths.push(self.arithmetic(offset_ast.as_deref(), span));
                if length.is_some() {
                    inner.ariths.push(self.arithmetic(length_ast.as_deref(), span));
                }
                (name, other(inner, false))
            }
            Bourne::Operation { reference, operator, operand: text, operand_word_ast, .. } => {
                let name = self.reference(reference, &mut inner);
                let plain = reference.subscript.is_none();
                let (operator, present) = (operator.as_ref(), text.is_some());
                self.operation(Some(operator), present, operand_word_ast.as_deref(), operand, &mut inner);
                (name, defaulting(operator, plain, inner))
            }
        };
        vec![Part::Var { name, quoted: quoting.double, form }]
    }

    /// The name of a reference; its subscript is evaluated.
    fn reference(&mut self, reference: &VarRef, inner: &mut Inner) -> String {
        if let Some(subscript) = &reference.subscript
            && !subscript.is_array_selector()
        {
            inner.ariths.push(self.subscript(subscript));
        }
        let name = reference.name.as_str();
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let special = matches!(name, "@" | "*" | "#" | "?" | "-" | "$" | "!");
        if !(plain || special) || self.slice(reference.name_span) != name {
            self.refuse(reference.span.start.offset(), "an expansion of an unusual name");
        }
        name.to_owned()
    }

    /// Every word inside an operator and its operand; one without a tree is refused.
    fn operation(
        &mut self,
        operator: Option<&ParameterOp>,
        has_operand: bool,
        operand: Option<&shuck_ast::Word>,
        quoting: Quoting,
        inner: &mut Inner,
    ) {
        match operator {
            Some(
                ParameterOp::RemovePrefixShort { pattern }
                | ParameterOp::RemovePrefixLong { pattern }
                | ParameterOp::RemoveSuffixShort { pattern }
                | ParameterOp::RemoveSuffixLong { pattern },
            ) => inner.words.push(self.pattern_in(pattern, quoting)),
            Some(
                ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
                | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. },
            ) => {
                inner.words.push(self.pattern_in(pattern, quoting));
                inner.words.push(self.word_in(replacement_word_ast, quoting));
            }
            _ => match operand {
                Some(word) => inner.words.push(self.word_in(word, quoting)),
                None if has_operand => self.refuse(0, "an operand that is not parsed"),
                None => {}
            },
        }
    }

    pub(super) fn subscript(&mut self, subscript: &Subscript) -> Arith {
        if subscript.is_array_selector() {
            return Arith::default();
        }
        let text = subscript.syntax_text(self.source);
        let at = subscript.span().start.offset();
        if text.contains([' ', '\t', '\n', '#']) {
            self.refuse(at, "a blank in a subscript");
        }
        self.arithmetic(subscript.arithmetic_ast.as_ref(), subscript.span())
    }
}

fn other(inner: Inner, evaluates: bool) -> Form {
    Form::Other { words: inner.words, ariths: inner.ariths, evaluates }
}

fn length(inner: Inner) -> Form {
    if inner.ariths.is_empty() { Form::Length } else { other(inner, false) }
}

fn defaulting(operator: &ParameterOp, plain: bool, mut inner: Inner) -> Form {
    if !plain || inner.words.len() > 1 {
        return other(inner, false);
    }
    match operator {
        ParameterOp::UseDefault => {
            Form::Default { word: inner.words.pop().unwrap_or_default(), assigns: false }
        }
        ParameterOp::AssignDefault => {
            Form::Default { word: inner.words.pop().unwrap_or_default(), assigns: true }
        }
        ParameterOp::UseReplacement => Form::Alternate(inner.words.pop().unwrap_or_default()),
        _ => other(inner, false),
    }
}
