//! The `air` binary: arguments, connection, commands, and what they print.
//!
//! Data goes to stdout, everything else to stderr. Errors are rendered in one place ([`report`]), exit
//! codes are decided in one place ([`exit`]), and processes are started in one place ([`process`]).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod app;
pub mod args;
pub mod commands;
pub mod connect;
pub mod demo;
pub mod exit;
pub mod help;
pub mod output;
pub mod process;
pub mod report;
pub mod submit;
pub mod table;
pub mod usage;

use std::ffi::OsString;
use std::process::ExitCode;

use air_contracts::{AirError, Result};
use clap::Parser as _;

use exit::Exit;

/// Parses the arguments of the process, runs the command, prints what went wrong, and gives the exit code.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let early = output::Out::early(&args);
    let cli = match args::Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage::finish(&error, &args, &early),
    };
    let out = output::Out::new(&cli.global);
    let exit = match start(cli, out) {
        Ok(exit) => exit,
        Err(error) => report::error(&error, &early),
    };
    ExitCode::from(exit.code())
}

fn start(cli: args::Cli, out: output::Out) -> Result<Exit> {
    let app = app::App::new(&cli, out)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| AirError::io("the async runtime", &error))?;
    let exit = runtime.block_on(Box::pin(commands::run(app, cli.command)));
    // A thread that reads the terminal cannot be waited for.
    runtime.shutdown_background();
    exit
}
