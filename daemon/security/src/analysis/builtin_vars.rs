//! Builtins that set variables.

use super::arg::{Arg, Gap, Piece};
use super::walk::{Walker, is_name};
use crate::shell::Assign;

impl Walker<'_> {
    /// `declare`, `export`, `local`, `readonly`, `typeset`: `words` are the name, the options and plain
    /// operands, `declares` the operands that are assignments.
    pub(crate) fn declare(&mut self, words: &[Arg], declares: &[Assign]) {
        let Some((name, operands)) = words.split_first() else { return };
        let name = name.exact().unwrap_or_default().to_owned();
        if !declares.is_empty() {
            self.out.commands.push(name.clone());
        }
        let mut exports = name == "export";
        let mut plain = 0;
        let mut prints = false;
        for word in operands {
            match word.exact() {
                Some(text) if text.starts_with(['-', '+']) => {
                    exports |= text.starts_with('-') && text.contains('x');
                    prints |= text.contains('p');
                    self.declare_option(&name, text);
                }
                Some(text) => {
                    plain += 1;
                    self.declare_word(text, exports);
                }
                None => {
                    plain += 1;
                    self.declare_unknown(word);
                }
            }
        }
        if prints || (plain == 0 && declares.is_empty()) {
            self.secret(&format!("{name} prints variables"));
        }
        for assign in declares {
            let numeric = operands
                .iter()
                .any(|word| word.exact().is_some_and(|text| text.starts_with('-') && text.contains('i')));
            let value = self.assign(assign);
            if numeric && !value.is_number() {
                self.out.opaque("declare -i evaluates a value that is not known to be a number");
            }
            if exports {
                self.export(&assign.name);
            }
        }
    }

    fn declare_option(&mut self, name: &str, text: &str) {
        let known = text[1..]
            .chars()
            .all(|c| matches!(c, 'a' | 'A' | 'f' | 'F' | 'g' | 'i' | 'l' | 'p' | 'r' | 'u' | 'x'));
        let unexport = name == "export" && text == "-n";
        if !known && !unexport {
            self.out.opaque(format!("{name} {text}"));
        }
    }

    fn declare_word(&mut self, text: &str, exports: bool) {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if !is_name(name) || value.is_some_and(|value| value.contains(['(', '[', '$', '`'])) {
            self.out.opaque(format!("a declaration that is evaluated: {text}"));
            return;
        }
        if let Some(value) = value {
            self.state.vars.insert(name.to_owned(), vec![Piece::Text(value.to_owned())]);
        }
        if exports {
            self.export(name);
        }
    }

    /// `export NAME=$x` with a plain name is an assignment; anything else may be evaluated.
    fn declare_unknown(&mut self, word: &Arg) {
        self.out.opaque(format!("a declaration that is evaluated: {word}"));
    }

    /// `read`: its operands are names of variables.
    pub(crate) fn read(&mut self, args: &[Arg]) {
        let mut at = 0;
        let mut names = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            match arg.exact() {
                Some("-a" | "-d" | "-n" | "-N" | "-p" | "-t" | "-u" | "-i") => {
                    let value = args.get(at).and_then(Arg::exact).unwrap_or_default();
                    if arg.exact() == Some("-a") {
                        self.read_into(value.to_owned().as_str());
                    }
                    at += 1;
                }
                Some(text) if text.starts_with('-') => {
                    let known = text[1..].chars().all(|c| matches!(c, 'r' | 's' | 'e' | 'E'))
                        || text[1..]
                            .trim_start_matches(['r', 's'])
                            .starts_with(['d', 'n', 'N', 't', 'p', 'u']);
                    if !known {
                        self.out.opaque(format!("read {text}"));
                    }
                }
                Some(name) => {
                    names += 1;
                    self.read_into(name.to_owned().as_str());
                }
                None => self.out.opaque("read into a name that is not known"),
            }
        }
        if names == 0 {
            self.read_into("REPLY");
        }
    }

    fn read_into(&mut self, name: &str) {
        if is_name(name) {
            let names = matches!(self.stdin, super::walk::Stdin::Names);
            let gap = Gap { empty: !names, split: true, name: names, ..Gap::default() };
            self.state.vars.insert(name.to_owned(), vec![Piece::Gap(gap)]);
        } else {
            self.out.opaque(format!("read evaluates {name}"));
        }
    }

    /// `mapfile`: its callback is a command.
    pub(crate) fn mapfile(&mut self, args: &[Arg]) {
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            match arg.exact() {
                Some("-t") => {}
                Some("-d" | "-n" | "-O" | "-s" | "-u") => at += 1,
                Some(name) if is_name(name) => {
                    let gap = Gap { empty: true, split: true, ..Gap::default() };
                    self.state.vars.insert(name.to_owned(), vec![Piece::Gap(gap)]);
                }
                _ => self.out.opaque(format!("mapfile {arg} may run a command")),
            }
        }
    }

    pub(crate) fn getopts(&mut self, args: &[Arg]) {
        match args.get(1).and_then(Arg::exact).filter(|name| is_name(name)) {
            Some(name) => {
                for set in [name, "OPTARG"] {
                    let gap = Gap { empty: true, split: true, ..Gap::default() };
                    self.state.vars.insert(set.to_owned(), vec![Piece::Gap(gap)]);
                }
            }
            None => self.out.opaque("getopts with a name that is not known"),
        }
    }
}
