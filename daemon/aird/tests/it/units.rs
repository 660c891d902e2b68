//! The units, as systemd reads them.

use std::process::Command;

use crate::env::AIRD;

#[test]
fn systemd_finds_no_fault_in_the_units() {
    let units = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systemd");
    let dir = tempfile::tempdir().unwrap();
    for name in ["aird.service", "aird.socket"] {
        let text = std::fs::read_to_string(units.join(name)).unwrap();
        let text = text.replace("%h/.local/bin/aird", AIRD);
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let verified = Command::new("systemd-analyze")
        .args(["--user", "verify", "aird.service", "aird.socket"])
        .current_dir(dir.path())
        .env("XDG_RUNTIME_DIR", dir.path())
        .output();
    let Ok(verified) = verified else {
        eprintln!("skipped: systemd-analyze is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && said.trim().is_empty(), "{said}");
}
