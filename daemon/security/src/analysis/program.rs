//! Programs: found by name, judged by their table.

use std::path::{Path, PathBuf};

use air_contracts::permission::{EffectKind, RiskLevel};

use super::arg::Arg;
use super::walk::{Stdin, Walker};
use crate::facts::{FileKind, FsFacts};
use crate::path::{PathOp, Resolved, resolve};
use crate::programs::{Grammar, Kind, Options, Spec, catalogue, read_leading_options, read_options};

/// Directories of programs where a name means what it says.
const PROGRAM_DIRS: &[&str] = &[
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/sbin",
    "/usr/sbin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/snap/bin",
];
/// The same below home.
const HOME_PROGRAM_DIRS: &[&str] = &[".cargo/bin", ".local/bin", "go/bin"];

impl Walker<'_> {
    pub(crate) fn program(&mut self, name: &str, args: &[Arg], env: &[(String, Arg)]) {
        let table = if name.contains('/') { self.by_path(name) } else { catalogue().get(name) };
        let own = name.contains('/') && table.is_none();
        let builds = table.is_some_and(|spec| spec.level == RiskLevel::ProjectWrite);
        self.environment(env, own || builds, false);
        match table {
            Some(spec) => {
                let base = name.rsplit('/').next().unwrap_or(name).to_owned();
                self.by_table(&base, spec, args);
            }
            None if own => self.own_program(name, args),
            None => {
                self.out.unknown(format!("the program {name} is not known"));
                self.out.effect(EffectKind::Exec, name);
                args.iter().for_each(|arg| self.suspect(arg));
                self.feed_suspect();
            }
        }
    }

    /// The table of a program that is called by its path, where it lies in a directory of programs, or
    /// where a tool of that name is installed in the project.
    fn by_path(&self, name: &str) -> Option<&'static Spec> {
        let path = Path::new(name);
        let base = path.file_name()?.to_str()?;
        let dir = path.parent()?;
        let home = &self.context.boundaries.home;
        let system = PROGRAM_DIRS.iter().any(|known| dir == Path::new(known))
            || HOME_PROGRAM_DIRS.iter().any(|known| dir == home.join(known));
        if system {
            return catalogue().get(base);
        }
        let tools = dir.ends_with("bin") || dir.ends_with(".bin");
        let environment = dir.components().any(|part| {
            matches!(
                part.as_os_str().to_str(),
                Some("venv" | ".venv" | "env" | ".env" | "node_modules" | ".tox")
            )
        });
        if tools && environment { catalogue().get(base) } else { None }
    }

    /// A program or script of the project: its code, like a build or a test.
    fn own_program(&mut self, name: &str, args: &[Arg]) {
        let places: Vec<PathBuf> = self.known_paths(&Arg::text(name));
        if places.is_empty() {
            self.out.unknown(format!("{name} is relative to a directory that is not known"));
        }
        for place in places {
            self.runs_file(&place);
        }
        args.iter().for_each(|arg| self.suspect(arg));
        self.feed_suspect();
    }

    /// Runs a file as code.
    pub(crate) fn runs_file(&mut self, place: &Path) {
        self.out.effect(EffectKind::Exec, place.to_string_lossy());
        if self.files.was_written(place) {
            self.out.unknown(format!("{}: the same line writes it and runs it", place.display()));
            return;
        }
        let root = &self.context.boundaries.workspace_root;
        let in_git = place.strip_prefix(root).is_ok_and(|below| {
            below.components().any(|part| {
                part.as_os_str().eq_ignore_ascii_case(".git") || part.as_os_str().eq_ignore_ascii_case(".air")
            })
        });
        if !self.in_workspace(place) || in_git {
            self.out.unknown(format!("{}: a program from outside the project", place.display()));
            return;
        }
        self.out.runs_code = true;
        self.out.raise(RiskLevel::ProjectWrite, format!("{}: runs code of the project", place.display()));
        if !self.out.scripts.contains(&place.to_path_buf()) {
            self.out.scripts.push(place.to_path_buf());
        }
        self.script_content(place);
    }

    /// What a script of the project names in its text may be what is never touched.
    fn script_content(&mut self, place: &Path) {
        let Some(bytes) = self.files.read_small(place) else { return };
        if let Ok(text) = String::from_utf8(bytes) {
            self.code(&text);
        }
    }

    /// A script given to an interpreter.
    pub(crate) fn script_file(&mut self, script: &Arg) {
        if script.exact().is_none() {
            self.out.opaque(format!("the script {script} is not known before it runs"));
            return;
        }
        if script.exact().is_some_and(super::target::is_stream) {
            self.feed_code();
            return;
        }
        for place in self.known_paths(script) {
            self.runs_file(&place);
        }
        if self.state.dirs.is_empty() {
            self.out.unknown("a script relative to a directory that is not known");
        }
    }

    /// The input of a program that is not known may name what is never touched.
    fn feed_suspect(&mut self) {
        if let Stdin::Text(text) = self.stdin.clone()
            && let Some(text) = text.exact()
        {
            self.code(text);
        }
    }

    /// An interpreter runs its input.
    pub(crate) fn feed_code(&mut self) {
        match self.stdin.clone() {
            Stdin::Nothing => {}
            Stdin::Text(text) => {
                if let Some(text) = text.exact() {
                    self.code(text);
                }
                self.out.opaque("an interpreter runs its input");
            }
            Stdin::Unknown | Stdin::Names => self.out.opaque("an interpreter runs its input"),
        }
    }

    pub(crate) fn by_table(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        if args.iter().any(Arg::is_secret) {
            self.secret(&format!("a secret is given to {name}"));
        }
        let Some(grammar) = spec.grammar else { return self.plain(name, spec, args) };
        match grammar {
            Grammar::Copy => self.copy(name, spec, args),
            Grammar::Move => self.rename(name, spec, args),
            Grammar::Link => self.link(name, spec, args),
            Grammar::Find => self.find(spec, args),
            Grammar::Xargs => self.xargs(name, spec, args),
            Grammar::Shell => self.shell(name, spec, args),
            Grammar::Wrapper => self.wrapper(name, spec, args),
            Grammar::Root => self.as_root(name, spec, args),
            Grammar::Env => self.env(args),
            Grammar::Git => self.git(spec, args),
            Grammar::Kill => self.kill(args),
            Grammar::Dd => self.dd(args),
            Grammar::Interpreter => self.interpreter(name, spec, args),
            Grammar::Tar => self.tar(name, spec, args),
            Grammar::Cmake => self.cmake(name, spec, args),
            Grammar::Multicall => self.multicall(name, args),
        }
    }

    /// A program that its table describes completely.
    pub(crate) fn plain(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let dirs = self.state.dirs.clone();
        if spec.sub.is_empty() {
            self.judged(name, spec, args, &read_options(spec, args));
        } else {
            self.sub_command(name, spec, args);
        }
        self.state.dirs = dirs;
    }

    /// Options up to the name of a sub-command, then the table of that.
    fn sub_command(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let options = read_leading_options(spec, args);
        let Some((sub, rest)) = options.operands.split_first() else {
            return self.judged(name, spec, args, &options);
        };
        self.unlisted(name, &options);
        self.values(name, spec, &options);
        self.base(name, spec);
        let found = sub.exact().and_then(|sub| spec.sub.get(sub));
        match found {
            Some(table) => {
                let whole = format!("{name} {sub}");
                self.out.commands.push(whole.clone());
                self.plain(&whole, table, rest);
            }
            None => {
                self.out.unknown(format!("{name} {sub} is not known"));
                rest.iter().for_each(|arg| self.suspect(arg));
            }
        }
    }

    pub(crate) fn judged(&mut self, name: &str, spec: &Spec, args: &[Arg], options: &Options) {
        let quiet = spec
            .read_only
            .iter()
            .any(|option| options.has(option) || (option == "no-operands" && options.operands.is_empty()));
        // Options may move the program to another directory: before what it does there.
        if spec.operands != Kind::Any {
            self.unlisted(name, options);
            self.values(name, spec, options);
        }
        if !quiet {
            self.base(name, spec);
        }
        if spec.effect == Some(EffectKind::Build)
            && args.iter().any(|arg| arg.literal_start().starts_with('@'))
        {
            self.out.unknown(format!("{name} takes options from a file"));
        }
        if spec.operands == Kind::Any {
            args.iter().for_each(|arg| self.suspect(arg));
            self.raised(name, spec, options, args);
            self.feed_suspect();
            return;
        }
        if !spec.require.is_empty() && !spec.require.iter().any(|option| options.has(option)) {
            self.out.unknown(format!("{name} without {}", spec.require.join(" or ")));
        }
        self.operands(name, spec, options);
        self.raised(name, spec, options, args);
        self.output(spec, options);
    }

    /// What every call of a program is at least.
    pub(crate) fn base(&mut self, name: &str, spec: &Spec) {
        let why = match spec.level {
            RiskLevel::ProjectWrite => format!("{name} works on the project"),
            RiskLevel::Network => format!("{name} reaches the network"),
            RiskLevel::Destructive => format!("{name} may lose work"),
            RiskLevel::SystemSensitive => format!("{name} changes the system"),
            RiskLevel::Credential => format!("{name} shows secrets"),
            RiskLevel::Unknown | RiskLevel::Safe => format!("{name} may run anything"),
        };
        if spec.deny {
            self.out.deny(spec.level, format!("{name} is never run"));
        } else {
            self.out.raise(spec.level, why);
        }
        self.out.network |= spec.level == RiskLevel::Network;
        self.out.secret |= spec.level == RiskLevel::Credential;
        if let Some(effect) = spec.effect {
            self.out.effect(effect, name);
        }
        self.out.runs_code |= spec.runs_code;
        if spec.writes_here {
            self.path(&Arg::text("."), PathOp::Write);
            self.outside_here(name, spec.runs_code);
        }
    }

    /// A build outside the workspace is no build of the project.
    fn outside_here(&mut self, name: &str, runs_code: bool) {
        let temp = &self.context.boundaries.temp;
        let outside = self.state.dirs.iter().any(|dir| {
            !self.in_workspace(dir) && (runs_code || !temp.iter().any(|temp| dir.starts_with(temp)))
        });
        if outside || self.state.dirs.is_empty() {
            self.out.unknown(format!("{name} runs outside the project"));
        }
    }

    pub(crate) fn unlisted(&mut self, name: &str, options: &Options) {
        for what in &options.unlisted {
            self.out.unknown(format!("{name}: {what} is not known"));
        }
        for found in options.found.iter().filter(|found| found.kind == Kind::Any) {
            if let Some(value) = found.value.clone() {
                self.suspect(&value);
            }
        }
    }

    pub(crate) fn values(&mut self, name: &str, spec: &Spec, options: &Options) {
        for found in &options.found {
            if let Some(value) = &found.value
                && found.kind != Kind::Any
            {
                self.value(name, spec, found.kind, value);
            }
        }
    }

    fn operands(&mut self, name: &str, spec: &Spec, options: &Options) {
        let mut rest = options.operands.as_slice();
        if let Some(kind) = spec.first
            && !spec.unless_first.iter().any(|option| options.has(option))
            && let Some((first, others)) = rest.split_first()
        {
            if matches!(kind, Kind::Script | Kind::Exec) {
                return self.value_rest(name, kind, rest);
            }
            self.value(name, spec, kind, first);
            rest = others;
        }
        if let Some(kind) = spec.last
            && rest.len() > 1
            && let Some((last, others)) = rest.split_last()
        {
            self.value(name, spec, kind, last);
            rest = others;
        }
        if rest.is_empty() && spec.reads_here {
            self.value(name, spec, Kind::ReadPath, &Arg::text("."));
        }
        if matches!(spec.operands, Kind::Script | Kind::Exec) && !rest.is_empty() {
            return self.value_rest(name, spec.operands, rest);
        }
        let writes = spec.writes_with.iter().any(|option| options.has(option));
        let kind = if writes { Kind::WritePath } else { spec.operands };
        if writes {
            self.out.raise(RiskLevel::ProjectWrite, format!("{name} changes files"));
        }
        for operand in rest {
            self.value(name, spec, kind, operand);
        }
    }

    fn value_rest(&mut self, _: &str, kind: Kind, rest: &[Arg]) {
        if kind == Kind::Script {
            if let Some((script, args)) = rest.split_first() {
                self.script_file(script);
                args.iter().for_each(|arg| self.suspect(arg));
            }
        } else {
            self.run(&super::simple::Call { args: rest, env: &[], programs_only: true });
        }
    }

    /// Options and operands that make a call worse.
    fn raised(&mut self, name: &str, spec: &Spec, options: &Options, args: &[Arg]) {
        for (what, level) in &spec.raise {
            let given = options.has(what)
                || args.iter().any(|arg| {
                    arg.exact().is_some_and(|text| text == what || text.split('=').next() == Some(what))
                });
            if given {
                self.out.raise(*level, format!("{name} {what}"));
                self.out.network |= *level == RiskLevel::Network;
            }
        }
    }

    /// What comes out, as far as it matters for what reads it.
    fn output(&mut self, spec: &Spec, options: &Options) {
        let names = spec.prints_names.iter().any(|option| option == "always" || options.has(option));
        let passes = spec.filter
            && matches!(self.stdin, Stdin::Names)
            && options.operands.len() <= usize::from(spec.first.is_some());
        self.out.prints_names = passes || (names && self.names_are_below(options));
        self.out.prints_number = spec.prints_number;
    }

    /// Whether the paths of a call stay in the workspace.
    fn names_are_below(&self, options: &Options) -> bool {
        options.operands.iter().all(|arg| match arg.pattern() {
            Some(text) => !text.starts_with(['/', '~']) && !text.contains(".."),
            None => arg.gaps().all(|gap| gap.name || gap.number),
        }) && self.state.dirs.iter().all(|dir| self.in_workspace(dir))
            && !self.state.dirs.is_empty()
    }

    /// Whether a place is a directory now.
    pub(crate) fn is_dir(&self, place: &Path) -> bool {
        matches!(resolve(place, true, false, self.files), Resolved::Found { kind: Some(FileKind::Dir), .. })
    }
}
