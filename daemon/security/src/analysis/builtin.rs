//! Builtins of the shell.

use air_contracts::permission::EffectKind;

use super::arg::{Arg, Gap, Piece};
use super::simple::Call;
use super::walk::{Walker, is_name};
use crate::path::PathOp;

/// Names that bash runs itself (builtins(7)), apart from those that are programs of their own here.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

impl Walker<'_> {
    pub(crate) fn builtin(&mut self, name: &str, args: &[Arg]) {
        match name {
            ":" | "true" | "false" | "pwd" | "times" | "jobs" | "wait" | "shift" | "dirs" | "caller"
            | "help" | "hash" | "unalias" | "ulimit" | "umask" | "disown" => {}
            "echo" => self.prints(args),
            "printf" => self.printf(args),
            "test" | "[" => self.test_builtin(args),
            "exit" | "return" | "break" | "continue" | "logout" => self.state.left = true,
            "cd" => self.cd(args),
            "pushd" => self.pushd(args),
            "popd" => self.state.dirs.clear(),
            "command" => self.command(args),
            "builtin" => self.run(&Call { args, env: &[], programs_only: false }),
            "exec" => self.exec(args),
            "eval" => self.eval(args),
            "trap" => self.trap(args),
            "type" => {}
            "source" | "." => self.source(args),
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let words: Vec<Arg> = std::iter::once(Arg::text(name)).chain(args.iter().cloned()).collect();
                self.declare(&words, &[]);
            }
            "set" => self.set(args),
            "shopt" => self.shopt(args),
            "read" => self.read(args),
            "mapfile" | "readarray" => self.mapfile(args),
            "unset" => self.unset(args),
            "getopts" => self.getopts(args),
            "let" => self.let_builtin(args),
            _ => self.out.opaque(format!("{name} may run or change what is not seen here")),
        }
    }

    /// Prints its arguments: a secret among them is shown.
    fn prints(&mut self, args: &[Arg]) {
        if args.iter().any(Arg::is_secret) {
            self.secret("a secret is printed");
        }
        let words = args.iter().filter(|arg| !arg.literal_start().starts_with('-'));
        let mut count = 0;
        let all_known = words.clone().all(|arg| {
            count += 1;
            (arg.has_glob() && !arg.literal_start().starts_with(['/', '~', '.']))
                && arg.gaps().next().is_none()
        });
        self.out.prints_names = all_known && count > 0;
    }

    fn printf(&mut self, args: &[Arg]) {
        let start = args.first().map(Arg::literal_start).unwrap_or_default();
        if start.starts_with("-v") {
            let attached = args[0].skip(2);
            let name = if attached.is_empty() { args.get(1).cloned().unwrap_or_default() } else { attached };
            match name.exact().filter(|name| is_name(name)) {
                Some(name) => {
                    let secret = args.iter().any(Arg::is_secret);
                    let gap = Gap { empty: true, split: true, secret, ..Gap::default() };
                    self.state.vars.insert(name.to_owned(), vec![Piece::Gap(gap)]);
                }
                None => self.out.opaque("printf -v evaluates a name that is not plain"),
            }
            return;
        }
        if args.first().is_some_and(Arg::may_be_option) {
            self.out.opaque("printf may be given -v");
        }
        if args.iter().any(Arg::is_secret) {
            self.secret("a secret is printed");
        }
    }

    /// `test`: only `-v` and `-R` evaluate their operand.
    fn test_builtin(&mut self, args: &[Arg]) {
        for (index, arg) in args.iter().enumerate() {
            let next = args.get(index + 1);
            if matches!(arg.exact(), Some("-v" | "-R"))
                && next.is_none_or(|name| !name.exact().is_some_and(is_name) && name.exact() != Some("]"))
            {
                self.out.opaque("test -v evaluates a name that is not plain");
            }
        }
        // Part of an operator is not known: it may be one of these.
        let by_pattern = |arg: &Arg| {
            let pattern = arg.pattern().unwrap_or_default();
            arg.has_glob() && arg.literal_start().is_empty() && pattern.ends_with(['v', 'R', '*', '?', ']'])
        };
        if args
            .iter()
            .any(|arg| by_pattern(arg) || (arg.exact().is_none() && arg.literal_start().starts_with('-')))
        {
            self.out.opaque("test with an operator that is not known");
        }
        let operands = args.iter().filter(|arg| arg.exact() != Some("]")).count();
        if operands == 2 && args[0].may_be_option() {
            self.out.opaque("test with an operator that is not known");
        }
    }

    fn cd(&mut self, args: &[Arg]) {
        let operands: Vec<&Arg> = args
            .iter()
            .filter(|arg| !matches!(arg.exact(), Some("-L" | "-P" | "-e" | "-@" | "--")))
            .collect();
        let target = match operands.as_slice() {
            [] => self.state.vars.get("HOME").map(|home| Arg::from_pieces(home.clone())),
            [one] => Some((*one).clone()),
            _ => None,
        };
        let text = target.as_ref().and_then(Arg::exact).filter(|text| *text != "-");
        let cdpath = self.state.vars.contains_key("CDPATH");
        let Some(text) = text.filter(|text| !cdpath || text.starts_with(['/', '.'])) else {
            self.state.dirs.clear();
            self.state.dirs_if_failed = None;
            return;
        };
        let old = self.state.dirs.clone();
        let moved: Vec<_> = if text.starts_with('/') {
            vec![crate::path::normalise(std::path::Path::new(text))]
        } else {
            old.iter().map(|dir| crate::path::normalise(&dir.join(text))).collect()
        };
        let sure = moved.iter().all(|dir| self.is_directory(dir));
        for dir in &moved {
            self.out.effect(EffectKind::Read, dir.to_string_lossy());
        }
        self.state.dirs_if_failed = (!sure && !old.is_empty()).then_some(old);
        self.state.dirs = moved;
    }

    fn is_directory(&self, dir: &std::path::Path) -> bool {
        use crate::facts::{FileKind, FsFacts};
        matches!(self.files.lstat(dir), Some(fact) if fact.kind == FileKind::Dir)
    }

    fn pushd(&mut self, args: &[Arg]) {
        match args {
            [one] if one.exact().is_some_and(|text| !text.starts_with(['+', '-'])) => self.cd(args),
            _ => self.state.dirs.clear(),
        }
    }

    /// `command name …` runs it; `command -v name` only looks it up.
    fn command(&mut self, args: &[Arg]) {
        let start = args.iter().take_while(|arg| matches!(arg.exact(), Some("-p" | "--"))).count();
        let rest = &args[start..];
        match rest.first().and_then(Arg::exact) {
            Some("-v" | "-V" | "-pv" | "-pV") | None if rest.is_empty() || rest[0].exact().is_some() => {}
            _ => self.run(&Call { args: rest, env: &[], programs_only: true }),
        }
    }

    /// Without a command, `exec` keeps its redirects; with one, it ends the shell.
    fn exec(&mut self, args: &[Arg]) {
        let mut start = 0;
        while let Some(option) = args.get(start).and_then(Arg::exact).filter(|text| text.starts_with('-')) {
            start += if option == "-a" { 2 } else { 1 };
            if !matches!(option, "-a" | "-c" | "-l" | "--") {
                self.out.unknown(format!("exec {option}"));
            }
        }
        let rest = args.get(start..).unwrap_or_default();
        if !rest.is_empty() {
            self.run(&Call { args: rest, env: &[], programs_only: true });
            self.state.left = true;
        }
    }

    /// Evaluates its arguments as a command: walked where they are known.
    fn eval(&mut self, args: &[Arg]) {
        let texts: Option<Vec<&str>> = args.iter().map(Arg::exact).collect();
        match texts {
            Some(texts) => self.text(&texts.join(" ")),
            None => args.iter().for_each(|arg| self.suspect(arg)),
        }
        self.out.opaque("eval runs text as a command");
    }

    /// The text of a trap runs later, in a state that is not known.
    fn trap(&mut self, args: &[Arg]) {
        let words: Vec<&Arg> = args.iter().filter(|arg| arg.exact() != Some("--")).collect();
        match words.first().map(|arg| arg.exact()) {
            None | Some(Some("-" | "" | "-p" | "-l")) => {}
            Some(Some(text)) if words.len() > 1 => {
                let text = text.to_owned();
                let state = self.state.clone();
                self.state.vars.retain(|name, _| name == "HOME");
                self.state.dirs.clear();
                self.text(&text);
                self.state = state;
            }
            Some(Some(_)) => {}
            Some(None) => self.out.opaque("a trap whose command is not known"),
        }
    }

    fn source(&mut self, args: &[Arg]) {
        if let Some(script) = args.first() {
            self.path(script, PathOp::Read);
        }
        args.iter().for_each(|arg| self.suspect(arg));
        self.out.opaque("source runs a script in this shell");
    }

    fn set(&mut self, args: &[Arg]) {
        if args.is_empty() {
            self.secret("set prints every variable");
            return;
        }
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let Some(text) = arg.exact() else {
                self.out.unknown("set with an option that is not known");
                return;
            };
            if text == "--" || !text.starts_with(['-', '+']) {
                return;
            }
            self.state.errexit |= text.starts_with('-') && !text.starts_with("--") && text.contains('e');
            let named = text.ends_with('o');
            if named {
                at += 1;
                self.set_option(args.get(at).and_then(Arg::exact), text.starts_with('-'));
            }
            let letters = text[1..].trim_end_matches('o');
            if !letters
                .chars()
                .all(|c| matches!(c, 'e' | 'u' | 'x' | 'f' | 'v' | 'C' | 'E' | 'b' | 'h' | 'm' | 'n' | 'T'))
            {
                self.out.unknown(format!("set {text}"));
            }
            at += 1;
        }
    }

    fn set_option(&mut self, name: Option<&str>, on: bool) {
        match name {
            Some(
                "pipefail" | "nounset" | "xtrace" | "noglob" | "noclobber" | "errtrace" | "verbose" | "posix",
            ) => {}
            Some("errexit") => self.state.errexit |= on,
            other => self.out.unknown(format!("set -o {}", other.unwrap_or_default())),
        }
    }

    fn shopt(&mut self, args: &[Arg]) {
        const KNOWN: &[&str] = &[
            "-s",
            "-u",
            "-q",
            "-p",
            "nullglob",
            "globstar",
            "dotglob",
            "failglob",
            "inherit_errexit",
            "lastpipe",
            "nocaseglob",
            "nocasematch",
            "globasciiranges",
            "checkwinsize",
        ];
        for arg in args {
            if !arg.exact().is_some_and(|text| KNOWN.contains(&text)) {
                self.out.opaque(format!("shopt {arg} changes how commands are read"));
            }
        }
    }

    fn unset(&mut self, args: &[Arg]) {
        for arg in args {
            match arg.exact() {
                Some(name) if is_name(name) => {
                    self.state.vars.remove(name);
                    self.state.functions.remove(name);
                    // From now on the name is known to be empty.
                    self.state.vars.insert(name.to_owned(), Vec::new());
                }
                Some("-v" | "-f" | "-n") => {}
                _ => self.state.vars.retain(|name, _| name == "HOME"),
            }
        }
    }

    /// `let`: each argument is arithmetic.
    fn let_builtin(&mut self, args: &[Arg]) {
        for arg in args {
            let plain = arg.exact().is_some_and(|text| {
                text.chars().all(|c| c.is_ascii_alphanumeric() || "_+-*/%=()<>!&|^~?:, ".contains(c))
            });
            if !plain {
                self.out.opaque("let evaluates an expression that is not plain");
                continue;
            }
            let text = arg.exact().unwrap_or_default().to_owned();
            let target = text
                .split_once('=')
                .map(|(name, _)| name.trim_end_matches(['+', '-', '*', '/', '%']).to_owned());
            for name in
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| is_name(name))
            {
                let starts_here = target.as_deref() == Some(name) && !self.state.vars.contains_key(name);
                if self.is_evaluated(name) && !starts_here {
                    self.out.opaque(format!("let evaluates {name}, which is not known to be a number"));
                }
            }
            if let Some(name) = target.filter(|name| is_name(name)) {
                self.state.vars.insert(name, vec![Piece::Gap(Gap { number: true, ..Gap::default() })]);
            }
        }
    }
}
