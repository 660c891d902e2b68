//! `air-scripted-model`: serves a scenario on loopback until it is ended.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use air_scripted_model::{Recorder, Scenario, serve};
use clap::Parser;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;

/// A model server that plays a scenario over the Anthropic protocol.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The scenario to play, YAML.
    #[arg(long)]
    scenario: PathBuf,
    /// The port on 127.0.0.1; 0: any free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Appends each request to this file, one JSON object a line.
    #[arg(long)]
    record: Option<PathBuf>,
    /// Writes the port to this file once the server listens.
    #[arg(long)]
    port_file: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("air-scripted-model: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let scenario = Scenario::read(&arguments.scenario).map_err(|error| error.to_string())?;
    let recorder = match &arguments.record {
        Some(path) => Recorder::open(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => Recorder::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime cannot start: {error}"))?;
    LocalSet::new().block_on(&runtime, async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
        let listener = TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))?;
        announce(&listener, arguments.port_file.as_deref()).map_err(|error| format!("the port: {error}"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        tokio::select! {
            result = serve(listener, scenario, recorder) => result.map_err(|error| format!("listening: {error}")),
            _ = terminate.recv() => Ok(()),
            _ = tokio::signal::ctrl_c() => Ok(()),
        }
    })
}

fn announce(listener: &TcpListener, port_file: Option<&Path>) -> std::io::Result<()> {
    let port = listener.local_addr()?.port();
    if let Some(path) = port_file {
        // Renamed into place, so that a reader never sees half a number.
        let temporary = path.with_extension("tmp");
        std::fs::write(&temporary, format!("{port}\n"))?;
        std::fs::rename(&temporary, path)?;
    }
    let mut out = std::io::stdout();
    writeln!(out, "listening on http://127.0.0.1:{port}")?;
    out.flush()
}
