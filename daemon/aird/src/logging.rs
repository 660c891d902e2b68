//! Log lines on stderr: the journal under systemd, `logs/aird.log` when `air` starts the daemon.
//!
//! `AIR_LOG` takes a filter as in `info,air_store=debug`. Nothing secret is logged at any level.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Starts logging for the whole process.
pub fn init() {
    let filter = EnvFilter::try_from_env("AIR_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // The journal has its own clock: sd_journal_stream, systemd.exec(5).
    let started = match std::env::var_os("JOURNAL_STREAM") {
        Some(_) => builder.without_time().try_init(),
        None => builder.try_init(),
    };
    if let Err(error) = started {
        eprintln!("aird: no log: {error}");
    }
}
