//! What 200 tool turns write at several page sizes, beside each other in one run.
//!
//! Two commits for a turn, about three events each. `wchar` counts the bytes of write calls of this process
//! (/proc/self/io, proc(5)): WAL, checkpoints and closing; `blocks` is `write_bytes` there: the same in whole pages
//! of the page cache, as far as the folder lies on a disk.
//!
//!     cargo run --release -p air-store --example page_size [folder]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/it/samples.rs"]
mod samples;

use std::path::Path;
use std::time::{Duration, Instant};

use air_contracts::ids::{ProjectId, RefKind};
use air_rt::{Clock, IdSource};
use air_store::Store;

use samples::Cast;

const TURNS: u64 = 200;

fn written(what: &str) -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").expect("Linux");
    io.lines().find_map(|line| line.strip_prefix(what)).and_then(|n| n.parse().ok()).unwrap()
}

const BYTES: &str = "wchar: ";
const BLOCKS: &str = "write_bytes: ";

struct Figures {
    bytes: u64,
    blocks: u64,
    open_bytes: u64,
    payload: u64,
    file: u64,
    median: Duration,
    worst: Duration,
}

async fn measure(dir: &Path, page_size: u32, output: &str) -> Figures {
    let ids = IdSource::new();
    let project = ProjectId::from_uuid(ids.next());
    let store =
        Store::open_with_page_size(dir, project, Clock::system(), ids.clone(), page_size).await.unwrap();
    let cast = Cast::new(&ids, store.next_ref(RefKind::Session));
    store.ingest(cast.opening()).await.unwrap();
    let (before, blocks) = (written(BYTES), written(BLOCKS));
    let mut payload = 0;
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let n = store.next_ref(RefKind::ToolRun);
        let (run, call) = cast.call(&ids, n);
        for events in [call, cast.result(&ids, n, run, output)] {
            payload +=
                events.iter().map(|event| event.body.payload_json().unwrap().len() as u64).sum::<u64>();
            let start = Instant::now();
            store.ingest(events).await.unwrap();
            times.push(start.elapsed());
        }
    }
    let open_bytes = written(BYTES) - before;
    store.close().await;
    let bytes = written(BYTES) - before;
    times.sort_unstable();
    Figures {
        bytes,
        blocks: written(BLOCKS) - blocks,
        open_bytes,
        payload,
        file: std::fs::metadata(dir.join("session.db")).unwrap().len(),
        median: times[times.len() / 2],
        worst: times[times.len() - 1],
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, Into::into);
    for (label, output) in
        [("short results", "all tests passed\n".repeat(4)), ("1 KB results", "x".repeat(1_024))]
    {
        println!("{TURNS} tool turns, 2 commits each, {label}");
        println!(
            "{:>6} {:>11} {:>11} {:>12} {:>10} {:>10} {:>12} {:>10}",
            "page", "written", "blocks", "until close", "payload", "file", "per commit", "worst"
        );
        for page_size in [512, 1_024, 2_048, 4_096, 8_192] {
            let dir = tempfile::tempdir_in(&folder).unwrap();
            let figures = measure(dir.path(), page_size, &output).await;
            println!(
                "{:>6} {:>8} KB {:>8} KB {:>9} KB {:>7} KB {:>7} KB {:>9.0} us {:>7.1} ms",
                page_size,
                figures.bytes / 1_000,
                figures.blocks / 1_000,
                figures.open_bytes / 1_000,
                figures.payload / 1_000,
                figures.file / 1_000,
                figures.median.as_secs_f64() * 1e6,
                figures.worst.as_secs_f64() * 1e3,
            );
        }
    }
}
