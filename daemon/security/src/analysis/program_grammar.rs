//! Values and operands by kind, and programs with a grammar of their own that needs little code.

use air_contracts::permission::{EffectKind, RiskLevel};

use super::arg::Arg;
use super::walk::{Walker, is_name};
use crate::path::{PathOp, glob_may_name_secret, is_public_template};
use crate::programs::{Kind, Spec, read_options};

impl Walker<'_> {
    /// Judges one value or operand.
    pub(crate) fn value(&mut self, name: &str, spec: &Spec, kind: Kind, value: &Arg) {
        match kind {
            Kind::None => self.out.unknown(format!("{name} takes no operand {value}")),
            Kind::Number => {
                let plain = value.exact().is_some_and(|text| {
                    text.chars().all(|c| c.is_ascii_digit() || "+-.,:%kKMGTBbsmhdx".contains(c))
                });
                if !plain && !value.is_number() {
                    self.out.unknown(format!("{name}: {value} is no number"));
                }
            }
            Kind::Word => {
                if value.pattern().is_none() && value.may_split() {
                    self.out.unknown(format!("{name}: {value} is not known"));
                }
            }
            Kind::Text => {}
            Kind::Glob => self.glob_value(spec, value),
            Kind::ReadPath if spec.hides_content => self.metadata(value),
            Kind::ReadPath => self.path(value, PathOp::Read),
            Kind::WritePath => {
                self.path(value, PathOp::Write);
                if spec.effect != Some(EffectKind::Build) {
                    self.authored(value);
                }
            }
            Kind::OverwritePath => self.path_overwritten(value),
            Kind::DeletePath => self.path(value, PathOp::Delete),
            Kind::ModePath => self.path_mode(value),
            Kind::Dir => self.change_dir(value),
            Kind::CodePath => self.code_path(name, value),
            Kind::RevOrPath => self.revision(value),
            Kind::CodeSed => self.sed(value),
            Kind::CodeAwk => self.awk(value),
            Kind::Exec => self.out.opaque(format!("{name} runs {value}")),
            Kind::Url => self.network(&value.to_string()),
            Kind::BuildVariable => self.build_variable(name, value),
            Kind::Target => self.build_target(name, value),
            Kind::PlusFormat => {
                if !value.literal_start().starts_with('+') {
                    self.out.raise(RiskLevel::SystemSensitive, format!("{name} {value}"));
                }
            }
            Kind::Opaque => {
                self.suspect(value);
                self.out.opaque(format!("{name} runs code that is not looked into"));
            }
            Kind::Script => self.script_file(value),
            Kind::Any => self.suspect(value),
        }
    }

    /// A pattern that selects what is read: one for secrets is a read of them.
    fn glob_value(&mut self, spec: &Spec, value: &Arg) {
        let Some(text) = value.pattern() else { return };
        let excluded = text.starts_with('!');
        if !spec.hides_content && !excluded && glob_may_name_secret(&text) && !is_public_template(&text) {
            self.secret(&format!("the pattern {text} selects files with secrets"));
        }
    }

    /// Code that is run or built, where it is named by a path.
    fn code_path(&mut self, name: &str, value: &Arg) {
        let Some(text) = value.pattern() else {
            return self.out.unknown(format!("{name}: the code {value} is not known"));
        };
        // `tests/test_a.py::test_b`
        let path = Arg::text(text.split("::").next().unwrap_or_default());
        self.path(&path, PathOp::Read);
        if self.known_paths(&path).iter().any(|place| !self.in_workspace(place)) {
            self.out.unknown(format!("{name} runs code from outside the project"));
        }
    }

    /// The name of a file, whose content does not come out.
    fn metadata(&mut self, value: &Arg) {
        let before = self.out.secret;
        let mut aside = std::mem::take(&mut self.out);
        self.path(value, PathOp::Read);
        let found = std::mem::take(&mut self.out);
        if found.level != RiskLevel::Credential || found.decision == air_contracts::permission::Decision::Deny
        {
            aside.merge(found);
        }
        self.out = aside;
        self.out.secret |= before;
    }

    /// `NAME=value` for `make` or `cmake -D`: text that a shell may see later.
    fn build_variable(&mut self, name: &str, value: &Arg) {
        let Some(text) = value.pattern() else {
            self.out.unknown(format!("{name}: {value} is not known"));
            return;
        };
        let (variable, content) = text.split_once('=').unwrap_or((text.as_str(), ""));
        let variable = variable.split(':').next().unwrap_or_default();
        let launcher = ["LAUNCHER", "SHELL", "RULE_", "COMMAND", "EMULATOR", "MAKE_PROGRAM"]
            .iter()
            .any(|part| variable.contains(part));
        let plain = content.chars().all(|c| c.is_alphanumeric() || " _-./:=,+@%~;".contains(c));
        if !plain || launcher || !is_variable(variable) {
            self.out.unknown(format!("{name}: {text} may run something"));
        }
        if ["PREFIX", "DESTDIR"].contains(&variable) && content.starts_with('/') {
            self.suspect(&Arg::text(content));
        }
    }

    /// What is to be built. Installing and publishing reach beyond the project.
    pub(crate) fn build_target(&mut self, name: &str, value: &Arg) {
        let Some(text) = value.exact() else {
            if !value.is_number() {
                self.out.unknown(format!("{name}: the target {value} is not known"));
            }
            return;
        };
        if text.contains('=') {
            return self.build_variable(name, value);
        }
        let lower = text.to_ascii_lowercase();
        let beyond = ["install", "uninstall", "deploy", "publish", "upload", "release", "push", "flash"];
        if lower.split(['-', '_', '/', ':', '.']).any(|word| beyond.contains(&word)) {
            self.out.raise(RiskLevel::SystemSensitive, format!("{name} {text} reaches beyond the project"));
        }
        if lower
            .split(['-', '_'])
            .any(|word| matches!(word, "distclean" | "mrproper" | "maintainer" | "purge"))
        {
            self.out.raise(RiskLevel::Destructive, format!("{name} {text} removes more than a build makes"));
        }
    }

    /// `kill`: only jobs of this shell are its own.
    pub(crate) fn kill(&mut self, args: &[Arg]) {
        let mut targets = Vec::new();
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            match arg.exact() {
                Some("-l" | "-L" | "--list") => return,
                Some("-s" | "-n" | "--signal") => at += 1,
                Some("--") => {}
                Some(text) if at == 1 && text.starts_with('-') && args.len() > 1 => {}
                _ => targets.push(arg),
            }
        }
        for target in targets {
            self.out.effect(EffectKind::Signal, target.to_string());
            match target.exact() {
                Some("-1" | "0" | "1") => {
                    self.out.deny(RiskLevel::Destructive, "a signal to every process");
                }
                Some("-0") => {}
                Some(text) if text.starts_with('%') => {}
                _ if target.is_number() && target.exact().is_none() => {
                    self.out.raise(RiskLevel::ProjectWrite, "signals a process of this line");
                }
                _ => self.out.raise(RiskLevel::SystemSensitive, format!("signals the process {target}")),
            }
        }
    }

    /// `dd`: operands of the form `key=value`.
    pub(crate) fn dd(&mut self, args: &[Arg]) {
        for arg in args {
            let start = arg.literal_start().to_owned();
            match start.split_once('=') {
                Some(("if", _)) => self.path(&arg.skip(3), PathOp::Read),
                Some(("of", _)) => {
                    let target = arg.skip(3);
                    self.path_overwritten(&target);
                    self.authored(&target);
                }
                Some((
                    "bs" | "ibs" | "obs" | "count" | "skip" | "seek" | "conv" | "status" | "iflag" | "oflag",
                    _,
                )) => {}
                _ => self.out.unknown(format!("dd {arg}")),
            }
        }
    }

    /// `tar`: reads, or writes one archive, or unpacks into a directory.
    pub(crate) fn tar(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let mut words = args.to_vec();
        // The old style: the first word holds letters without a dash.
        if let Some(first) = words.first().and_then(Arg::exact).map(str::to_owned)
            && !first.starts_with('-')
            && !first.is_empty()
            && first.chars().all(|c| "cxtrufvzjJpkhO".contains(c))
        {
            words[0] = Arg::text(format!("-{first}"));
        }
        if words
            .iter()
            .any(|arg| arg.has_glob() && !arg.literal_start().contains('/') && arg.literal_start().len() < 2)
        {
            self.out.unknown("tar with a pattern that may match an option");
        }
        let options = read_options(spec, &words);
        self.unlisted(name, &options);
        let modes = |short: &str, long: &str| options.has(short) || options.has(long);
        let writes = modes("-c", "--create") || modes("-r", "--append") || modes("-u", "--update");
        let unpacks = modes("-x", "--extract") || options.has("--get");
        let dirs = self.state.dirs.clone();
        for option in ["-f", "--file"] {
            if let Some(archive) = options.value(option).cloned() {
                self.path(&archive, if writes { PathOp::Write } else { PathOp::Read });
            }
        }
        for option in ["-T", "--files-from", "-X", "--exclude-from"] {
            if let Some(list) = options.value(option).cloned() {
                self.path(&list, PathOp::Read);
                self.out.unknown("tar takes names from a file");
            }
        }
        for option in ["-C", "--directory"] {
            if let Some(dir) = options.value(option).cloned() {
                self.change_dir(&dir);
            }
        }
        if unpacks && !options.has("-O") && !options.has("--to-stdout") {
            self.path(&Arg::text("."), PathOp::Write);
            self.out.raise(RiskLevel::ProjectWrite, "tar writes what the archive holds");
        }
        if writes {
            options.operands.iter().for_each(|operand| self.path(operand, PathOp::Read));
        }
        if !writes && !unpacks && !modes("-t", "--list") && !options.has("--version") {
            self.out.unknown("tar without an operation");
        }
        self.state.dirs = dirs;
    }

    /// `cmake`: configures, builds, installs, or is a box of file tools.
    pub(crate) fn cmake(&mut self, name: &str, spec: &Spec, args: &[Arg]) {
        let first = args.first().and_then(Arg::exact).unwrap_or_default();
        let mode = match first {
            "--build" | "--install" | "-E" | "--workflow" | "--open" => first,
            "--version" | "--help" | "-version" | "--list-presets" => "--version",
            _ => "configure",
        };
        let Some(table) = spec.sub.get(mode) else {
            self.out.unknown(format!("cmake {mode}"));
            return args.iter().for_each(|arg| self.suspect(arg));
        };
        let rest = if mode == "configure" { args } else { args.get(1..).unwrap_or_default() };
        self.plain(&format!("{name} {}", if mode == "configure" { "" } else { mode }), table, rest);
    }
}

fn is_variable(text: &str) -> bool {
    is_name(text)
        || (!text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c)))
}

/// Compiler flags that only choose what is compiled how.
pub(super) fn are_plain_flags(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "-O",
        "-g",
        "-W",
        "-std=",
        "-I",
        "-D",
        "-U",
        "-m",
        "-L",
        "-l",
        "-pthread",
        "-pipe",
        "--coverage",
        "-s",
        "-pedantic",
    ];
    const PLAIN_F: &[&str] = &[
        "-fsanitize=",
        "-fno-",
        "-fPIC",
        "-fpic",
        "-fPIE",
        "-fstack",
        "-fvisibility",
        "-fdiagnostics",
        "-fprofile-arcs",
        "-ftest-coverage",
        "-fuse-ld=lld",
        "-flto",
        "-fcolor",
    ];
    text.split_whitespace().all(|flag| {
        let plain = STARTS.iter().chain(PLAIN_F).any(|start| flag.starts_with(start));
        plain
            && flag.chars().all(|c| c.is_ascii_alphanumeric() || "-_=+./,:".contains(c))
            && !flag.starts_with("-wrapper")
    })
}
