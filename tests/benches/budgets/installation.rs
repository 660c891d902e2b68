//! A home and a project for one measurement, with the release binaries.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::model::Model;

pub struct Installation {
    dir: tempfile::TempDir,
}

/// The binaries that `scripts/bench` built.
fn binaries() -> PathBuf {
    let target = std::env::var("AIR_BENCH_BINARIES").unwrap_or_default();
    let dir = if target.is_empty() {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release")
    } else {
        target.into()
    };
    assert!(dir.join("aird").exists(), "{} has no aird: run scripts/bench", dir.display());
    dir
}

impl Installation {
    pub fn new(model: &Model) -> Self {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        std::fs::create_dir_all(base).unwrap();
        let dir = tempfile::Builder::new().prefix("b").tempdir_in(base).unwrap();
        let place = Self { dir };
        std::fs::create_dir_all(place.home()).unwrap();
        std::fs::create_dir_all(place.project()).unwrap();
        std::fs::write(place.project().join("AGENTS.md"), "Keep it simple. ".repeat(31)).unwrap();
        let git = Command::new("git").args(["init", "-q"]).current_dir(place.project()).status().unwrap();
        assert!(git.success());
        let config = format!(
            "providers: {{ bench: {{ kind: anthropic, base_url: \"http://{}\" }} }}\nmodels: {{ default: bench/model }}\nlimits: {{ max_model_calls: 2000 }}\n",
            model.address()
        );
        std::fs::write(place.home().join("config.yaml"), config).unwrap();
        place
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("h")
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("p")
    }

    /// Runs `air` to its end.
    pub fn air(&self, args: &[&str]) {
        let output = Command::new(binaries().join("air"))
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.dir.path())
            .env("AIR_HOME", self.home())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "air {args:?}: {output:?}");
    }

    pub fn daemon_pid(&self) -> i32 {
        let text = std::fs::read_to_string(self.home().join("run/aird.json")).unwrap();
        let info: serde_json::Value = serde_json::from_str(&text).unwrap();
        i32::try_from(info["pid"].as_i64().unwrap()).unwrap()
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        if self.home().join("run/aird.json").exists() {
            self.air(&["daemon", "stop"]);
        }
    }
}
