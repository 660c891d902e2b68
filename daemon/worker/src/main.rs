//! `air-worker`: the process of one command (`exec`) or of one agent (`role`).

mod exec;
mod role;

use std::process::ExitCode;

const USAGE: &str = "usage: air-worker exec RUN_FOLDER\n       air-worker role";

/// Exit status for a wrong call.
const USAGE_STATUS: u8 = 2;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let command = args.next();
    let rest: Vec<_> = args.collect();
    match (command.as_ref().and_then(|word| word.to_str()), rest.as_slice()) {
        (Some("exec"), [folder]) => exec::run(folder.as_ref()),
        (Some("role"), []) => role::run(),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(USAGE_STATUS)
        }
    }
}
