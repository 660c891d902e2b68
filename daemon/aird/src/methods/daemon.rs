//! `daemon/*`.

use std::sync::atomic::Ordering;

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{DaemonStatus, Empty, ShutdownParams};

use crate::daemon::{Daemon, VERSION};
use crate::process::resident_bytes;
use crate::stop::Order;

/// Sessions of one project that are counted, at most.
const COUNTED: u32 = 10_000;

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub async fn status(daemon: &Daemon, _: &Caller, _: Empty) -> Result<DaemonStatus> {
    let open = daemon.projects.open();
    let (mut sessions, mut approvals) = (0, 0);
    for project in &open {
        sessions += project.store.sessions(COUNTED).await?.len();
        approvals += project.store.open_approvals(None).await?.len();
    }
    Ok(DaemonStatus {
        version: VERSION.to_owned(),
        pid: std::process::id(),
        instance_id: daemon.instance_id,
        started_at: daemon.started_at,
        socket: daemon.socket.display().to_string(),
        air_home: daemon.paths.air_home().display().to_string(),
        rss_bytes: resident_bytes(),
        projects: small(open.len()),
        sessions: small(sessions),
        turns_running: small(open.iter().map(|project| project.sessions.running_turns()).sum()),
        approvals_open: small(approvals),
        clients: u32::try_from(daemon.counters.clients.load(Ordering::Relaxed)).unwrap_or(u32::MAX),
        workers: small(open.iter().map(|project| project.scheduler.worker_count()).sum()),
        started_by: daemon.started_by.to_owned(),
        draining: daemon.stop.ordered(),
    })
}

/// Answers, then stops: the answer is on the socket before the connection is closed.
pub async fn shutdown(daemon: &Daemon, caller: &Caller, params: ShutdownParams) -> Result<Empty> {
    tracing::info!(by = %caller.name(), drain = params.drain, commands = ?params.commands, "a client orders the stop");
    daemon.stop.order(Order { drain: params.drain, commands: params.commands });
    Ok(Empty {})
}
