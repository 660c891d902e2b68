//! A scratch machine for runs: a home of the daemon, a home of the user, a workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use air_contracts::ids::ToolRunId;
use air_contracts::permission::SandboxPolicy;
use air_sandbox::{ExitRecord, RunFolder, RunSpec, RunState};

/// Waits until the condition gives something.
pub fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Whether a process runs: one that is dead but not reaped does not.
pub fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next())
        .is_some_and(|state| state != 'Z' && state != 'X')
}

pub struct Bed {
    pub root: tempfile::TempDir,
    pub spec: RunSpec,
}

impl Bed {
    pub fn new(command: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        for folder in ["ws", "home/projects/p", "home/workspaces/other", "user"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        let env = [("PATH", "/usr/bin:/bin".to_owned()), ("HOME", at("user").display().to_string())];
        let spec = RunSpec {
            run_id: ToolRunId::from_uuid(uuid::Uuid::from_u128(5)),
            command: command.to_owned(),
            cwd: at("ws"),
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            timeout_ms: 60_000,
            background: false,
            policy: SandboxPolicy { writable: vec![at("ws")], network: false, required: false },
            head_cap: 1 << 20,
            tail_cap: 1 << 20,
        };
        Self { root, spec }
    }

    pub fn with(mut self, change: impl FnOnce(&mut RunSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// A file of the workspace, empty while it does not exist.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path("ws").join(name)).unwrap_or_default()
    }

    /// The pid that a command has written to a file of the workspace.
    pub fn pid(&self, name: &str) -> u32 {
        until(name, || self.read(name).strip_suffix('\n')?.parse().ok())
    }

    pub fn start(self) -> Run {
        let folder = RunFolder::create(self.path("home/projects/p/runs/r"), &self.spec).unwrap();
        let guard = spawn(folder.path());
        Run { bed: self, folder, guard }
    }

    /// Runs to the end on a machine that refuses every kind of namespace (user_namespaces(7), limits).
    pub fn run_without_namespaces(self) -> Ended {
        let folder = RunFolder::create(self.path("home/projects/p/runs/r"), &self.spec).unwrap();
        let limits =
            "for kind in user mnt net; do echo 0 >/proc/sys/user/max_${kind}_namespaces || exit 9; done";
        let mut command = Command::new("unshare");
        let script = format!("{limits}; exec {} exec \"$1\"", env!("CARGO_BIN_EXE_air-worker"));
        command.args(["--user", "--map-root-user", "sh", "-c", &script, "sh"]).arg(folder.path());
        let guard = command.spawn().unwrap();
        Run { bed: self, folder, guard }.finish()
    }

    /// Runs to the end.
    pub fn run(self) -> Ended {
        self.start().finish()
    }
}

pub fn spawn(folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_air-worker"));
    command.arg("exec").arg(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

pub struct Run {
    pub bed: Bed,
    pub folder: RunFolder,
    pub guard: Child,
}

impl Run {
    fn finish(self) -> Ended {
        let mut run = self;
        assert!(run.guard.wait().unwrap().success(), "the launcher failed");
        run.ended()
    }

    /// The pid of the launcher, once it runs.
    pub fn launcher(&self) -> u32 {
        until("the launcher", || match self.folder.state().unwrap() {
            RunState::Running(id) => Some(id.pid),
            _ => None,
        })
    }

    pub fn wait(mut self) -> Ended {
        self.guard.wait().unwrap();
        self.ended()
    }

    fn ended(self) -> Ended {
        let RunState::Finished(record) = self.folder.state().unwrap() else {
            panic!("no record: {:?}", self.folder.state());
        };
        let kept = self.folder.output(1 << 26, 1 << 26).unwrap();
        assert_eq!(kept.total, record.output_bytes);
        let output = String::from_utf8_lossy(&[kept.head, kept.tail].concat()).into_owned();
        Ended { bed: self.bed, folder: self.folder, record, output }
    }
}

pub struct Ended {
    pub bed: Bed,
    pub folder: RunFolder,
    pub record: ExitRecord,
    pub output: String,
}
