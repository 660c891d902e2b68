//! A hermetic installation: own home, own socket, own project, own model; real binaries.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long a condition may take to come true on a slow, busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// An installation for one test. Everything that it started is ended when it is dropped.
pub struct TestEnv {
    dir: tempfile::TempDir,
    model: Option<Child>,
    model_url: String,
}

/// What a command printed; shown whole when a test fails.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    #[expect(dead_code, reason = "shown by Debug")]
    pub stderr: String,
}

impl Ran {
    /// The one JSON value on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

/// A binary of this workspace, beside the test's own.
pub fn binary(name: &str) -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let path = exe.parent().unwrap().parent().unwrap().join(name);
    assert!(path.exists(), "{} is not built: cargo build --workspace --bins", path.display());
    path
}

impl TestEnv {
    /// A project with these files, in a git repository with one commit.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let env = Self::without_git(files);
        for args in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "first"],
        ] {
            let done = Command::new("git").args(args).current_dir(env.project()).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        }
        env
    }

    /// The same without a repository.
    pub fn without_git(files: &[(&str, &str)]) -> Self {
        // Not below /tmp: commands may write there, and the home of the daemon must not lie where they may.
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        std::fs::create_dir_all(base).unwrap();
        let dir = tempfile::Builder::new().prefix("e").tempdir_in(base).unwrap();
        let env = Self { dir, model: None, model_url: String::new() };
        std::fs::create_dir_all(env.project()).unwrap();
        std::fs::create_dir_all(env.air_home()).unwrap();
        for (path, text) in files {
            env.write(path, text);
        }
        env
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("p")
    }

    pub fn air_home(&self) -> PathBuf {
        self.dir.path().join("h")
    }

    pub fn recorded(&self) -> PathBuf {
        self.dir.path().join("requests.jsonl")
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file of the project.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Starts a scripted model and makes it the default.
    pub fn model(&mut self, scenario: &str) {
        let file = self.dir.path().join("scenario.yaml");
        std::fs::write(&file, scenario).unwrap();
        let mut child = Command::new(binary("air-scripted-model"))
            .arg("--scenario")
            .arg(&file)
            .args(["--port", "0", "--record"])
            .arg(self.recorded())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "the model said {line:?}");
        self.stop_model();
        self.model = Some(child);
        self.model_url = url;
        self.configure("");
    }

    /// Ends the model server.
    pub fn stop_model(&mut self) {
        if let Some(mut child) = self.model.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Writes the configuration: the model, and more YAML.
    pub fn configure(&self, more: &str) {
        let text = format!(
            "providers:\n  scripted: {{ kind: anthropic, base_url: \"{}\", api_key_env: SCRIPTED_KEY }}\nmodels: {{ default: scripted/scripted-model }}\n{more}",
            self.model_url
        );
        std::fs::write(self.air_home().join("config.yaml"), text).unwrap();
    }

    /// The requests that the model got so far, oldest first.
    pub fn requests(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.recorded()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// `air` with a clean environment, in the project.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary("air"));
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.dir.path())
            .env("AIR_HOME", self.air_home())
            .env("SCRIPTED_KEY", "sk-test-of-the-scripted-model")
            .stdin(Stdio::null());
        command
    }

    /// Runs `air` to its end.
    pub fn air(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    /// Runs `air … --output json`, expects exit 0, gives the value.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.extend(["--output", "json"]);
        self.air(&all).expect_code(0).json()
    }

    /// The process id of the daemon, where one has published itself.
    pub fn daemon_pid(&self) -> Option<i32> {
        let text = std::fs::read_to_string(self.air_home().join("run/aird.json")).ok()?;
        let info: Value = serde_json::from_str(&text).ok()?;
        i32::try_from(info["pid"].as_i64()?).ok()
    }

    /// Kills the daemon as a crash would.
    #[track_caller]
    pub fn kill_daemon(&self) {
        let pid = self.daemon_pid().expect("a daemon");
        kill(pid);
        self.wait_until("the daemon is gone", || !alive(pid));
    }

    /// Waits for a condition.
    #[track_caller]
    pub fn wait_until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < PATIENCE, "waited in vain until {what}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The daemon's own log, for a failing test.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.air_home().join("logs/aird.log")).unwrap_or_default()
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        if let Some(pid) = self.daemon_pid().filter(|pid| is_ours(*pid, &self.air_home())) {
            let _ = self.command(&["daemon", "stop"]).output();
            if alive(pid) {
                kill(pid);
            }
        }
        self.stop_model();
        if std::thread::panicking() {
            eprintln!("--- aird.log of the failed test\n{}", self.log());
        }
    }
}

pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie has ended; whoever is its parent has not looked yet.
    !stat.is_empty() && !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

/// A pid may have been given to another process since.
fn is_ours(pid: i32, air_home: &Path) -> bool {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    String::from_utf8_lossy(&environ).contains(&format!("AIR_HOME={}", air_home.display()))
}

pub fn kill(pid: i32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// All processes below one, zombies left out.
pub fn descendants(pid: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for thread in threads {
        let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for child in
            children.split_whitespace().filter_map(|child| child.parse().ok()).filter(|child| alive(*child))
        {
            found.push(child);
            found.extend(descendants(child));
        }
    }
    found
}
