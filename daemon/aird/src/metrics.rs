//! The daemon's own metrics, in Prometheus' text format.

use std::fmt::Write as _;

use crate::daemon::Daemon;
use crate::process::resident_bytes;

/// What the API's own counters do not say.
pub fn render(daemon: &Daemon) -> String {
    let open = daemon.projects.open();
    let events: u64 = open.iter().map(|project| project.store.last_seq()).sum();
    let turns: usize = open.iter().map(|project| project.sessions.running_turns()).sum();
    let workers: usize = open.iter().map(|project| project.scheduler.worker_count()).sum();
    let (active, requests, errors) = daemon.flow.counts();
    let uptime = (daemon.clock.millis() - daemon.started_at.as_millis()).max(0) / 1000;
    let mut text = String::new();
    let mut line = |name: &str, kind: &str, value: u64| {
        let _ = writeln!(text, "# TYPE {name} {kind}\n{name} {value}");
    };
    line("air_resident_bytes", "gauge", resident_bytes());
    line("air_uptime_seconds", "gauge", uptime.unsigned_abs());
    line("air_projects_open", "gauge", open.len() as u64);
    line("air_turns_running", "gauge", turns as u64);
    line("air_workers", "gauge", workers as u64);
    line("air_events", "gauge", events);
    line("air_model_requests_active", "gauge", active as u64);
    line("air_model_requests_total", "counter", requests);
    line("air_model_request_errors_total", "counter", errors);
    let _ = writeln!(text, "# TYPE air_build info\nair_build{{version=\"{}\"}} 1", crate::daemon::VERSION);
    text
}
