//! What the kernel counts for a process (proc(5)).

/// Proportional memory in KiB.
pub fn pss_kb(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// Bytes that it caused to be written to storage, less those of files that were gone before that happened (proc(5)).
pub fn written_bytes(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let field = |name: &str| -> u64 {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    field("write_bytes:").saturating_sub(field("cancelled_write_bytes:"))
}

/// Processor time of it and of the children that it has waited for, in milliseconds.
pub fn cpu_ms(pid: i32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // utime, stime, cutime, cstime: fields 14–17, counted from 1; a tick is 10 ms.
    let ticks: f64 =
        fields.get(11..15).unwrap_or_default().iter().filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks * 10.0
}

/// It and all that descends from it.
pub fn tree(pid: i32) -> Vec<i32> {
    let mut all = vec![pid];
    let mut next = 0;
    while next < all.len() {
        let threads = std::fs::read_dir(format!("/proc/{}/task", all[next])).into_iter().flatten().flatten();
        for thread in threads {
            let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
        }
        next += 1;
    }
    all
}
