//! Loops, branches and functions.

use std::sync::Arc;

use air_contracts::permission::RiskLevel;

use super::arg::{Arg, Gap, Piece};
use super::walk::{Stdin, Walker};
use crate::shell::{Node, Script, Word};

/// The most words that a loop is walked for one by one.
const MAX_ROUNDS: usize = 16;

impl Walker<'_> {
    pub(super) fn for_loop(&mut self, name: &str, words: Option<&[Word]>, body: &Script) {
        let values: Vec<Arg> = match words {
            Some(words) => words.iter().flat_map(|word| self.expand(word)).collect(),
            None => vec![Arg::gap(Gap { empty: true, split: false, ..Gap::default() })],
        };
        let before = self.state.clone();
        if values.len() <= MAX_ROUNDS && values.iter().all(|value| !value.may_split()) {
            for value in &values {
                self.state.vars.insert(name.to_owned(), value.pieces().to_vec());
                self.script(body);
                self.state.left = false;
                self.state.join(before.clone());
            }
            return;
        }
        let gap = Gap {
            empty: true,
            split: true,
            secret: values.iter().any(Arg::is_secret),
            number: values.iter().all(Arg::is_number),
            name: values.iter().all(|value| value.gaps().all(|gap| gap.name) && value.gaps().count() == 1),
        };
        let gap = if gap.number || gap.name { Gap { empty: false, split: false, ..gap } } else { gap };
        let value = vec![Piece::Gap(gap)];
        self.twice(|walker| {
            walker.state.vars.insert(name.to_owned(), value.clone());
            walker.script(body);
        });
    }

    pub(super) fn case(&mut self, subject: &Word, arms: &[(Vec<Word>, Script)]) {
        self.expand(subject);
        let before = self.state.clone();
        let mut after = before.clone();
        for (patterns, body) in arms {
            for pattern in patterns {
                self.expand(pattern);
            }
            self.script(body);
            after.join(std::mem::replace(&mut self.state, before.clone()));
        }
        self.state = after;
    }

    /// A definition: the body is judged once on its own, and again at each call.
    pub(super) fn define(&mut self, name: Option<&str>, body: &Arc<Node>) {
        let Some(name) = name else {
            self.out.opaque("a function whose name is not known");
            self.apart(body);
            return;
        };
        if crate::programs::catalogue().get(name).is_some() || super::builtin::is_builtin(name) {
            self.out.unknown(format!("a function takes the name of {name}"));
        }
        self.calls.push(name.to_owned());
        self.apart(body);
        self.calls.pop();
        self.state.functions.insert(name.to_owned(), Arc::clone(body));
    }

    /// Walks a node with a copy of the state that knows no directory and no variable.
    pub(crate) fn apart(&mut self, node: &Node) {
        let state = self.state.clone();
        let stdin = std::mem::replace(&mut self.stdin, Stdin::Unknown);
        self.node(node);
        self.stdin = stdin;
        self.state = state;
    }

    /// Walks the body of a function at a call.
    pub(crate) fn call(&mut self, name: &str, body: &Node) {
        if self.calls.iter().any(|caller| caller == name) {
            if self.parallel {
                self.out.deny(
                    RiskLevel::Destructive,
                    format!("the function {name} multiplies itself without end"),
                );
            } else {
                self.out.unknown(format!("the function {name} calls itself"));
            }
            return;
        }
        self.calls.push(name.to_owned());
        self.node(body);
        self.calls.pop();
        self.state.left = false;
    }
}
