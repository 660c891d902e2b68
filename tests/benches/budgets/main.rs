//! The budgets of the design, measured on the release binaries beside a bare loop in the same run.
//!
//! `scripts/bench` builds and runs it. Figures are wall time on this machine; compare the ratios.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod installation;
mod model;
mod procfs;

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use installation::Installation;
use model::{Model, Seen};

/// Tool turns of the long run.
const TURNS: usize = 200;

fn main() {
    // `cargo bench` passes flags of the standard harness, which this is not.
    let turns = std::env::var("AIR_BENCH_TURNS").ok().and_then(|text| text.parse().ok()).unwrap_or(TURNS);
    println!("| what | measured | bare loop or budget | ratio |");
    println!("| --- | --- | --- | --- |");
    let bare = bare_loop(turns);
    start_up();
    long_run(turns, bare);
}

fn row(what: &str, measured: &str, against: &str, ratio: Option<f64>) {
    let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    println!("| {what} | {measured} | {against} | {ratio} |");
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// POST, spawn `sh -c true`, append a record and sync it: what no agent can do without. Milliseconds for a turn.
fn bare_loop(turns: usize) -> f64 {
    let model = Model::start(turns);
    let place = Installation::new(&model);
    let path = place.root().join("bare.log");
    let mut log = std::fs::File::create(path).unwrap();
    let mut stream = TcpStream::connect(model.address()).unwrap();
    stream.set_nodelay(true).unwrap();
    let body = format!("{{\"model\":\"bare\",\"messages\":\"{}\"}}", "x".repeat(8_000));
    let mut spent = Vec::new();
    for _ in 0..turns {
        let start = Instant::now();
        model::post(&mut stream, &body);
        std::process::Command::new("sh").args(["-c", "true"]).status().unwrap();
        log.write_all(&[b'x'; 2_048]).unwrap();
        log.sync_data().unwrap();
        spent.push(ms(start.elapsed()));
    }
    let median = median(&spent);
    row("bare loop: POST, `sh -c true`, synced append", &format!("{median:.2} ms"), "-", None);
    median
}

/// From `air submit` to the first request at the model.
fn start_up() {
    let mut running = Vec::new();
    let mut cold = Vec::new();
    for _ in 0..7 {
        let model = Model::start(0);
        let place = Installation::new(&model);
        for values in [&mut cold, &mut running] {
            let before = model.seen().len();
            let start = Instant::now();
            place.air(&["submit", "--session", "new", "say hello"]);
            let first = model.wait_for(before + 1);
            values.push(ms(first.whole_at.duration_since(start)));
            place.air(&["wait"]);
        }
    }
    let (running, cold) = (median(&running), median(&cold));
    row(
        "submit to first request, daemon running",
        &format!("{running:.1} ms"),
        "20 ms",
        Some(running / 20.0),
    );
    row("submit to first request, daemon not running", &format!("{cold:.1} ms"), "80 ms", Some(cold / 80.0));
}

/// One task of many tool turns: time, processor, memory, bytes written, request sizes.
fn long_run(turns: usize, bare: f64) {
    let model = Model::start(turns);
    let place = Installation::new(&model);
    place.air(&["sessions"]);
    let daemon = place.daemon_pid();
    std::thread::sleep(Duration::from_millis(500));
    let idle = procfs::pss_kb(daemon);
    let (cpu, written) = (procfs::cpu_ms(daemon), procfs::written_bytes(daemon));
    place.air(&["submit", "run it"]);
    model.wait_for(turns + 1);
    let busy: u64 = procfs::tree(daemon).into_iter().map(procfs::pss_kb).sum();
    place.air(&["wait"]);
    let seen = model.seen();
    report_turns(&seen, turns, bare);
    let cpu = (procfs::cpu_ms(daemon) - cpu) / turns as f64;
    row("processor per tool turn, all processes", &format!("{cpu:.1} ms"), "5 ms", Some(cpu / 5.0));
    let mb = |kb: u64| kb as f64 / 1024.0;
    row("memory of the daemon, idle (PSS)", &format!("{:.1} MB", mb(idle)), "25 MB", Some(mb(idle) / 25.0));
    row(
        &format!("memory of daemon, worker and launchers at turn {turns}"),
        &format!("{:.1} MB", mb(busy)),
        "40 MB",
        Some(mb(busy) / 40.0),
    );
    let written = (procfs::written_bytes(daemon) - written) as f64 / 1e6;
    row(
        &format!("written to disk by the daemon, {turns} tool turns"),
        &format!("{written:.1} MB"),
        "6 MB",
        Some(written / 6.0),
    );
    let kb = |bytes: usize| bytes as f64 / 1024.0;
    let (main, executor) = (kb(seen[0].bytes), kb(seen[1].bytes));
    row("first request of the Main Agent", &format!("{main:.1} KB"), "6 KB", Some(main / 6.0));
    row("first request of the Executor", &format!("{executor:.1} KB"), "12 KB", Some(executor / 12.0));
}

/// Model answered → next request whole.
fn report_turns(seen: &[Seen], turns: usize, bare: f64) {
    let gaps: Vec<f64> = seen
        .windows(2)
        .skip(2)
        .filter_map(|pair| Some(ms(pair[1].whole_at.duration_since(pair[0].answered_at?))))
        .collect();
    let early = median(&gaps[gaps.len() / 20..gaps.len() / 4]);
    let late = median(&gaps[gaps.len() * 3 / 4..]);
    let all = median(&gaps);
    row(
        &format!("tool turn, durable, sandboxed (median of {turns})"),
        &format!("{all:.2} ms"),
        &format!("{bare:.2} ms"),
        Some(all / bare),
    );
    row(
        "the same, last quarter against first",
        &format!("{late:.2} ms"),
        &format!("{early:.2} ms"),
        Some(late / early),
    );
}
