//! Programs that run another command: transparent, including their own options.

use air_contracts::permission::{EffectKind, RiskLevel};

use super::arg::{Arg, Gap};
use super::simple::Call;
use super::walk::{Stdin, Walker, is_name};
use crate::path::PathOp;
use crate::programs::{Spec, read_options};

impl Walker<'_> {
    /// The rest of the arguments, behind the wrapper's own, is a command.
    pub(crate) fn wrapper(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let options = read_options(spec, args);
        self.unlisted(name, &options);
        self.values(name, spec, &options);
        let rest = options.operands.get(spec.own_operands.min(options.operands.len())..).unwrap_or_default();
        for own in options.operands.iter().take(spec.own_operands) {
            if own.exact().is_none() && !own.is_number() {
                self.out.unknown(format!("{name} with {own}"));
            }
        }
        if rest.is_empty() {
            return;
        }
        self.run(&Call { args: rest, env: &[], programs_only: true });
    }

    /// `sudo` and the like: the command runs as another user.
    pub(crate) fn as_root(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        self.out.raise(RiskLevel::SystemSensitive, format!("{name} runs a command as another user"));
        self.out.effect(EffectKind::Exec, name);
        let options = read_options(spec, args);
        if options.operands.is_empty() {
            return;
        }
        self.run(&Call { args: &options.operands, env: &[], programs_only: true });
    }

    pub(crate) fn multicall(&mut self, name: &str, args: &[Arg]) {
        match args.first().and_then(Arg::exact) {
            Some(applet) if !applet.starts_with('-') => {
                // The applets differ from the programs of the same name: never silently allowed.
                self.out.unknown(format!("{name} has its own {applet}"));
                self.run(&Call { args, env: &[], programs_only: true });
            }
            _ => self.out.opaque(format!("{name} without a known applet")),
        }
    }

    /// `env`: options, assignments, command.
    pub(crate) fn env(&mut self, args: &[Arg]) {
        let mut at = 0;
        let mut env: Vec<(String, Arg)> = Vec::new();
        let mut moved = None;
        while let Some(arg) = args.get(at) {
            let start = arg.literal_start();
            if let Some((name, _)) = start.split_once('=')
                && is_name(name)
            {
                env.push((name.to_owned(), arg.skip(name.len() + 1)));
                at += 1;
                continue;
            }
            match arg.exact() {
                Some("-i" | "-" | "--ignore-environment" | "-0" | "--null" | "-v" | "--debug") => at += 1,
                Some("-u" | "--unset") => at += 2,
                Some("-C" | "--chdir") => {
                    moved = args.get(at + 1).cloned();
                    at += 2;
                }
                Some("--") => {
                    at += 1;
                    break;
                }
                Some("-S" | "--split-string") => {
                    return self.split_string(args.get(at + 1), args.get(at + 2..));
                }
                Some(text) if text.starts_with("-u") || text.starts_with("--unset=") => at += 1,
                Some(text) if text.starts_with("-S") => {
                    let text = Arg::text(&text[2..]);
                    return self.split_string(Some(&text), args.get(at + 1..));
                }
                Some(text) if text.starts_with("--split-string=") => {
                    let text = Arg::text(&text["--split-string=".len()..]);
                    return self.split_string(Some(&text), args.get(at + 1..));
                }
                Some(text) if text.starts_with('-') => {
                    self.out.unknown(format!("env {text}"));
                    at += 1;
                }
                _ => break,
            }
        }
        let rest = args.get(at..).unwrap_or_default();
        if rest.is_empty() {
            self.secret("env prints every variable");
            return;
        }
        let dirs = self.state.dirs.clone();
        if let Some(dir) = moved {
            self.change_dir(&dir);
        }
        self.run(&Call { args: rest, env: &env, programs_only: true });
        self.state.dirs = dirs;
    }

    /// `env -S 'cmd args'`: one string is a command line with rules of its own.
    fn split_string(&mut self, text: Option<&Arg>, rest: Option<&[Arg]>) {
        let Some(text) = text.and_then(Arg::exact) else {
            self.out.opaque("env -S with a text that is not known");
            return;
        };
        if text.contains(['\\', '$', '\'', '"', '#']) {
            self.out.opaque("env -S with quotes");
        }
        let words: Vec<Arg> =
            text.split_whitespace().map(Arg::text).chain(rest.unwrap_or_default().iter().cloned()).collect();
        self.env(&words);
    }

    /// The directory for what follows, as given by an option.
    pub(crate) fn change_dir(&mut self, dir: &Arg) {
        self.path(dir, PathOp::Read);
        match dir.exact() {
            Some(text) => {
                self.state.dirs =
                    self.state.dirs.iter().map(|old| crate::path::normalise(&old.join(text))).collect();
            }
            None => self.state.dirs.clear(),
        }
    }

    /// `xargs`: further arguments come from its input.
    pub(crate) fn xargs(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let options = read_options(spec, args);
        self.unlisted(name, &options);
        self.values(name, spec, &options);
        let names = matches!(self.stdin, Stdin::Names);
        let given = Arg::gap(Gap { empty: false, split: true, name: names, ..Gap::default() });
        let mut words =
            if options.operands.is_empty() { vec![Arg::text("echo")] } else { options.operands.clone() };
        let replaced = options.value("-I").or_else(|| options.value("--replace")).and_then(Arg::exact);
        match replaced {
            Some(mark) if !mark.is_empty() => {
                words = words.iter().map(|word| replace(word, mark, &given)).collect();
            }
            _ => words.push(given),
        }
        let stdin = std::mem::replace(&mut self.stdin, Stdin::Nothing);
        self.run(&Call { args: &words, env: &[], programs_only: true });
        self.stdin = stdin;
    }

    /// A shell: its code is a script, a text, or its input.
    pub(crate) fn shell(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let options = read_options(spec, args);
        self.unlisted(name, &options);
        self.values(name, spec, &options);
        if options.has("--version") || options.has("--help") {
            return;
        }
        let base = name.rsplit('/').next().unwrap_or(name);
        let (dirs, state) = (self.state.dirs.clone(), self.state.clone());
        if options.has("-c") {
            match options.operands.first() {
                Some(code) => self.shell_code(base, &code.clone()),
                None => self.out.opaque(format!("{name} -c without its text")),
            }
        } else if let Some(script) = options.operands.first().cloned() {
            if options.has("-n") {
                self.path(&script, PathOp::Read);
            } else {
                self.script_file(&script);
                options.operands.iter().skip(1).for_each(|arg| self.suspect(arg));
            }
        } else if !options.has("-n") {
            match self.stdin.clone() {
                Stdin::Text(text) => self.shell_code(base, &text),
                Stdin::Nothing => {}
                Stdin::Unknown | Stdin::Names => {
                    self.out.opaque(format!("{name} runs its input as commands"))
                }
            }
        }
        self.state = state;
        self.state.dirs = dirs;
    }

    fn shell_code(&mut self, shell: &str, code: &Arg) {
        let Some(text) = code.exact().map(str::to_owned) else {
            self.out.opaque(format!("{shell} runs text that is not known before"));
            self.suspect(code);
            return;
        };
        // Other shells read these in other ways than bash.
        let posix = ["$'", "$\"", "&>", "|&", "<(", ">(", "<<<", "{", "[[", "=(", "function "];
        if shell != "bash"
            && (!matches!(shell, "sh" | "dash") || posix.iter().any(|sign| text.contains(sign)))
        {
            self.out.opaque(format!("{shell} may read this text in another way than bash"));
        }
        let exported = self.state.exported.clone();
        self.state.vars.retain(|name, _| exported.contains(name) || name == "HOME");
        self.state.functions.clear();
        let stdin = std::mem::take(&mut self.stdin);
        self.text(&text);
        self.stdin = stdin;
    }
}

/// A word with a mark in it replaced by what is not known.
pub(super) fn replace(word: &Arg, mark: &str, with: &Arg) -> Arg {
    let Some(text) = word.exact() else { return word.clone() };
    let mut out = Arg::default();
    for (index, piece) in text.split(mark).enumerate() {
        if index > 0 {
            with.pieces().iter().cloned().for_each(|piece| out.push(piece));
        }
        if !piece.is_empty() {
            out.push(super::arg::Piece::Text(piece.to_owned()));
        }
    }
    out
}
