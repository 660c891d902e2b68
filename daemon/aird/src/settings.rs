//! Configuration, permissions and rules of one project, as they are now.
//!
//! Files are looked at when they matter and read again when they changed. A broken file means the last
//! good state and a warning.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use air_contracts::error::codes;
use air_contracts::project::{ProjectCheck, ProjectFile};
use air_contracts::{AirError, Result};
use air_host::{AirPaths, Config, Project, RuleFile, load_permissions, load_rules, read_to_string};
use air_llm::ProviderManager;
use air_scheduler::SchedulerLimits;
use air_security::{PermissionsFile, Policy};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::credentials::Credentials;
use crate::environment::Environment;
use crate::facts::project_facts;
use crate::models::Models;

/// What tells whether files changed: time, size and inode of each.
type Stamp = Vec<Option<(i64, i64, u64, u64)>>;

fn stamp(paths: &[PathBuf]) -> Stamp {
    let one = |path: &PathBuf| {
        let meta = path.metadata().ok()?;
        Some((meta.mtime(), meta.mtime_nsec(), meta.size(), meta.ino()))
    };
    paths.iter().map(one).collect()
}

/// A configuration with what was made of it.
#[derive(Clone)]
pub struct InForce {
    pub config: Arc<Config>,
    pub providers: Result<ProviderManager>,
    /// All that was ignored or is broken.
    pub warnings: Vec<String>,
}

/// The rules of one file; none where there is no file.
fn rules_of(value: &Value) -> Result<PermissionsFile> {
    if value.is_null() {
        return Ok(PermissionsFile::default());
    }
    PermissionsFile::deserialize(value)
        .map_err(|error| AirError::new(codes::PERMISSIONS_INVALID, format!("permissions.yaml: {error}")))
}

/// What holds while no rules can be read: each change of a file is asked about.
fn closed() -> Policy {
    let rules = json!({ "paths": [{ "match": "*", "ops": ["write", "delete"], "decision": "ask" }] });
    Policy::merge(rules_of(&rules).unwrap_or_default(), PermissionsFile::default())
}

struct Cached<T> {
    stamp: Stamp,
    trusted: bool,
    value: T,
}

