//! Reads the options of a call by the accept list of its program.

use super::spec::{Kind, Spec};
use crate::analysis::Arg;

/// One option of a call.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// As the table lists it.
    pub name: String,
    pub kind: Kind,
    pub value: Option<Arg>,
}

/// A call, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub found: Vec<Found>,
    pub operands: Vec<Arg>,
    /// What is not in the table, for people.
    pub unlisted: Vec<String>,
}

impl Options {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.found.iter().any(|found| found.name == name)
    }

    /// The last value given for an option.
    pub(crate) fn value(&self, name: &str) -> Option<&Arg> {
        self.found.iter().rev().find(|found| found.name == name).and_then(|found| found.value.as_ref())
    }
}

/// Takes the words behind the name of a program apart.
pub(crate) fn read_options(spec: &Spec, args: &[Arg]) -> Options {
    read(spec, args, spec.stop)
}

/// The same, with everything from the first operand on taken as operands: options before a sub-command.
pub(crate) fn read_leading_options(spec: &Spec, args: &[Arg]) -> Options {
    read(spec, args, true)
}

fn read(spec: &Spec, args: &[Arg], stop: bool) -> Options {
    let mut reader = Reader { spec, args, stop, at: 0, options: Options::default() };
    reader.run();
    reader.options
}

struct Reader<'a> {
    spec: &'a Spec,
    args: &'a [Arg],
    stop: bool,
    at: usize,
    options: Options,
}

impl Reader<'_> {
    fn run(&mut self) {
        while let Some(arg) = self.args.get(self.at) {
            let start = arg.literal_start();
            if arg.exact() == Some("--") {
                self.at += 1;
                self.operands_to_end();
                return;
            }
            let option = (start.starts_with('-') && start.len() > 1)
                || (start.starts_with('+') && self.is_listed(start));
            if !option {
                if arg.may_be_option() && self.accepts_options() {
                    self.options.unlisted.push(format!("{arg} may be an option"));
                }
                if self.stop {
                    self.operands_to_end();
                    return;
                }
                self.options.operands.push(arg.clone());
                self.at += 1;
                continue;
            }
            self.option(arg.clone());
        }
    }

    /// With `stop`, the first operand and what follows are left to the caller.
    fn operands_to_end(&mut self) {
        self.options.operands.extend(self.args.iter().skip(self.at).cloned());
    }

    fn accepts_options(&self) -> bool {
        self.spec.operands != Kind::Text && self.spec.operands != Kind::Any
    }

    fn is_listed(&self, text: &str) -> bool {
        self.spec.flags.iter().any(|flag| flag == text)
    }

    fn option(&mut self, arg: Arg) {
        self.at += 1;
        let start = arg.literal_start().to_owned();
        if let Some(text) = arg.exact() {
            let name = text.to_owned();
            if self.spec.flags.contains(&name) {
                self.push(&name, Kind::None, None);
                return;
            }
            if let Some(kind) = self.spec.value.get(&name).copied() {
                self.with_next(&name, kind);
                return;
            }
            if self.spec.optional.contains_key(&name) {
                self.push(&name, Kind::None, None);
                return;
            }
            if self.spec.number_flag && is_number_flag(&name) {
                self.push("-NUMBER", Kind::None, None);
                return;
            }
        }
        if let Some((name, kind, length)) = self.attached_long(&start) {
            self.push(&name, kind, Some(arg.skip(length)));
            return;
        }
        if self.spec.bundle && !start.starts_with("--") && self.bundled(&arg, &start) {
            return;
        }
        if let Some((name, kind)) = self.attached_short(&start) {
            self.push(&name, kind, Some(arg.skip(name.len())));
            return;
        }
        if let Some(prefix) = self.spec.prefixes.iter().find(|prefix| start.starts_with(prefix.as_str())) {
            let (name, rest) = (prefix.clone(), arg.skip(prefix.len()));
            self.push(&name, Kind::Text, Some(rest));
            return;
        }
        self.options.unlisted.push(format!("the option {arg}"));
        self.options.found.push(Found { name: start, kind: Kind::Any, value: Some(arg) });
    }

    fn push(&mut self, name: &str, kind: Kind, value: Option<Arg>) {
        self.options.found.push(Found { name: name.to_owned(), kind, value });
    }

    fn with_next(&mut self, name: &str, kind: Kind) {
        let Some(value) = self.args.get(self.at) else {
            self.options.unlisted.push(format!("{name} without its value"));
            return;
        };
        if value.may_split() {
            self.options.unlisted.push(format!("{name} with a value that may be several words"));
        }
        self.at += 1;
        self.push(name, kind, Some(value.clone()));
    }

    /// `--name=value`, also `-name=value` where listed so.
    fn attached_long(&self, start: &str) -> Option<(String, Kind, usize)> {
        let end = start.find('=')?;
        let name = &start[..end];
        let kind = self.spec.value.get(name).or_else(|| self.spec.optional.get(name)).copied()?;
        (name.len() > 2).then(|| (name.to_owned(), kind, end + 1))
    }

    /// `-ovalue`
    fn attached_short(&self, start: &str) -> Option<(String, Kind)> {
        if start.starts_with("--") {
            return None;
        }
        let short = start.get(..2)?;
        let kind = self.spec.value.get(short).or_else(|| self.spec.optional.get(short)).copied()?;
        Some((short.to_owned(), kind))
    }

    /// `-abc`, `-abovalue`. Nothing is taken unless every letter is listed.
    fn bundled(&mut self, arg: &Arg, start: &str) -> bool {
        let mut taken: Vec<(String, Kind, Option<Arg>)> = Vec::new();
        let mut needs_next = None;
        for (at, letter) in start.char_indices().skip(1) {
            let name = format!("-{letter}");
            if self.spec.flags.contains(&name) {
                taken.push((name, Kind::None, None));
                continue;
            }
            let rest = arg.skip(at + letter.len_utf8());
            if let Some(kind) = self.spec.value.get(&name).copied() {
                if rest.is_empty() {
                    needs_next = Some((name, kind));
                } else {
                    taken.push((name, kind, Some(rest)));
                }
                return self.take(taken, needs_next);
            }
            if let Some(kind) = self.spec.optional.get(&name).copied() {
                let value = (!rest.is_empty()).then_some(rest);
                let kind = if value.is_some() { kind } else { Kind::None };
                taken.push((name, kind, value));
                return self.take(taken, None);
            }
            return false;
        }
        arg.exact().is_some() && self.take(taken, None)
    }

    fn take(&mut self, taken: Vec<(String, Kind, Option<Arg>)>, next: Option<(String, Kind)>) -> bool {
        for (name, kind, value) in taken {
            self.push(&name, kind, value);
        }
        if let Some((name, kind)) = next {
            self.with_next(&name, kind);
        }
        true
    }
}

fn is_number_flag(text: &str) -> bool {
    text.len() > 1 && text[1..].bytes().all(|byte| byte.is_ascii_digit())
}
