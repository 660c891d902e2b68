//! `air-worker role`: one agent's loop. It asks its parent for answers of the model and for calls of tools, in
//! order, until the task is finished, its limit is reached, or its parent is gone.
//!
//! No file, no network, no credentials: what it has is two pipes.

mod agent;
mod pipe;

use std::process::ExitCode;
use std::time::Duration;

use air_contracts::ipc::{HEARTBEAT_SECS, IPC_VERSION, WorkerMessage};
use tokio::time::{MissedTickBehavior, interval};

use agent::Agent;
use pipe::{Input, Output};

/// Exit status when the parent said something that is not the protocol.
const PROTOCOL_STATUS: u8 = 3;

/// Runs to the end of the agent, or of the parent.
pub fn run() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    match runtime.block_on(serve()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("air-worker role: {error}");
    ExitCode::from(PROTOCOL_STATUS)
}

async fn serve() -> std::io::Result<()> {
    let mut input = Input::open()?;
    let mut output = Output::default();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    output.send(&[WorkerMessage::AgentReady {
        ipc_version: IPC_VERSION,
        version,
        pid: std::process::id(),
    }])?;
    let mut beat = interval(Duration::from_secs(HEARTBEAT_SECS));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut agent = Agent::default();
    loop {
        let said = tokio::select! {
            biased;
            message = input.next() => match message? {
                Some(message) => agent.take(message),
                // The parent is gone: nobody wants a result.
                None => return Ok(()),
            },
            _ = beat.tick() => vec![heartbeat()],
        };
        output.send(&said)?;
        if agent.is_over() {
            return Ok(());
        }
    }
}

fn heartbeat() -> WorkerMessage {
    WorkerMessage::Heartbeat { rss_bytes: rss_bytes() }
}

/// Resident memory by proc(5), 0 where there is none.
fn rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib =
        line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
