//! Expansion of words: what each word may become.

use super::arg::{Arg, Gap, Piece};
use super::outcome::Outcome;
use super::walk::Walker;
use crate::secret_name::is_secret_name;
use crate::shell::{Arith, Form, Part, Script, SubstKind, Word, expand_braces};

/// Words under construction.
#[derive(Default)]
struct Fields {
    done: Vec<Arg>,
    current: Arg,
    /// Whether the current word exists even if it is empty.
    present: bool,
}

impl Fields {
    fn push(&mut self, piece: Piece) {
        self.present = true;
        self.current.push(piece);
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.present) {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// Known text that is not quoted: split at blanks, and a pattern where it has the characters.
    fn push_unquoted_value(&mut self, text: &str) {
        for (index, word) in text.split([' ', '\t', '\n']).enumerate() {
            if index > 0 {
                self.end_word();
            }
            if !word.is_empty() {
                glob_pieces(word, true).into_iter().for_each(|piece| self.push(piece));
            }
        }
    }
}

impl Walker<'_> {
    /// The words that a word becomes.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Arg> {
        let Some(words) = expand_braces(word) else {
            self.parts(&word.parts, &mut Fields::default(), false);
            self.out.opaque("a brace expansion that is not followed");
            return vec![Arg::gap(Gap { empty: true, split: true, ..Gap::default() })];
        };
        let mut all = Vec::with_capacity(words.len());
        for word in &words {
            let mut fields = Fields::default();
            self.parts(&word.parts, &mut fields, true);
            fields.end_word();
            all.append(&mut fields.done);
        }
        all
    }

    /// The value of a word where it is not split: assignments, here-strings, `case`.
    pub(crate) fn expand_one(&mut self, word: &Word) -> Arg {
        let mut fields = Fields::default();
        let quoted: Vec<Part> = word.parts.iter().map(as_quoted).collect();
        let tilde =
            matches!(word.parts.first(), Some(Part::Text { text, quoted: false }) if text.starts_with('~'));
        self.parts(if tilde { &word.parts } else { &quoted }, &mut fields, true);
        fields.end_word();
        let mut out = Arg::default();
        for (index, field) in fields.done.into_iter().enumerate() {
            if index > 0 {
                out.push(Piece::Text(" ".to_owned()));
            }
            field.pieces().iter().cloned().for_each(|piece| out.push(piece));
        }
        out
    }

    fn parts(&mut self, parts: &[Part], fields: &mut Fields, tilde: bool) {
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text { text, quoted: true } => fields.push(Piece::Text(text.clone())),
                Part::Text { text, quoted: false } => {
                    let rest =
                        if tilde && index == 0 { self.tilde(text, parts.len() == 1, fields) } else { text };
                    glob_pieces(rest, parts.len() > 1).into_iter().for_each(|piece| fields.push(piece));
                }
                Part::Var { name, quoted, form } => self.variable(name, *quoted, form, fields),
                Part::Subst { script, quoted, kind } => {
                    let gap = self.substitution(script, *quoted, *kind);
                    fields.push(Piece::Gap(gap));
                }
                Part::Arith { arith } => {
                    self.arithmetic(arith);
                    fields.push(Piece::Gap(Gap { number: true, ..Gap::default() }));
                }
            }
        }
    }

    /// Expands a leading `~`; returns what is left of the text.
    fn tilde<'t>(&mut self, text: &'t str, whole: bool, fields: &mut Fields) -> &'t str {
        let Some(rest) = text.strip_prefix('~') else { return text };
        let (user, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if tail.is_empty() && !whole {
            return text;
        }
        match (user, self.state.vars.get("HOME").cloned()) {
            ("", Some(home)) => home.into_iter().for_each(|piece| fields.push(piece)),
            ("+", _) if self.state.dirs.len() == 1 => {
                fields.push(Piece::Text(self.state.dirs[0].to_string_lossy().into_owned()));
            }
            _ => fields.push(Piece::Gap(Gap::default())),
        }
        tail
    }

    fn variable(&mut self, name: &str, quoted: bool, form: &Form, fields: &mut Fields) {
        match form {
            Form::Plain => self.plain_variable(name, quoted, fields),
            Form::Length => fields.push(Piece::Gap(Gap { number: true, ..Gap::default() })),
            Form::Default { word, assigns } => {
                let default = self.expand_one(word);
                let known = self.state.vars.get(name).cloned();
                let is_set =
                    known.as_ref().is_some_and(|pieces| !Arg::from_pieces(pieces.clone()).is_empty());
                if *assigns && !is_set {
                    self.state
                        .vars
                        .insert(name.to_owned(), vec![Piece::Gap(unknown_gap(false, default.is_secret()))]);
                }
                match known {
                    Some(_) if is_set => self.plain_variable(name, quoted, fields),
                    _ => {
                        let secret = default.is_secret() || self.is_secret_variable(name);
                        let empty = default.if_empty().is_some_and(|text| text.is_empty());
                        fields.push(Piece::Gap(Gap { empty, split: !quoted, secret, ..Gap::default() }));
                    }
                }
            }
            Form::Alternate(word) => {
                let value = self.expand_one(word);
                fields.push(Piece::Gap(unknown_gap(quoted, value.is_secret())));
            }
            Form::Other { words, ariths, evaluates } => {
                for word in words {
                    self.expand_one(word);
                }
                ariths.iter().for_each(|arith| self.arithmetic(arith));
                if *evaluates {
                    self.out.opaque(format!("an expansion that evaluates the value of {name}"));
                }
                let secret = self.is_secret_variable(name);
                let many = !quoted || name == "@";
                fields.push(Piece::Gap(Gap { empty: true, split: many, secret, ..Gap::default() }));
            }
        }
    }

    fn plain_variable(&mut self, name: &str, quoted: bool, fields: &mut Fields) {
        match name {
            "#" | "?" | "$" | "!" => return fields.push(Piece::Gap(Gap { number: true, ..Gap::default() })),
            "@" | "*" => {
                return fields.push(Piece::Gap(Gap { empty: true, split: true, ..Gap::default() }));
            }
            "PWD" if !self.state.vars.contains_key("PWD") => {
                return match self.state.dirs.as_slice() {
                    [dir] => fields.push(Piece::Text(dir.to_string_lossy().into_owned())),
                    _ => fields.push(Piece::Gap(Gap { split: !quoted, ..Gap::default() })),
                };
            }
            _ => {}
        }
        let Some(pieces) = self.state.vars.get(name).cloned() else {
            let secret = self.is_secret_variable(name);
            return fields.push(Piece::Gap(unknown_gap(quoted, secret)));
        };
        for piece in pieces {
            match piece {
                Piece::Text(text) if !quoted => fields.push_unquoted_value(&text),
                Piece::Gap(gap) => fields.push(Piece::Gap(Gap { split: gap.split && !quoted, ..gap })),
                other => fields.push(other),
            }
        }
        fields.present |= quoted;
    }

    /// Whether a variable holds a secret by its name.
    pub(crate) fn is_secret_variable(&self, name: &str) -> bool {
        !self.state.vars.contains_key(name)
            && (is_secret_name(name) || self.context.secret_env.iter().any(|secret| secret == name))
    }

    /// Walks the inside of a substitution; what it prints is not known.
    fn substitution(&mut self, script: &Script, quoted: bool, kind: SubstKind) -> Gap {
        let stdin = std::mem::take(&mut self.stdin);
        if kind == SubstKind::To {
            self.stdin = super::walk::Stdin::Unknown;
        }
        let part: Outcome = self.aside(script);
        self.stdin = stdin;
        let gap = match kind {
            SubstKind::Command => Gap {
                empty: !part.prints_number,
                split: !quoted && !part.prints_number,
                secret: part.secret,
                number: part.prints_number,
                name: part.prints_names,
            },
            // The name of a pipe below /dev/fd.
            SubstKind::From | SubstKind::To => Gap { secret: part.secret, name: true, ..Gap::default() },
        };
        self.out.merge(part);
        gap
    }

    /// Arithmetic: what runs inside, and whether every value in it can only be a number.
    pub(crate) fn arithmetic(&mut self, arith: &Arith) {
        for word in &arith.words {
            let value = self.expand_one(word);
            if !value.is_number() && !value.is_empty() {
                self.out.opaque("arithmetic evaluates a value that is not known to be a number");
            }
        }
        for name in &arith.names {
            // A variable that the expression itself sets first need not be there before.
            let starts_here = arith.sets.contains(name) && !self.state.vars.contains_key(name);
            if self.is_evaluated(name) && !starts_here {
                self.out.opaque(format!("arithmetic evaluates {name}, which is not known to be a number"));
            }
        }
        for name in &arith.sets {
            self.state.vars.insert(name.clone(), vec![Piece::Gap(Gap { number: true, ..Gap::default() })]);
        }
    }
}

