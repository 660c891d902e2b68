//! Variables: which may be set without changing what runs.

use air_contracts::permission::{EffectKind, RiskLevel};

use super::CommandContext;
use super::arg::{Arg, Gap, Piece};
use super::walk::{Vars, Walker};
use crate::shell::Assign;

/// Names that change nothing but looks, locale, verbosity, or what a build makes of the project.
const HARMLESS: &[&str] = &[
    "CI",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "DEBUG",
    "VERBOSE",
    "V",
    "NODE_ENV",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "CTEST_OUTPUT_ON_FAILURE",
    "CTEST_PARALLEL_LEVEL",
    "CMAKE_BUILD_PARALLEL_LEVEL",
    "CMAKE_BUILD_TYPE",
    "CMAKE_EXPORT_COMPILE_COMMANDS",
    "DISPLAY",
    "QT_QPA_PLATFORM",
    "SDL_VIDEODRIVER",
    "CGO_ENABLED",
    "GOOS",
    "GOARCH",
    "GO111MODULE",
    "BUILD_TYPE",
    "USER",
    "DJANGO_SETTINGS_MODULE",
    "FLASK_ENV",
    "RAILS_ENV",
    "RACK_ENV",
    "DEBIAN_FRONTEND",
    "HOSTNAME",
    "SOURCE_DATE_EPOCH",
];
const HARMLESS_STARTS: &[&str] = &["LC_", "GTEST_", "CARGO_PROFILE_"];

/// Names that a shell or a program takes orders from.
const DANGEROUS: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "SHELL",
    "HOME",
    "CDPATH",
    "GLOBIGNORE",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "BASHOPTS",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "MANPAGER",
    "BROWSER",
    "MAKEFLAGS",
    "MFLAGS",
    "GNUMAKEFLAGS",
    "MAKEFILES",
    "MAKESHELL",
    "CC",
    "CXX",
    "LD",
    "AR",
    "AS",
    "CPP",
    "FC",
    "RANLIB",
    "RUSTC",
    "RUSTDOC",
    "RUSTFLAGS",
    "CARGO",
    "CLASSPATH",
    "TAR_OPTIONS",
    "GZIP",
    "XZ_OPT",
    "TMPDIR",
    "TERMINFO",
    "FUNCNEST",
    "EXECIGNORE",
    "HISTFILE",
    "INPUTRC",
    "POSIXLY_CORRECT",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "GOFLAGS",
    "GOROOT",
    "GOPATH",
    "GOPROXY",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "TASK_TEMP_DIR",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "KUBECONFIG",
    "RIPGREP_CONFIG_PATH",
    "FZF_DEFAULT_COMMAND",
    "CONFIG_SITE",
    "CTEST_USE_LAUNCHERS_DEFAULT",
    "CMAKE_TOOLCHAIN_FILE",
    "CMAKE_GENERATOR",
    "CMAKE_PREFIX_PATH",
    "ANSIBLE_CONFIG",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
];
const DANGEROUS_STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_",
    "GIT_",
    "PYTHON",
    "NODE_",
    "NPM_",
    "npm_",
    "PERL",
    "RUBY",
    "RUSTC_",
    "CARGO_",
    "JAVA_",
    "JDK_",
    "_JAVA",
    "MAVEN_",
    "GRADLE_",
    "GCONV",
    "MALLOC_",
    "LIBGL",
    "GTK_",
    "QT_PLUGIN",
    "CMAKE_",
    "CCACHE_",
    "DISTCC",
    "SSH_",
    "GEM_",
    "BUNDLE_",
    "PIP_",
    "UV_",
    "COMPOSER_",
    "DENO_",
    "BUN_",
    "CORECLR_",
    "DOTNET_",
    "COR_",
    "LUA_",
    "R_",
    "AIR_",
];
const DANGEROUS_ENDS: &[&str] =
    &["_OPTIONS", "_OPTS", "_FLAGS", "_WRAPPER", "_LAUNCHER", "_PROXY", "_proxy", "_PAGER", "_EDITOR"];

/// The variables of a new shell, as far as they are known.
pub(super) fn initial(context: &CommandContext) -> Vars {
    let mut vars = Vars::new();
    if let Some(home) = context.boundaries.home.to_str() {
        vars.insert("HOME".to_owned(), vec![Piece::Text(home.to_owned())]);
    }
    for name in [
        "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO", "OPTIND", "SHLVL", "BASHPID", "COLUMNS",
        "LINES",
    ] {
        vars.insert(name.to_owned(), vec![Piece::Gap(Gap { number: true, ..Gap::default() })]);
    }
    for name in ["USER", "LOGNAME", "HOSTNAME"] {
        vars.insert(name.to_owned(), vec![Piece::Gap(Gap::default())]);
    }
    vars
}

