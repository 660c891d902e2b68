//! A second opinion on substitutions: a scanner that knows quotes and brackets, nothing else.
//!
//! It counts what must be a substitution. A tree with fewer hides a command.

use std::ops::Range;

use super::cover::starts_word_after;

/// Substitutions by bracket.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// `$(`, also that of `$((`.
    pub dollar: usize,
    /// Pairs of backticks.
    pub backtick: usize,
    /// `<(` and `>(`.
    pub process: usize,
}

/// The body of a here-document.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub range: Range<usize>,
    pub expands: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// Commands, and how many brackets are open in them.
    Command(usize),
    Double,
    Parameter,
    Backtick,
    Body,
}

/// Counts the substitutions of `source`; `bodies` are its here-documents in order of their start.
pub(super) fn count(source: &str, bodies: &[Body]) -> Counts {
    let mut scanner = Scanner {
        bytes: source.as_bytes(),
        at: 0,
        stack: vec![Context::Command(0)],
        counts: Counts::default(),
    };
    let mut bodies = bodies.iter().peekable();
    let mut body_end: Option<(usize, usize)> = None;
    while scanner.at < scanner.bytes.len() {
        if let Some((end, depth)) = body_end
            && scanner.at >= end
        {
            scanner.stack.truncate(depth);
            body_end = None;
        }
        if let Some(body) = bodies.peek()
            && scanner.at >= body.range.start
        {
            if body.expands {
                body_end = Some((body.range.end, scanner.stack.len()));
                scanner.stack.push(Context::Body);
            } else {
                scanner.at = scanner.at.max(body.range.end);
            }
            bodies.next();
            continue;
        }
        scanner.step();
    }
    scanner.counts
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Context>,
    counts: Counts,
}

impl Scanner<'_> {
    fn top(&self) -> Context {
        self.stack.last().copied().unwrap_or(Context::Command(0))
    }

    fn next_is(&self, byte: u8) -> bool {
        self.bytes.get(self.at + 1) == Some(&byte)
    }

    fn step(&mut self) {
        let context = self.top();
        match self.bytes[self.at] {
            b'\\' => self.at += 2,
            b'$' if self.next_is(b'(') => {
                self.counts.dollar += 1;
                self.stack.push(Context::Command(0));
                self.at += 2;
            }
            b'$' if self.next_is(b'{') => {
                self.stack.push(Context::Parameter);
                self.at += 2;
            }
            b'$' if self.next_is(b'\'') && self.single_quotes_count() => self.skip_ansi(),
            b'`' => self.backtick(),
            b'"' if context != Context::Body => {
                if context == Context::Double {
                    self.stack.pop();
                } else {
                    self.stack.push(Context::Double);
                }
                self.at += 1;
            }
            b'\'' if self.single_quotes_count() => {
                let rest = &self.bytes[self.at + 1..];
                self.at +=
                    rest.iter().position(|byte| *byte == b'\'').map_or(rest.len() + 1, |length| length + 2);
            }
            b'}' if context == Context::Parameter => {
                self.stack.pop();
                self.at += 1;
            }
            b'<' | b'>'
                if self.next_is(b'(')
                    && matches!(context, Context::Command(_) | Context::Parameter | Context::Backtick) =>
            {
                self.counts.process += 1;
                self.stack.push(Context::Command(0));
                self.at += 2;
            }
            b'#' if matches!(context, Context::Command(_) | Context::Backtick) && self.at_word_start() => {
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            }
            byte => {
                self.bracket(byte);
                self.at += 1;
            }
        }
    }

    /// Whether a single quote here starts a quoted string: not inside double quotes or a here-document,
    /// also not in a parameter expansion within them.
    fn single_quotes_count(&self) -> bool {
        for context in self.stack.iter().rev() {
            match context {
                Context::Command(_) | Context::Backtick => return true,
                Context::Double | Context::Body => return false,
                Context::Parameter => {}
            }
        }
        true
    }

    fn at_word_start(&self) -> bool {
        self.at.checked_sub(1).is_none_or(|before| starts_word_after(self.bytes[before]))
    }

    fn skip_ansi(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.at += 2,
                b'\'' => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn backtick(&mut self) {
        if let Some(open) = self.stack.iter().rposition(|context| *context == Context::Backtick) {
            self.stack.truncate(open);
        } else {
            self.counts.backtick += 1;
            self.stack.push(Context::Backtick);
        }
        self.at += 1;
    }

    fn bracket(&mut self, byte: u8) {
        let nested = self.stack.len() > 1;
        let Some(Context::Command(depth)) = self.stack.last_mut() else { return };
        match byte {
            b'(' => *depth += 1,
            b')' if *depth > 0 => *depth -= 1,
            b')' if nested => {
                self.stack.pop();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_substitution_is_counted_once() {
        let check = |text: &str, dollar: usize, backtick: usize, process: usize| {
            assert_eq!(count(text, &[]), Counts { dollar, backtick, process }, "{text}");
        };
        check("echo \"$(a \"$(b)\")\" '$(no)'", 2, 0, 0);
        check("echo `a` \"`b`\" \\`c\\`", 0, 2, 0);
        check("diff <(a) >(b) \"<(no)\"", 0, 0, 2);
        check("echo ${x:-$(a)} # $(no)\n$(b)", 2, 0, 0);
        check("echo \"${x-'$(a)'}\" $'\\'$(no)'", 1, 0, 0);
        check("echo $((1+$(a)))", 2, 0, 0);
    }
}
