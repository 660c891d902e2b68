//! Simple commands: words, environment, redirects, and then what runs.

use air_contracts::permission::Decision;

use super::arg::Arg;
use super::walk::Walker;
use crate::shell::{Redirect, Simple};

/// A command ready to run.
pub(crate) struct Call<'c> {
    /// Name and arguments; never empty.
    pub args: &'c [Arg],
    pub env: &'c [(String, Arg)],
    /// Whether functions of the shell are passed over: `command`, `env`, `xargs`.
    pub programs_only: bool,
}

impl Walker<'_> {
    pub(crate) fn simple(&mut self, simple: &Simple, redirects: &[Redirect]) {
        let stdin = self.stdin.clone();
        let args: Vec<Arg> = simple.words.iter().flat_map(|word| self.expand(word)).collect();
        let emptied = self.redirects(redirects);
        if args.is_empty() {
            for assign in &simple.assigns {
                self.assign(assign);
            }
            if simple.assigns.is_empty() {
                self.emptied(&emptied);
            }
            self.stdin = stdin;
            return;
        }
        let mut env: Vec<(String, Arg)> = Vec::with_capacity(simple.assigns.len());
        for assign in &simple.assigns {
            if assign.subscript.is_some() || assign.array {
                self.out.unknown("an array in the environment of a command");
            }
            if let Some(subscript) = &assign.subscript {
                self.arithmetic(subscript);
            }
            let mut values: Vec<Arg> = assign.values.iter().map(|word| self.expand_one(word)).collect();
            env.push((
                assign.name.clone(),
                if values.is_empty() { Arg::default() } else { values.swap_remove(0) },
            ));
        }
        if simple.declares.is_empty() {
            self.run(&Call { args: &args, env: &env, programs_only: false });
        } else {
            self.declare(&args, &simple.declares);
        }
        if args.first().and_then(Arg::exact).is_some_and(|name| matches!(name, ":" | "true" | "false")) {
            self.emptied(&emptied);
        }
        if self.out.secret {
            for target in emptied {
                self.authored(&target);
            }
        }
        self.note_asked(&args, &env, redirects);
        self.stdin = stdin;
    }

    /// Runs a command: a function, a builtin, or a program.
    pub(crate) fn run(&mut self, call: &Call<'_>) {
        let Some(first) = call.args.first() else { return };
        let rest = &call.args[1..];
        let Some(name) = first.exact().map(str::to_owned) else {
            self.out.opaque(format!("the command {first} is not known before it runs"));
            rest.iter().for_each(|arg| self.suspect(arg));
            return;
        };
        if name.is_empty() {
            self.out.opaque("a command without a name");
            return;
        }
        self.out.commands.push(name.clone());
        if !call.programs_only
            && let Some(body) = self.state.functions.get(&name).cloned()
        {
            self.environment(call.env, true, false);
            rest.iter().for_each(|arg| self.suspect(arg));
            self.call(&name, &body);
            return;
        }
        if super::builtin::is_builtin(&name) {
            self.environment(call.env, false, matches!(name.as_str(), "read" | "mapfile" | "readarray"));
            self.builtin(&name, rest);
            return;
        }
        self.program(&name, rest, call.env);
    }

    /// Notes the normal form of a command that is asked about, for grants.
    fn note_asked(&mut self, args: &[Arg], env: &[(String, Arg)], redirects: &[Redirect]) {
        if self.out.decision != Decision::Ask || !self.out.asked.is_empty() {
            return;
        }
        // Where a redirect or the input matters, the words alone are no fixed form.
        let fed = !redirects.is_empty() || !matches!(self.stdin, super::walk::Stdin::Nothing);
        let mut words = Vec::with_capacity(args.len() + env.len());
        let [dir] = self.state.dirs.as_slice() else {
            self.out.asked.push(None);
            return;
        };
        if *dir != self.context.boundaries.workspace_root {
            words.push(format!("(in {})", dir.display()));
        }
        for (name, value) in env {
            words.push(format!("{name}={value}"));
        }
        words.extend(args.iter().map(|arg| quoted(&arg.to_string())));
        let fixed = args.iter().chain(env.iter().map(|(_, value)| value)).all(|arg| arg.exact().is_some());
        self.out.asked.push((fixed && !fed).then(|| words.join(" ")));
    }
}

/// A word as it would be written.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