/// Whether a name is one that something takes orders from.
fn is_dangerous(name: &str) -> bool {
    DANGEROUS.contains(&name)
        || DANGEROUS_STARTS.iter().any(|start| name.starts_with(start))
        || DANGEROUS_ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a variable may be given to a program.
fn is_harmless(name: &str, value: &Arg) -> bool {
    if HARMLESS.contains(&name) || HARMLESS_STARTS.iter().any(|start| name.starts_with(start)) {
        return true;
    }
    let Some(text) = value.exact() else { return false };
    match name {
        "CC" | "CXX" | "LD" | "AR" | "RANLIB" => {
            crate::programs::catalogue().get(text).is_some() && !text.contains('/')
        }
        "CFLAGS" | "CXXFLAGS" | "CPPFLAGS" | "LDFLAGS" => super::program_grammar::are_plain_flags(text),
        "RUSTFLAGS" => text
            .split_whitespace()
            .all(|flag| matches!(flag, "-D" | "warnings" | "-Dwarnings" | "-Awarnings")),
        "MAKEFLAGS" => text.strip_prefix("-j").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit())),
        "ASAN_OPTIONS" | "UBSAN_OPTIONS" | "TSAN_OPTIONS" | "MSAN_OPTIONS" | "LSAN_OPTIONS" => {
            text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '=' | ':' | ','))
                && !text.contains("path")
        }
        "CARGO_TARGET_DIR" | "PYTHONPATH" => !text.starts_with(['/', '~']) && !text.contains(".."),
        "GIT_PAGER" | "PAGER" | "MANPAGER" => matches!(text, "cat" | ""),
        "GIT_TERMINAL_PROMPT" | "GIT_OPTIONAL_LOCKS" => matches!(text, "0" | "1"),
        "CMAKE_GENERATOR" => matches!(text, "Ninja" | "Unix Makefiles"),
        _ => false,
    }
}

impl Walker<'_> {
    /// An assignment that stands alone or in `declare`: a variable of the shell.
    pub(crate) fn assign(&mut self, assign: &Assign) -> Arg {
        if let Some(subscript) = &assign.subscript {
            self.arithmetic(subscript);
        }
        let value = if assign.array {
            let secret =
                assign.values.iter().flat_map(|word| self.expand(word)).any(|value| value.is_secret());
            Arg::gap(Gap { empty: true, split: true, secret, ..Gap::default() })
        } else {
            assign.values.first().map(|word| self.expand_one(word)).unwrap_or_default()
        };
        let name = assign.name.as_str();
        if is_dangerous(name) && !is_harmless(name, &value) {
            self.out.unknown(format!("{name} changes what is run"));
            // What is asked about is all that follows, so a yes covers this line only.
            self.out.asked.push(None);
            if name == "CDPATH" {
                self.state.dirs.clear();
            }
        }
        if self.state.exported.contains(name) {
            self.out.effect(EffectKind::Env, name);
        }
        let stored = if assign.append || assign.subscript.is_some() || assign.array {
            self.appended(name, &value, assign.array)
        } else {
            value.pieces().to_vec()
        };
        self.state.vars.insert(name.to_owned(), stored);
        value
    }

    /// The value after `name+=value`.
    fn appended(&self, name: &str, value: &Arg, array: bool) -> Vec<Piece> {
        match self.state.vars.get(name) {
            Some(old) if !array => {
                let mut all = Arg::from_pieces(old.clone());
                value.pieces().iter().cloned().for_each(|piece| all.push(piece));
                all.pieces().to_vec()
            }
            _ => vec![Piece::Gap(Gap {
                empty: true,
                split: true,
                secret: value.is_secret(),
                ..Gap::default()
            })],
        }
    }

    /// Assignments before a command: its environment. `own_code` is whether the command is code of the
    /// project, which may define names of its own; `shell` whether it is a builtin that reads `IFS`.
    pub(crate) fn environment(&mut self, assigns: &[(String, Arg)], own_code: bool, reads_ifs: bool) {
        for (name, value) in assigns {
            self.out.effect(EffectKind::Env, name.as_str());
            let ifs = name == "IFS" && reads_ifs;
            if ifs || is_harmless(name, value) || (own_code && !is_dangerous(name)) {
                continue;
            }
            self.out.unknown(format!("the variable {name} may change what the command does"));
        }
    }

    /// A name is exported: everything that runs from here on gets it.
    pub(crate) fn export(&mut self, name: &str) {
        let value = self.state.vars.get(name).map(|pieces| Arg::from_pieces(pieces.clone()));
        self.state.exported.insert(name.to_owned());
        self.out.effect(EffectKind::Env, name);
        if is_dangerous(name) && !value.is_some_and(|value| is_harmless(name, &value)) {
            self.out.raise(RiskLevel::Unknown, format!("{name} changes what is run"));
            self.out.asked.push(None);
        }
    }
}
