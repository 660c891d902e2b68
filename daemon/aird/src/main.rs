//! `aird`, the daemon: owns the event log, the scheduler, the tools and the workers of every open project.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod boot;
mod credentials;
mod daemon;
mod environment;
mod facts;
mod gateway;
mod lock;
mod logging;
mod methods;
mod metrics;
mod models;
mod process;
mod project;
mod redact;
mod registry;
mod settings;
mod socket;
mod stop;
mod takeover;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

/// Threads that run futures. The work is waiting; two are enough for that and keep memory small.
const WORKER_THREADS: usize = 2;
/// Threads for calls that block: file system and hashing.
const BLOCKING_THREADS: usize = 16;

/// The daemon of AirCoding. `air` starts it when it is needed.
#[derive(Debug, Parser)]
#[command(name = "aird", version)]
struct Args {
    /// Say that a person watches this process (it never leaves the foreground by itself)
    #[arg(long)]
    foreground: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    logging::init();
    process::limit_arenas();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_keep_alive(Duration::from_secs(5))
        .thread_name("aird")
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "no runtime");
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(boot::run(args.foreground));
    runtime.shutdown_timeout(Duration::from_secs(2));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}  {}", error.code);
            for hint in &error.hints {
                eprintln!("  hint    {hint}");
            }
            ExitCode::FAILURE
        }
    }
}