/// See the module. Without a project: what holds outside of any.
pub struct Settings {
    paths: AirPaths,
    environment: Arc<Environment>,
    models: Arc<Models>,
    project: Option<RwLock<Project>>,
    config: Mutex<Option<Cached<InForce>>>,
    policy: Mutex<Option<Cached<Policy>>>,
    /// Checks that a scan found, for projects that state none.
    detected: Mutex<Vec<ProjectCheck>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Settings {
    pub fn new(
        paths: AirPaths,
        environment: Arc<Environment>,
        models: Arc<Models>,
        project: Option<Project>,
    ) -> Self {
        let project = project.map(RwLock::new);
        Self {
            paths,
            environment,
            models,
            project,
            config: Mutex::default(),
            policy: Mutex::default(),
            detected: Mutex::default(),
        }
    }

    /// The project as it was last opened.
    pub fn project(&self) -> Option<Project> {
        self.project.as_ref().map(|project| project.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Takes over what opening it again has shown.
    pub fn renew(&self, now: Project) {
        if let Some(project) = &self.project {
            *project.write().unwrap_or_else(PoisonError::into_inner) = now;
        }
    }

    fn root(&self) -> Option<PathBuf> {
        self.project
            .as_ref()
            .map(|project| project.read().unwrap_or_else(PoisonError::into_inner).root.clone())
    }

    /// Whether the user trusts the project.
    pub fn trusted(&self) -> bool {
        self.project
            .as_ref()
            .is_some_and(|project| project.read().unwrap_or_else(PoisonError::into_inner).trusted)
    }

    /// The configuration in force.
    pub fn in_force(&self) -> InForce {
        let mut files = vec![self.paths.config_file(), self.paths.credentials_file()];
        files.extend(self.root().map(|root| root.join(".air/shared/config.yaml")));
        let (stamp, trusted) = (stamp(&files), self.trusted());
        let mut cached = lock(&self.config);
        match cached.as_ref() {
            Some(known) if known.stamp == stamp && known.trusted == trusted => known.value.clone(),
            before => {
                let value = self.load(before.map(|cached| &cached.value), &stamp);
                *cached = Some(Cached { stamp, trusted, value: value.clone() });
                value
            }
        }
    }

    fn load(&self, before: Option<&InForce>, stamp: &Stamp) -> InForce {
        let project = self.project();
        let (config, broken) =
            match Config::load(&self.paths, project.as_ref(), &|name| self.environment.get(name)) {
                Ok(config) => (Arc::new(config), None),
                Err(error) => {
                    tracing::warn!(%error, "the last good configuration stays in force");
                    let last = before
                        .map_or_else(|| Arc::new(Config::built_in()), |before| Arc::clone(&before.config));
                    (last, Some(error.to_string()))
                }
            };
        let credentials = Credentials::load(&self.paths);
        let version = stamp.get(1).copied().flatten().map_or(0, |(seconds, nanos, ..)| {
            seconds.unsigned_abs().wrapping_mul(1_000_000_000).wrapping_add(nanos.unsigned_abs())
        });
        let providers = self.models.manager(&config, &credentials, version);
        let mut warnings = config.warnings.clone();
        warnings.extend(broken);
        warnings.extend(credentials.warnings);
        warnings.extend(providers.as_ref().err().map(ToString::to_string));
        InForce { config, providers, warnings }
    }

    /// Limits of the scheduler.
    pub fn limits(&self) -> SchedulerLimits {
        let config = self.in_force().config;
        let default = SchedulerLimits::default();
        // Numbers of a file are clamped to what makes sense, so none can overflow.
        let number = |key: &str, otherwise: u32| match config.limit(key) {
            Some(value) if value >= 1.0 => value.min(100_000.0) as u32,
            _ => otherwise,
        };
        SchedulerLimits {
            max_workers: number("max_workers", u32::try_from(default.max_workers).unwrap_or(4)) as usize,
            max_attempts: number("max_attempts", default.max_attempts),
            max_model_calls: number("max_model_calls", default.max_model_calls),
            attempt_timeout: match config.limit("attempt_timeout_minutes") {
                Some(minutes) if minutes >= 1.0 => {
                    std::time::Duration::from_secs_f64(minutes.min(100_000.0) * 60.0)
                }
                _ => default.attempt_timeout,
            },
        }
    }

    /// The permission policy in force.
    pub fn policy(&self) -> Policy {
        let root = self.root();
        let mut files = vec![self.paths.permissions_file()];
        files.extend(root.iter().map(|root| root.join(".air/shared/permissions.yaml")));
        let stamp = stamp(&files);
        let mut cached = lock(&self.policy);
        match cached.as_ref() {
            Some(known) if known.stamp == stamp => known.value.clone(),
            before => {
                let loaded = load_permissions(&self.paths, root.as_deref())
                    .and_then(|files| Ok(Policy::merge(rules_of(&files.global)?, rules_of(&files.project)?)));
                let value = match (loaded, before) {
                    (Ok(policy), _) => policy,
                    (Err(error), Some(before)) => {
                        tracing::warn!(%error, "the last good permissions stay in force");
                        before.value.clone()
                    }
                    (Err(error), None) => {
                        tracing::warn!(%error, "no permissions can be read: whatever needs one is asked for");
                        closed()
                    }
                };
                *cached = Some(Cached { stamp, trusted: false, value: value.clone() });
                value
            }
        }
    }

    /// Rule files, and those that could not be used.
    pub fn rules(&self) -> (Vec<RuleFile>, Vec<String>) {
        match self.root() {
            Some(root) => load_rules(&self.paths, &root),
            None => (Vec::new(), Vec::new()),
        }
    }

    /// `project.json` as it is now; as it was opened where it is broken meanwhile.
    pub fn file(&self) -> Option<ProjectFile> {
        let project = self.project()?;
        let read =
            |path: &Path| -> Option<ProjectFile> { serde_json::from_str(&read_to_string(path).ok()??).ok() };
        Some(read(&project.root.join(".air/shared/project.json")).unwrap_or(project.file))
    }

    /// The project's own checks, where its file states them.
    pub fn verify(&self) -> Option<Vec<ProjectCheck>> {
        self.file()?.verify
    }

    /// Takes over what a scan of the tree found.
    pub fn detected(&self, checks: Vec<ProjectCheck>) {
        *lock(&self.detected) = checks;
    }

    /// What prompts say of the project.
    pub fn facts(&self) -> String {
        let Some(mut file) = self.file() else { return String::new() };
        if file.verify.is_none() {
            file.verify = Some(lock(&self.detected).clone());
        }
        project_facts(&file, self.root().as_deref())
    }
}
