//! Interpreters: code on the command line, a module, a script, or the input.

use super::arg::Arg;
use super::walk::Walker;
use crate::path::PathOp;
use crate::programs::{Spec, catalogue, read_leading_options};

impl Walker<'_> {
    pub(crate) fn interpreter(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        // A module or code ends the options: what follows belongs to it.
        let end = args.iter().position(|arg| arg.exact() == Some("-m")).map(|at| at + 2);
        let (own, rest) = args.split_at(end.unwrap_or(args.len()).min(args.len()));
        let options = read_leading_options(spec, own);
        self.unlisted(name, &options);
        if spec.read_only.iter().any(|option| options.has(option)) {
            return;
        }
        if let Some(module) = options.value("-m").cloned() {
            return self.module(name, spec, &module, rest);
        }
        let code = options.found.iter().find(|found| found.kind == crate::programs::Kind::Opaque).cloned();
        if let Some(code) = code {
            if let Some(text) = &code.value {
                self.suspect(text);
            }
            options.operands.iter().for_each(|arg| self.suspect(arg));
            self.out.opaque(format!("{name} {} runs code that is not looked into", code.name));
            return;
        }
        let checks = options.has("--check") || options.has("-check");
        match options.operands.split_first() {
            Some((script, args)) if !checks => {
                self.script_file(script);
                args.iter().for_each(|arg| self.suspect(arg));
                self.base(name, spec);
            }
            Some((script, _)) => self.path(script, PathOp::Read),
            None => self.feed_code(),
        }
    }

    /// `python3 -m module`: some modules are programs of their own.
    fn module(&mut self, name: &str, spec: &Spec, module: &Arg, rest: &[Arg]) {
        let Some(text) = module.exact() else {
            return self.out.opaque(format!("{name} -m {module}"));
        };
        match spec.sub.get(text) {
            Some(table) => self.plain(&format!("{name} -m {text}"), table, rest),
            None => match catalogue().get(text) {
                Some(table) if table.grammar.is_none() => {
                    self.plain(text, table, rest);
                }
                _ => {
                    rest.iter().for_each(|arg| self.suspect(arg));
                    self.out.unknown(format!("{name} -m {text} is not known"));
                }
            },
        }
    }
}
