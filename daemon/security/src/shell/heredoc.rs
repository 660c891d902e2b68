//! Lowers here-documents, and checks where they end.

use shuck_ast::{Heredoc, HeredocBodyPart};

use super::command::{Lower, range};
use super::scan::Body;
use super::tree::{Part, Word};
use super::word::Quoting;

impl Lower<'_> {
    /// The body as a word. `behind` is the offset behind the redirect.
    pub(super) fn heredoc(&mut self, heredoc: &Heredoc, behind: usize) -> Word {
        let body = range(heredoc.body.span);
        let at = heredoc.delimiter.span.start.offset();
        let raw = self.slice(heredoc.delimiter.span);
        let Some(plain) = plain_delimiter(raw) else {
            self.refuse(at, "a here-document with an unusual delimiter");
            return Word::default();
        };
        let quoted = plain != raw;
        if plain != heredoc.delimiter.cooked.as_str() || quoted == heredoc.delimiter.expands_body {
            self.refuse(at, "a here-document whose delimiter is read in two ways");
        }
        let end = self.closing_line(body.start, plain, heredoc.delimiter.strip_tabs);
        match end {
            Some((close, end)) if close == body.end && self.starts_where_it_must(behind, body.start) => {
                self.cover.mark(body.start..end);
                self.bodies.push(Body { range: body.start..end, expands: !quoted });
            }
            _ => self.refuse(at, "a here-document whose end is not plain"),
        }
        if quoted {
            self.literals.push(body.clone());
            let text = self.source.get(body).unwrap_or_default().to_owned();
            return Word { parts: vec![Part::Text { text, quoted: true }] };
        }
        if self.source.get(body.clone()).is_some_and(|text| text.contains("\\\n")) {
            self.refuse(body.start, "a continued line in a here-document");
        }
        let parts =
            heredoc.body.parts.iter().flat_map(|part| self.body_part(&part.kind, part.span)).collect();
        Word { parts }
    }

    fn body_part(&mut self, part: &HeredocBodyPart, span: shuck_ast::Span) -> Vec<Part> {
        let quoting = Quoting { double: true, body: true, operand: false };
        match part {
            HeredocBodyPart::Literal(_) => self.literal(span, quoting),
            HeredocBodyPart::Variable(name) => self.variable(name.as_str(), span, quoting),
            HeredocBodyPart::CommandSubstitution { body, syntax } => {
                self.substitution(body, *syntax, span, quoting)
            }
            HeredocBodyPart::ArithmeticExpansion { expression_ast, syntax, .. } => {
                self.arithmetic_expansion(expression_ast.as_deref(), *syntax, span)
            }
            HeredocBodyPart::Parameter(parameter) => self.parameter(parameter, span, quoting),
        }
    }

    /// The closing line: its start, and the offset behind it.
    fn closing_line(&self, from: usize, delimiter: &str, strip_tabs: bool) -> Option<(usize, usize)> {
        let mut at = from;
        for line in self.source.get(from..)?.split_inclusive('\n') {
            let text = line.strip_suffix('\n').unwrap_or(line);
            let text = if strip_tabs { text.trim_start_matches('\t') } else { text };
            if text == delimiter {
                return Some((at, at + line.len()));
            }
            at += line.len();
        }
        None
    }

    /// A body starts on the next line, or behind the body of an earlier redirect of the same line.
    fn starts_where_it_must(&self, behind: usize, start: usize) -> bool {
        let Some(line_end) = self.source.get(behind..).and_then(|rest| rest.find('\n')) else { return false };
        let next_line = behind + line_end + 1;
        start == next_line
            || (start > next_line
                && self.bodies.iter().any(|body| body.range.end == start)
                && self.bodies.iter().any(|body| body.range.start == next_line))
    }
}

/// The delimiter without its quotes, where it is written in one of the plain ways.
fn plain_delimiter(raw: &str) -> Option<&str> {
    let inner = raw
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .or_else(|| raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')))
        .or_else(|| raw.strip_prefix('\\'))
        .unwrap_or(raw);
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '@' | '%' | ':' | ',');
    (!inner.is_empty() && inner.chars().all(plain)).then_some(inner)
}
