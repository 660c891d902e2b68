//! A word after expansion: what is known of its text.

use std::fmt;

/// Text that is not known, and what can still be said about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gap {
    /// May be empty.
    pub empty: bool,
    /// May become several words.
    pub split: bool,
    /// Holds or may hold a secret.
    pub secret: bool,
    /// Is a number.
    pub number: bool,
    /// Is the name of a file below the directory, as a program printed it.
    pub name: bool,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// A part of a pattern: `*`, `?`, `[a-z]`.
    Glob(String),
    Gap(Gap),
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Arg {
    pieces: Vec<Piece>,
}

impl Arg {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Text(text.into())] }
    }

    pub(crate) fn gap(gap: Gap) -> Self {
        Self { pieces: vec![Piece::Gap(gap)] }
    }

    pub(crate) fn from_pieces(pieces: Vec<Piece>) -> Self {
        let mut arg = Self::default();
        pieces.into_iter().for_each(|piece| arg.push(piece));
        arg
    }

    pub(crate) fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
            (_, Piece::Text(more)) if more.is_empty() => {}
            (_, piece) => self.pieces.push(piece),
        }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The text, where all of it is known.
    pub(crate) fn exact(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.exact().is_some_and(str::is_empty)
    }

    /// The known text at the start.
    pub(crate) fn literal_start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether this may turn out to be an option.
    pub(crate) fn may_be_option(&self) -> bool {
        matches!(self.pieces.first(), Some(Piece::Gap(gap)) if !gap.number && !gap.name)
    }

    pub(crate) fn may_split(&self) -> bool {
        self.gaps().any(|gap| gap.split && !gap.number)
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.gaps().any(|gap| gap.secret)
    }

    /// Whether this can only be a number.
    pub(crate) fn is_number(&self) -> bool {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => is_integer(text),
            [Piece::Gap(gap)] => gap.number,
            _ => false,
        }
    }

    pub(crate) fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    pub(crate) fn gaps(&self) -> impl Iterator<Item = &Gap> {
        self.pieces.iter().filter_map(|piece| if let Piece::Gap(gap) = piece { Some(gap) } else { None })
    }

    /// Without the first `length` bytes, which must be known text.
    pub(crate) fn skip(&self, length: usize) -> Self {
        let mut pieces = self.pieces.clone();
        if let Some(Piece::Text(text)) = pieces.first_mut() {
            let rest = text.get(length..).unwrap_or_default().to_owned();
            if rest.is_empty() {
                pieces.remove(0);
            } else {
                *text = rest;
            }
        }
        Self { pieces }
    }

    /// The text with patterns as written and numbers as `0`; `None` where something else is not known.
    pub(crate) fn pattern(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => out.push_str(text),
                Piece::Gap(gap) if gap.number => out.push('0'),
                Piece::Gap(_) => return None,
            }
        }
        Some(out)
    }

    /// The text if everything unknown is empty; `None` where something cannot be.
    pub(crate) fn if_empty(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => out.push_str(text),
                Piece::Gap(gap) if gap.empty => {}
                Piece::Gap(_) => return None,
            }
        }
        Some(out)
    }
}

pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.len() < 20 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => f.write_str(text)?,
                Piece::Gap(_) => f.write_str("…")?,
            }
        }
        Ok(())
    }
}