fn unknown_gap(quoted: bool, secret: bool) -> Gap {
    Gap { empty: true, split: !quoted, secret, ..Gap::default() }
}

fn as_quoted(part: &Part) -> Part {
    match part {
        Part::Text { text, .. } => Part::Text { text: text.clone(), quoted: true },
        Part::Var { name, form, .. } => Part::Var { name: name.clone(), quoted: true, form: form.clone() },
        Part::Subst { script, kind, .. } => Part::Subst { script: script.clone(), quoted: true, kind: *kind },
        Part::Arith { arith } => Part::Arith { arith: arith.clone() },
    }
}

/// Unquoted text as text and parts of a pattern. With `more`, a bracket may close in another part of the word.
fn glob_pieces(text: &str, more: bool) -> Vec<Piece> {
    if !text.contains(['*', '?', '[']) {
        return vec![Piece::Text(text.to_owned())];
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[']) {
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].to_owned()));
        }
        let tail = &rest[at..];
        let length = if tail.starts_with('[') {
            tail.get(2..).and_then(|inner| inner.find(']')).map(|end| end + 3)
        } else {
            Some(1)
        };
        match length {
            Some(length) => {
                pieces.push(Piece::Glob(tail[..length].to_owned()));
                rest = &tail[length..];
            }
            None => {
                let bracket = "[".to_owned();
                pieces.push(if more { Piece::Glob(bracket) } else { Piece::Text(bracket) });
                rest = &tail[1..];
            }
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}
