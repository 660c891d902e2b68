//! Takes secrets out of text: known values, and tokens by their shape.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, Input, MatchKind};

/// What stands where a secret was.
const MARK: &str = "[redacted]";
/// Shorter values are not looked for: they would match everywhere.
const MIN_VALUE: usize = 6;

/// How far a token reaches behind its beginning.
#[derive(Clone, Copy)]
enum Shape {
    /// A known value: exactly its length.
    Value,
    /// Letters, digits and some signs, at least so many. The beginning is part of the secret.
    Token { min: usize },
    /// As above; the beginning is kept (`Bearer `).
    After { min: usize },
    /// Three parts with dots between them.
    Jwt,
    /// A block between BEGIN and END lines, if it is a private key.
    Pem,
    /// The password in `scheme://user:password@host`.
    Url,
}

const TOKENS: &[(&str, Shape)] = &[
    ("sk-ant-", Shape::Token { min: 16 }),
    ("sk-proj-", Shape::Token { min: 16 }),
    ("sk-or-", Shape::Token { min: 16 }),
    ("sk-", Shape::Token { min: 20 }),
    ("sk_live_", Shape::Token { min: 12 }),
    ("rk_live_", Shape::Token { min: 12 }),
    ("ghp_", Shape::Token { min: 20 }),
    ("gho_", Shape::Token { min: 20 }),
    ("ghu_", Shape::Token { min: 20 }),
    ("ghs_", Shape::Token { min: 20 }),
    ("ghr_", Shape::Token { min: 20 }),
    ("github_pat_", Shape::Token { min: 20 }),
    ("glpat-", Shape::Token { min: 16 }),
    ("AKIA", Shape::Token { min: 16 }),
    ("ASIA", Shape::Token { min: 16 }),
    ("xoxb-", Shape::Token { min: 10 }),
    ("xoxp-", Shape::Token { min: 10 }),
    ("xoxa-", Shape::Token { min: 10 }),
    ("xoxs-", Shape::Token { min: 10 }),
    ("AIza", Shape::Token { min: 30 }),
    ("hf_", Shape::Token { min: 24 }),
    ("npm_", Shape::Token { min: 30 }),
    ("pypi-", Shape::Token { min: 40 }),
    ("dop_v1_", Shape::Token { min: 30 }),
    ("ya29.", Shape::Token { min: 20 }),
    ("AGE-SECRET-KEY-", Shape::Token { min: 20 }),
    ("Bearer ", Shape::After { min: 16 }),
    ("bearer ", Shape::After { min: 16 }),
    ("Authorization: Basic ", Shape::After { min: 8 }),
    ("authorization: Basic ", Shape::After { min: 8 }),
    ("x-api-key: ", Shape::After { min: 8 }),
    ("X-Api-Key: ", Shape::After { min: 8 }),
    ("eyJ", Shape::Jwt),
    ("-----BEGIN ", Shape::Pem),
    ("://", Shape::Url),
];

/// Removes secrets from text. Made once, used for every text.
#[derive(Debug)]
pub struct Redactor {
    automaton: Option<AhoCorasick>,
    /// How many of the patterns are known values; the token shapes follow.
    values: usize,
}

impl Redactor {
    /// A redactor for these values (shorter than six bytes are left out) and for the known token shapes.
    pub fn new<I>(secrets: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut values: Vec<String> = Vec::new();
        for secret in secrets {
            let value = secret.as_ref().trim();
            if value.len() >= MIN_VALUE && !values.iter().any(|known| known == value) {
                values.push(value.to_owned());
            }
        }
        let patterns = values.iter().map(String::as_str).chain(TOKENS.iter().map(|(start, _)| *start));
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns).ok();
        Self { automaton, values: values.len() }
    }

    /// The text without secrets; borrowed where there are none. Each is replaced by `[redacted]`.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(automaton) = &self.automaton else {
            // Without the automaton nothing can be told apart: rather nothing than a secret.
            return Cow::Borrowed("");
        };
        let mut out: Option<String> = None;
        let (mut copied, mut at) = (0, 0);
        while let Some(found) = automaton.find(Input::new(text).range(at..)) {
            let pattern = found.pattern().as_usize();
            let shape = pattern.checked_sub(self.values).map_or(Shape::Value, |index| TOKENS[index].1);
            match secret_range(text, found.start(), found.end(), shape) {
                Some((start, end)) => {
                    let target = out.get_or_insert_with(|| String::with_capacity(text.len()));
                    target.push_str(&text[copied..start]);
                    target.push_str(MARK);
                    copied = end;
                    at = end;
                }
                None => at = next_boundary(text, found.start()),
            }
        }
        match out {
            Some(mut target) => {
                target.push_str(&text[copied..]);
                Cow::Owned(target)
            }
            None => Cow::Borrowed(text),
        }
    }
}

