//! Lowers `[[ … ]]`.

use shuck_ast::{
    ConditionalBinaryExpr, ConditionalBinaryOp as Op, ConditionalCommand, ConditionalExpr,
    ConditionalUnaryOp, Word,
};

use super::command::{Lower, range};
use super::tree::{Node, Part, Word as OurWord};
use super::word::Quoting;

#[derive(Default)]
struct Operands {
    words: Vec<OurWord>,
    numbers: Vec<OurWord>,
}

impl Lower<'_> {
    pub(super) fn conditional(&mut self, command: &ConditionalCommand) -> Node {
        self.cover.mark(range(command.left_bracket_span));
        self.cover.mark(range(command.right_bracket_span));
        let mut operands = Operands::default();
        self.test(&command.expression, &mut operands);
        Node::Test { words: operands.words, numbers: operands.numbers }
    }

    fn test(&mut self, expression: &ConditionalExpr, out: &mut Operands) {
        match expression {
            ConditionalExpr::Binary(binary) => self.binary_test(binary, out),
            ConditionalExpr::Unary(unary) => {
                self.cover.mark(range(unary.op_span));
                let evaluated = matches!(
                    unary.op,
                    ConditionalUnaryOp::VariableSet | ConditionalUnaryOp::ReferenceVariable
                );
                match unary.expr.as_ref() {
                    ConditionalExpr::Word(word) if evaluated => {
                        let word = self.word(word);
                        out.numbers.push(word);
                    }
                    other => self.test(other, out),
                }
            }
            ConditionalExpr::Parenthesized(inner) => {
                self.cover.mark(range(inner.left_paren_span));
                self.cover.mark(range(inner.right_paren_span));
                self.test(&inner.expr, out);
            }
            ConditionalExpr::Word(word) => {
                let word = self.word(word);
                out.words.push(word);
            }
            ConditionalExpr::Pattern(pattern) => {
                let word = self.pattern(pattern);
                out.words.push(word);
            }
            ConditionalExpr::Regex(word) => self.regex(word, out),
            ConditionalExpr::VarRef(reference) => {
                self.cover.mark(range(reference.span));
                if let Some(subscript) = &reference.subscript {
                    let arith = self.subscript(subscript);
                    out.words.push(OurWord { parts: vec![Part::Arith { arith }] });
                }
            }
        }
    }

    /// Chains of `&&` and `||` lean to the left and may be long.
    fn binary_test(&mut self, binary: &ConditionalBinaryExpr, out: &mut Operands) {
        let mut at = binary;
        loop {
            self.cover.mark(range(at.op_span));
            let numeric = matches!(
                at.op,
                Op::ArithmeticEq
                    | Op::ArithmeticNe
                    | Op::ArithmeticLe
                    | Op::ArithmeticGe
                    | Op::ArithmeticLt
                    | Op::ArithmeticGt
            );
            self.side(&at.right, numeric, out);
            match at.left.as_ref() {
                ConditionalExpr::Binary(left) => at = left,
                other => {
                    self.side(other, numeric, out);
                    return;
                }
            }
        }
    }

    fn side(&mut self, side: &ConditionalExpr, numeric: bool, out: &mut Operands) {
        match side {
            ConditionalExpr::Word(word) if numeric => {
                let word = self.word(word);
                out.numbers.push(word);
            }
            other => self.test(other, out),
        }
    }

    /// The operand of `=~`, whose brackets and bars are text.
    fn regex(&mut self, word: &Word, out: &mut Operands) {
        let text = self.slice(word.span);
        if text.contains([';', '\n', ' ', '\t', '#']) || text.contains("]]") {
            self.refuse(word.span.start.offset(), "a regular expression that bash may end elsewhere");
        }
        let lowered = self.word_in(word, Quoting { operand: true, ..Quoting::default() });
        out.words.push(lowered);
    }
}
