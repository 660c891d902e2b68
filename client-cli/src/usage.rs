//! Errors in the command line, in the form of all others.

use std::ffi::OsString;
use std::process::ExitCode;

use air_contracts::AirError;
use air_contracts::error::codes;
use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::Exit;
use crate::output::Out;
use crate::report;

/// Prints what clap has to say: help and version on stdout, everything else as an error.
pub fn finish(error: &clap::Error, args: &[OsString], out: &Out) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        out.line(error.to_string().trim_end());
        return ExitCode::from(Exit::Ok.code());
    }
    ExitCode::from(report::error(&to_air_error(error, args), out).code())
}

/// The error of the contracts that stands for one of clap.
pub fn to_air_error(error: &clap::Error, args: &[OsString]) -> AirError {
    let arg = text(error, ContextKind::InvalidArg).map(|arg| flag_only(&arg));
    let value = text(error, ContextKind::InvalidValue);
    let air = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            invalid_value(error, arg.as_deref(), value.as_deref())
        }
        ErrorKind::UnknownArgument => AirError::new(
            codes::USAGE_OPTION,
            format!("no option {}", arg.as_deref().unwrap_or("of that name")),
        ),
        ErrorKind::InvalidSubcommand => {
            let name = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            AirError::new(codes::USAGE_COMMAND, format!("no command {name}"))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = text(error, ContextKind::InvalidArg).unwrap_or_else(|| "an argument".to_owned());
            AirError::new(codes::USAGE_MISSING, format!("missing: {missing}"))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            missing_subcommand(args)
        }
        ErrorKind::ArgumentConflict => {
            let other = text(error, ContextKind::PriorArg).map(|other| flag_only(&other)).unwrap_or_default();
            AirError::new(codes::USAGE_VALUE, format!("{} does not go with {other}", arg.unwrap_or_default()))
        }
        _ => AirError::new(codes::USAGE_VALUE, first_line(error)),
    };
    hints(air, error, args)
}

fn invalid_value(error: &clap::Error, arg: Option<&str>, value: Option<&str>) -> AirError {
    let arg = arg.unwrap_or("the argument");
    let (value, valid) = (value.unwrap_or_default(), list(error, ContextKind::ValidValue));
    let message = match (value.is_empty(), valid.is_empty()) {
        (true, _) => format!("{arg} needs a value"),
        (false, false) => format!("{arg} {value}: not one of {}", valid.join(", ")),
        (false, true) => {
            let why = std::error::Error::source(error)
                .map_or_else(|| "not a value of it".to_owned(), ToString::to_string);
            format!("{arg} {value}: {why}")
        }
    };
    AirError::new(codes::USAGE_VALUE, message)
}

fn missing_subcommand(args: &[OsString]) -> AirError {
    let name = named_command(args);
    AirError::new(codes::USAGE_MISSING, format!("{name} needs a command"))
}

fn hints(air: AirError, error: &clap::Error, args: &[OsString]) -> AirError {
    let command = named_command(args);
    let mut near = list(error, ContextKind::SuggestedSubcommand);
    near.extend(list(error, ContextKind::SuggestedArg));
    near.extend(list(error, ContextKind::SuggestedValue));
    let air = match near.first() {
        Some(name) if error.kind() == ErrorKind::InvalidSubcommand => air.hint(format!("{command} {name}")),
        Some(name) => air.hint(format!("did you mean {name}?")),
        None => air,
    };
    match command.strip_prefix("air ") {
        Some(rest) => air.hint(format!("air help {rest}")),
        None => air.hint("air --help"),
    }
}

/// `air session`: the command that the arguments name, as far as they name one.
fn named_command(args: &[OsString]) -> String {
    let root = crate::args::Cli::command();
    let (mut at, mut name) = (&root, "air".to_owned());
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    while let Some(word) = words.next() {
        if matches!(word, "-C" | "--output" | "--color") {
            words.next();
        } else if !word.starts_with('-') {
            let Some(next) = at.find_subcommand(word) else { break };
            (at, name) = (next, format!("{name} {word}"));
        }
    }
    name
}

/// `--scope` from `--scope <SCOPE>`.
fn flag_only(arg: &str) -> String {
    if arg.starts_with('-') { arg.split([' ', '=']).next().unwrap_or(arg).to_owned() } else { arg.to_owned() }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    }
}

fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn check(args: &[&str], code: &str, message: &str, hint: &str) {
        let args: Vec<OsString> =
            std::iter::once("air").chain(args.iter().copied()).map(OsString::from).collect();
        let error = to_air_error(&crate::args::Cli::try_parse_from(&args).unwrap_err(), &args);
        assert_eq!((error.code.as_str(), error.message.as_str()), (code, message));
        assert!(error.hints.iter().any(|found| found == hint), "{hint:?} in {:?}", error.hints);
    }

    #[test]
    fn mistakes_name_the_object_and_the_way_on() {
        check(
            &["approve", "a7", "--scope", "forever"],
            codes::USAGE_VALUE,
            "--scope forever: not one of once, session, project",
            "air help approve",
        );
        check(&["sesions"], codes::USAGE_COMMAND, "no command sesions", "air sessions");
        check(&["tasks", "--grap"], codes::USAGE_OPTION, "no option --grap", "did you mean --graph?");
        check(&["approve"], codes::USAGE_MISSING, "missing: <ID>", "air help approve");
        check(&["session"], codes::USAGE_MISSING, "air session needs a command", "air help session");
        check(
            &["submit", "--hold", "soon", "x"],
            codes::USAGE_VALUE,
            "--hold soon: not a duration like 90s, 30m, 2h",
            "air help submit",
        );
        check(&["diff", "--turn"], codes::USAGE_VALUE, "--turn needs a value", "air help diff");
        check(
            &["rpc", "a", "--stdio"],
            codes::USAGE_VALUE,
            "[METHOD] does not go with --stdio",
            "air help rpc",
        );
    }
}