fn next_boundary(text: &str, at: usize) -> usize {
    (at + 1..=text.len()).find(|index| text.is_char_boundary(*index)).unwrap_or(text.len())
}

/// What is to be taken out, if the match is a secret.
fn secret_range(text: &str, start: usize, end: usize, shape: Shape) -> Option<(usize, usize)> {
    let fresh = !text[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    match shape {
        Shape::Value => Some((start, end)),
        Shape::Token { min } => {
            let length = token_length(&text[end..]);
            (fresh && length >= min).then_some((start, end + length))
        }
        Shape::After { min } => {
            let length = token_length(&text[end..]);
            (length >= min).then_some((end, end + length))
        }
        Shape::Jwt => {
            let length = token_length(&text[end..]);
            let token = &text[start..end + length];
            let parts: Vec<&str> = token.split('.').collect();
            (fresh && parts.len() >= 3 && parts.iter().take(2).all(|part| part.len() >= 8))
                .then_some((start, end + length))
        }
        Shape::Pem => pem_end(text, start, end).map(|end| (start, end)),
        Shape::Url => password(text, end),
    }
}

fn token_length(rest: &str) -> usize {
    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.+/=~".contains(byte)).count()
}

/// The end of a private key; a key that is cut off reaches to the end of its lines.
fn pem_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let header = text[end..].split('\n').next().unwrap_or_default();
    if !header.contains("PRIVATE KEY") {
        return None;
    }
    let body = &text[start..];
    match body.find("-----END ") {
        Some(at) => {
            let tail = &body[at + "-----END ".len()..];
            let close = tail.find("-----").map_or(tail.len(), |index| index + 5);
            Some(start + at + "-----END ".len() + close)
        }
        None => Some(text.len()),
    }
}

/// The password of `user:password@host`, behind `://`.
fn password(text: &str, from: usize) -> Option<(usize, usize)> {
    let authority_end = text[from..]
        .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>' | '`' | '?' | '#'))
        .map_or(text.len(), |length| from + length);
    let authority = &text[from..authority_end];
    let at = authority.rfind('@')?;
    let colon = authority[..at].find(':')?;
    let (start, end) = (from + colon + 1, from + at);
    (start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let redactor = Redactor::new(["hunter2-secret", "x"]);
        assert_eq!(redactor.redact(text), expected);
    }

    #[test]
    fn values_and_shapes_go() {
        check("password hunter2-secret!", "password [redacted]!");
        check("key sk-ant-api03-abcdefghijklmnopqrstuvwx end", "key [redacted] end");
        check("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]");
        check("id AKIAIOSFODNN7EXAMPLE.", "id [redacted]");
        check("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted]");
        check("clone https://me:s3cr3t@example.com/x.git", "clone https://me:[redacted]@example.com/x.git");
        check(
            "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\nb",
            "a\n[redacted]\nb",
        );
        check("t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij", "t [redacted]");
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        let redactor = Redactor::new(Vec::<String>::new());
        for text in [
            "task-ant-hill sk-short risk-assessment-of-the-whole-thing",
            "https://example.com:8080/a@b",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
            "eyJ is the start of a token; bearer of news",
            "Grüße ://",
        ] {
            assert!(matches!(redactor.redact(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
