//! Lowers arithmetic: which variables it evaluates, and what runs inside.

use shuck_ast::{
    ArithmeticAssignOp, ArithmeticCommand, ArithmeticExpr, ArithmeticExprNode, ArithmeticForCommand,
    ArithmeticLvalue, ArithmeticUnaryOp, Span,
};

use super::command::{Lower, range};
use super::tree::{Arith, Node};

impl Lower<'_> {
    /// An expression. Without a tree it is refused: bash may read it as something else.
    pub(super) fn arithmetic(&mut self, expression: Option<&ArithmeticExprNode>, span: Span) -> Arith {
        let mut arith = Arith::default();
        match expression {
            Some(node) => self.expression(node, &mut arith),
            None => self.refuse(span.start.offset(), "arithmetic that is not parsed"),
        }
        arith
    }

    fn expression(&mut self, node: &ArithmeticExprNode, out: &mut Arith) {
        match &node.kind {
            ArithmeticExpr::Number(_) => {}
            ArithmeticExpr::Variable(name) => out.names.push(name.as_str().to_owned()),
            ArithmeticExpr::Indexed { name, index } => {
                out.names.push(name.as_str().to_owned());
                self.expression(index, out);
            }
            ArithmeticExpr::ShellWord(word) => {
                let word =
                    self.word_in(word, super::word::Quoting { double: true, body: false, operand: false });
                out.words.push(word);
            }
            ArithmeticExpr::Parenthesized { expression } => self.expression(expression, out),
            ArithmeticExpr::Unary { expr, op } => {
                let counts = matches!(op, ArithmeticUnaryOp::PreIncrement | ArithmeticUnaryOp::PreDecrement);
                if let ArithmeticExpr::Variable(name) = &expr.kind
                    && counts
                {
                    out.sets.push(name.as_str().to_owned());
                }
                self.expression(expr, out);
            }
            ArithmeticExpr::Postfix { expr, .. } => {
                if let ArithmeticExpr::Variable(name) = &expr.kind {
                    out.sets.push(name.as_str().to_owned());
                }
                self.expression(expr, out);
            }
            ArithmeticExpr::Binary { .. } => self.binary(node, out),
            ArithmeticExpr::Conditional { condition, then_expr, else_expr } => {
                self.expression(condition, out);
                self.expression(then_expr, out);
                self.expression(else_expr, out);
            }
            ArithmeticExpr::Assignment { target, op, value } => {
                let name = match target {
                    ArithmeticLvalue::Variable(name) => name,
                    ArithmeticLvalue::Indexed { name, index } => {
                        self.expression(index, out);
                        name
                    }
                };
                out.sets.push(name.as_str().to_owned());
                // `x += 1` looks at the value that x has.
                if *op != ArithmeticAssignOp::Assign {
                    out.names.push(name.as_str().to_owned());
                }
                self.expression(value, out);
            }
        }
    }

    /// Chains of operators lean to the left and may be long.
    fn binary(&mut self, node: &ArithmeticExprNode, out: &mut Arith) {
        let mut at = node;
        while let ArithmeticExpr::Binary { left, right, .. } = &at.kind {
            self.expression(right, out);
            at = left;
        }
        self.expression(at, out);
    }

    pub(super) fn arithmetic_command(&mut self, command: &ArithmeticCommand) -> Node {
        self.cover.mark(range(command.span));
        if command.expr_span.is_none() {
            return Node::Arith(Vec::new());
        }
        Node::Arith(vec![self.arithmetic(command.expr_ast.as_ref(), command.span)])
    }

    pub(super) fn arithmetic_loop(&mut self, command: &ArithmeticForCommand) -> Node {
        self.cover.mark(command.left_paren_span.start.offset()..command.right_paren_span.end.offset());
        let mut headers = Vec::new();
        for (span, tree) in [
            (command.init_span, &command.init_ast),
            (command.condition_span, &command.condition_ast),
            (command.step_span, &command.step_ast),
        ] {
            if let Some(span) = span {
                headers.push(self.arithmetic(tree.as_ref(), span));
            }
        }
        Node::ArithLoop { headers, body: self.sequence(&command.body) }
    }
}
