//! `find`: an expression with actions.

use air_contracts::permission::{EffectKind, RiskLevel};

use super::arg::{Arg, Gap, Piece};
use super::simple::Call;
use super::walk::{Stdin, Walker};
use super::wrapper::replace;
use crate::path::{PathOp, glob_may_name_secret, is_public_template, is_rebuildable};
use crate::programs::{Kind, Spec};

/// What a call of `find` was given so far.
struct Search {
    starts: Vec<Arg>,
    /// A test names files with secrets.
    secrets: bool,
    /// Something else than printing names was asked for.
    acts: bool,
}

impl Walker<'_> {
    pub(crate) fn find(&mut self, spec: &Spec, args: &[Arg]) {
        let mut at = 0;
        while args.get(at).and_then(Arg::exact).is_some_and(|text| matches!(text, "-H" | "-L" | "-P")) {
            at += 1;
        }
        let mut search = Search { starts: Vec::new(), secrets: false, acts: false };
        while let Some(arg) = args.get(at) {
            let start = arg.literal_start();
            if start.starts_with('-') || matches!(start, "(" | ")" | "!" | ",") {
                break;
            }
            if arg.may_be_option() {
                self.out.unknown(format!("find: {arg} may be an expression"));
            }
            self.path(arg, PathOp::Read);
            search.starts.push(arg.clone());
            at += 1;
        }
        if search.starts.is_empty() {
            search.starts.push(Arg::text("."));
        }
        while at < args.len() {
            at = self.primary(spec, args, at, &mut search);
        }
        let below = search
            .starts
            .iter()
            .all(|start| start.exact().is_some_and(|text| !text.starts_with('/') && !text.contains("..")));
        self.out.prints_names = !search.acts
            && !search.secrets
            && below
            && self.state.dirs.iter().all(|dir| self.in_workspace(dir));
    }

    fn primary(&mut self, spec: &Spec, args: &[Arg], at: usize, search: &mut Search) -> usize {
        let Some(name) = args[at].exact() else {
            self.out.unknown(format!("find: {} is not known", args[at]));
            return at + 1;
        };
        match name {
            "(" | ")" | "!" | "," | "-not" | "-a" | "-o" | "-and" | "-or" | "-print" | "-print0"
            | "-prune" | "-quit" => at + 1,
            "-delete" => {
                search.acts = true;
                self.find_delete(search);
                at + 1
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                search.acts = true;
                self.find_exec(args, at, search)
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                search.acts = true;
                match args.get(at + 1) {
                    Some(file) => self.path(file, PathOp::Write),
                    None => self.out.unknown(format!("find {name} without a file")),
                }
                at + if name == "-fprintf" { 3 } else { 2 }
            }
            _ if spec.flags.iter().any(|flag| flag == name) => at + 1,
            _ => match spec.value.get(name).copied() {
                Some(kind) => {
                    if let Some(value) = args.get(at + 1) {
                        self.find_value(spec, name, kind, value, search);
                    }
                    at + 2
                }
                None => {
                    self.out.unknown(format!("find {name} is not known"));
                    at + 1
                }
            },
        }
    }

    fn find_value(&mut self, spec: &Spec, name: &str, kind: Kind, value: &Arg, search: &mut Search) {
        if kind == Kind::Glob {
            // Quoted patterns are plain text here.
            let text = value.pattern().unwrap_or_default();
            search.secrets |= glob_may_name_secret(&text) && !is_public_template(&text);
            return;
        }
        self.value(&format!("find {name}"), spec, kind, value);
    }

    fn find_delete(&mut self, search: &Search) {
        for start in &search.starts {
            let rebuildable = start.exact().is_some_and(|text| {
                self.known_paths(&Arg::text(text)).iter().all(|place| {
                    place.strip_prefix(&self.context.boundaries.workspace_root).is_ok_and(is_rebuildable)
                })
            });
            self.out.effect(EffectKind::Delete, start.to_string());
            if rebuildable {
                self.out.raise(RiskLevel::ProjectWrite, "find removes what a build made");
                continue;
            }
            let outside = start.exact().is_none_or(|text| {
                self.known_paths(&Arg::text(text)).iter().any(|place| !self.in_workspace(place))
            });
            if outside || self.state.dirs.is_empty() {
                // Everything below: as removing the start itself.
                self.path(start, PathOp::Delete);
            }
            self.out.raise(RiskLevel::Destructive, "find removes files of the project");
        }
    }

    /// The command up to `;` or `+`, once for each file found.
    fn find_exec(&mut self, args: &[Arg], at: usize, search: &Search) -> usize {
        let end = args
            .iter()
            .enumerate()
            .skip(at + 1)
            .find(|(index, arg)| {
                arg.exact() == Some(";")
                    || (arg.exact() == Some("+") && args[index - 1].exact() == Some("{}"))
            })
            .map_or(args.len(), |(index, _)| index);
        let command = &args[at + 1..end];
        if command.is_empty() {
            self.out.unknown("find -exec without a command");
            return end + 1;
        }
        let place = self.found(search);
        let words: Vec<Arg> = command.iter().map(|word| replace(word, "{}", &place)).collect();
        let directory = self.state.clone();
        if args[at].exact().is_some_and(|name| name.ends_with("dir")) {
            // It runs in the directory of each file.
            self.state.dirs.clear();
        }
        let name = words[0].exact().unwrap_or_default();
        let base = name.rsplit('/').next().unwrap_or_default();
        if matches!(base, "sh" | "bash" | "dash" | "zsh" | "ksh" | "env") {
            self.out.opaque(format!("find runs {base}"));
        }
        let outer = std::mem::take(&mut self.out);
        let stdin = std::mem::replace(&mut self.stdin, Stdin::Nothing);
        self.run(&Call { args: &words, env: &[], programs_only: true });
        self.stdin = stdin;
        let part = std::mem::replace(&mut self.out, outer);
        let reads = part.level == RiskLevel::Safe;
        self.out.merge(part);
        if search.secrets && reads {
            self.secret("find hands files with secrets to a command");
        }
        self.state = directory;
        end + 1
    }

    /// A file that is found: below a start. Where that is the project, only a name is unknown.
    fn found(&self, search: &Search) -> Arg {
        let inside = !self.state.dirs.is_empty()
            && search.starts.iter().all(|start| {
                start.exact().is_some_and(|text| {
                    let places = self.known_paths(&Arg::text(text));
                    !places.is_empty() && places.iter().all(|place| self.in_workspace(place))
                })
            });
        let gap = Gap { empty: false, split: true, name: inside, ..Gap::default() };
        Arg::from_pieces(vec![Piece::Gap(gap)])
    }
}
