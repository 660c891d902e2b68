//! The help of `air` itself, and the reference of all commands as Markdown.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

/// `air --help`.
pub const ROOT: &str = "\
AirCoding runs coding agents on your machine. They go on when you leave.

Usage: air [COMMAND] [OPTIONS]

Work      (none)  attach: open this project's latest session, or start one
          submit  send a message; --wait stays for the result
          interrupt, continue, wait, cancel, retry           while it works
          approve, deny, answer                              answer a question
Look      sessions, tasks, agents, approvals, log, usage, context
Result    diff, evidence, artifact, session
Set up    init, trust, doctor, provider, config, daemon
Try       demo    a complete run, no key and no network
Machines  events, rpc, schema

Examples
  air submit --wait \"why does stats.percentile fail? fix it\"
  git diff main | air submit --wait - --file REVIEW.md
  air approve a7 --scope session

air help COMMAND shows options, exit codes and more examples.";

/// The reference: every command that is not hidden, with its help, as Markdown.
pub fn markdown() -> String {
    let mut root = crate::args::Cli::command();
    root.build();
    let mut text = String::from("# `air`, command by command\n\n```text\n");
    text.push_str(ROOT);
    text.push_str("\n```\n");
    section(&mut text, &mut root, "air", 2);
    text.push_str("\n## Global options\n\n");
    for arg in root.get_arguments().filter(|arg| arg.is_global_set()) {
        let short = arg.get_short().map(|short| format!("-{short}"));
        let long = arg.get_long().map(|long| format!("--{long}"));
        let names: Vec<String> = [short, long].into_iter().flatten().collect();
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "- `{}`: {help}.", names.join("`, `"));
    }
    text.push_str(EXIT_CODES);
    text
}

const EXIT_CODES: &str = "
## Exit codes

| code | meaning |
| --- | --- |
| 0 | the turn ended with an answer and no task failed or is blocked; or the command did what it should |
| 1 | a task, or the command itself, failed |
| 2 | wrong usage |
| 3 | blocked, or only an approval can advance it |
| 4 | the daemon cannot be reached |
| 5 | a budget is reached |
| 130 | interrupted |
";

fn section(text: &mut String, parent: &mut Command, name: &str, level: usize) {
    for command in parent.get_subcommands_mut() {
        if command.is_hide_set() || command.get_name() == "help" {
            continue;
        }
        let full = format!("{name} {}", command.get_name());
        let _ = write!(text, "\n{} `{full}`\n\n", "#".repeat(level));
        if command.has_subcommands() {
            if let Some(about) = command.get_about() {
                let _ = writeln!(text, "{about}.");
            }
            section(text, command, &full, level + 1);
            continue;
        }
        // Global options are described once, at the end.
        let mut shown = command.clone().mut_args(|arg| {
            let global = arg.is_global_set();
            arg.hide(global)
        });
        let help = shown.render_long_help().to_string();
        let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        let _ = writeln!(text, "```text\n{}\n```", lines.join("\n"));
    }
}
