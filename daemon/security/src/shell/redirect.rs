//! Lowers redirects.

use shuck_ast::{Redirect as ShuckRedirect, RedirectKind as Kind, RedirectTarget};

use super::command::{Lower, range};
use super::tree::{Feed, Redirect, RedirectKind, Word};

impl Lower<'_> {
    pub(super) fn redirect(&mut self, redirect: &ShuckRedirect) -> Option<Redirect> {
        let whole = range(redirect.span);
        self.mark_fd_variable(redirect);
        let fd = redirect.fd;
        let kind = match &redirect.target {
            RedirectTarget::Heredoc(heredoc) => {
                self.cover.mark(whole.clone());
                RedirectKind::Feed(Feed { word: self.heredoc(heredoc, whole.end) })
            }
            RedirectTarget::Word(target) => {
                let start = target.span.start.offset();
                let synthetic = start == target.span.end.offset();
                if synthetic && self.is_second_half(redirect) {
                    return None;
                }
                let operator_end = if synthetic { whole.end } else { start };
                self.cover.mark(whole.start..operator_end);
                let operator = self.source.get(whole.start..operator_end).unwrap_or_default();
                if synthetic {
                    let text = self.duplicate(operator, whole.start)?;
                    return Some(Redirect { fd, kind: RedirectKind::Duplicate(text) });
                }
                if operator.chars().any(|c| !matches!(c, '<' | '>' | '&' | '|' | '0'..='9' | ' ' | '\t')) {
                    self.refuse(whole.start, "a redirect in an unusual form");
                }
                let word = self.word(target);
                self.kind_of(redirect.kind, word, operator)
            }
        };
        Some(Redirect { fd, kind })
    }

    fn kind_of(&mut self, kind: Kind, word: Word, operator: &str) -> RedirectKind {
        match kind {
            Kind::Output | Kind::Clobber | Kind::OutputBoth => RedirectKind::Write(word),
            Kind::Append => RedirectKind::Append(word),
            Kind::Input => RedirectKind::Read(word),
            Kind::ReadWrite => RedirectKind::ReadWrite(word),
            Kind::HereString => RedirectKind::Feed(Feed { word }),
            Kind::DupOutput | Kind::DupInput => match exact_text(&word) {
                Some(text) if is_descriptor(&text) => RedirectKind::Duplicate(text),
                text => {
                    // bash expands this word twice, and takes what follows `>&-` for the next word.
                    let plain = |c: char| c.is_alphanumeric() || "_./+,:@%".contains(c) || c == '-';
                    if !text.is_some_and(|text| text.chars().all(plain) && !text.starts_with('-')) {
                        self.refuse(0, "a redirect of both streams to a name that is not plain");
                    }
                    if kind == Kind::DupOutput {
                        RedirectKind::Write(word)
                    } else {
                        RedirectKind::ReadWrite(word)
                    }
                }
            },
            Kind::HereDoc | Kind::HereDocStrip => {
                self.refuse(0, &format!("a here-document without a body: {operator}"));
                RedirectKind::Feed(Feed { word })
            }
        }
    }

    /// The text behind `>&` where the tree holds a made-up word.
    fn duplicate(&mut self, operator: &str, at: usize) -> Option<String> {
        let text = operator.rsplit(['&']).next().unwrap_or_default().trim();
        if operator.contains('&') && is_descriptor(text) {
            return Some(text.to_owned());
        }
        self.refuse(at, "a redirect in an unusual form");
        None
    }

    /// `&>>f` is given as an append and a made-up `2>&1`: the second half adds nothing.
    pub(super) fn is_second_half(&self, redirect: &ShuckRedirect) -> bool {
        let made_up =
            redirect.word_target().is_some_and(|word| word.span.start.offset() == word.span.end.offset());
        made_up && self.slice(redirect.span).starts_with("&>>")
    }

    fn mark_fd_variable(&mut self, redirect: &ShuckRedirect) {
        let Some(span) = redirect.fd_var_span else { return };
        let (start, end) = (span.start.offset(), span.end.offset());
        let bytes = self.source.as_bytes();
        let named = self.slice(span).bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let braced =
            named && start > 0 && bytes.get(start - 1) == Some(&b'{') && bytes.get(end) == Some(&b'}');
        if !braced {
            self.refuse(start, "a redirect in an unusual form");
            return;
        }
        self.cover.mark(start - 1..end + 1);
    }
}

fn exact_text(word: &Word) -> Option<String> {
    match word.parts.as_slice() {
        [super::tree::Part::Text { text, .. }] => Some(text.clone()),
        _ => None,
    }
}

fn is_descriptor(text: &str) -> bool {
    let digits = text.strip_suffix('-').unwrap_or(text);
    digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty()
}
