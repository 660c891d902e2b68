//! `air-worker exec RUN_FOLDER`: the launcher of one command.

use std::path::Path;
use std::process::ExitCode;

/// Runs the command of the folder to its end; see [`air_sandbox::launch`] for the exit status.
pub fn run(folder: &Path) -> ExitCode {
    ExitCode::from(u8::try_from(air_sandbox::launch(folder)).unwrap_or(u8::MAX))
}
