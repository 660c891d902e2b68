//! From the text of a command to our own tree of it.
//!
//! `shuck` parses; nothing else of this crate sees its types. Its tree is tolerant by intent, so every
//! text passes guards that refuse what it is known to take for data while bash runs it. A refusal is an
//! entry in [`Parsed::refusals`]; the tree is still lowered as far as it goes, so that the worst part of
//! a doubtful line is seen too.

mod ansi;
mod arithmetic;
mod brace;
mod command;
mod condition;
mod cover;
mod heredoc;
mod join;
mod parameter;
mod parse;
mod redirect;
mod scan;
mod tree;
mod word;

pub(crate) use brace::expand as expand_braces;
pub(crate) use parse::parse;
pub(crate) use tree::{
    Arith, Assign, Form, Link, Node, Part, Redirect, RedirectKind, Script, Simple, SubstKind, Word,
};

/// Words that bash reads as syntax where a command may start (bash(1), RESERVED WORDS).
pub(crate) const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "until", "case", "esac",
    "select", "function", "time", "coproc", "{", "}", "!", "[[", "]]",
];
