//! What all tools of one project share.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use air_contracts::platform::Platform;
use air_contracts::project::ProjectCheck;
use air_contracts::tool::CallContext;
use air_contracts::{AirError, Result};
use air_security::{Boundaries, Redactor, is_secret_name};

use crate::cancel::LiveCalls;
use crate::deps::ToolDeps;
use crate::desk::ApprovalDesk;
use crate::facts::DiskFacts;
use crate::gate::Grants;
use crate::git::Git;
use crate::seen::SeenFiles;
use crate::shell::{Caches, Runner};

/// Shared by all calls.
pub(crate) struct Kit {
    pub deps: ToolDeps,
    pub redactor: Redactor,
    pub seen: SeenFiles,
    pub git: Git,
    pub runner: Runner,
    pub desk: ApprovalDesk,
    pub grants: Grants,
    pub facts: DiskFacts,
    pub live: Arc<LiveCalls>,
    pub platform: Platform,
    pub caches: Caches,
    /// Environment of commands: secrets taken out, what never waits for a person put in.
    pub env: Vec<(String, String)>,
    /// Names of variables that were taken out.
    pub secret_env: Vec<String>,
    /// Commands of the project's own checks, as far as they were looked up.
    own_checks: Mutex<HashSet<String>>,
}

impl Kit {
    /// From what the daemon gives.
    pub fn new(deps: ToolDeps) -> Self {
        let secrets = || deps.env.iter().filter(|(name, _)| is_secret_name(name));
        let secret_env = secrets().map(|(name, _)| name.clone()).collect();
        // Short values occur in honest text.
        let values = secrets().map(|(_, value)| value.clone()).filter(|value| value.len() >= 6);
        let redactor = Redactor::new(values.collect::<Vec<_>>());
        let caches = Caches::load(&deps.home, &deps.env);
        let env = crate::shell::command_env(&deps.env, &deps.temp_dir());
        Self {
            redactor,
            secret_env,
            env,
            seen: SeenFiles::default(),
            git: Git::new(deps.project_dir.clone()),
            runner: Runner::new(&deps),
            desk: ApprovalDesk::new(deps.clone()),
            grants: Grants::new(deps.project_dir.join("grants.yaml")),
            facts: DiskFacts::new(deps.home.clone()),
            live: Arc::default(),
            platform: air_sandbox::platform(),
            caches,
            own_checks: Mutex::default(),
            deps,
        }
    }

    /// The places that the decisions about a call are made against.
    pub fn boundaries(&self, context: &CallContext) -> Boundaries {
        let mut extra_writable = self.caches.writable();
        extra_writable.push(self.deps.temp_dir());
        extra_writable.push(self.deps.build_dir(context));
        Boundaries {
            workspace_root: context.workspace_root.clone(),
            project_root: self.deps.project_root.clone(),
            home: self.deps.home.clone(),
            air_home: self.deps.air_home.clone(),
            temp: self.temp(&context.workspace_root),
            extra_writable,
        }
    }

    /// The shared folders for temporary files, where nothing that must be protected lies below them: the
    /// kernel's rules can add a tree, not take a part of it out again.
    fn temp(&self, workspace_root: &Path) -> Vec<PathBuf> {
        let protected =
            [&self.deps.air_home, &self.deps.project_dir, &self.deps.project_root, workspace_root];
        let shared = ["/tmp", "/var/tmp"].into_iter().map(PathBuf::from);
        shared.filter(|temp| !protected.iter().any(|path| path.starts_with(temp))).collect()
    }

    /// Whether the kernel can hold the writes of a command to a policy.
    pub fn sandbox_available(&self) -> bool {
        self.platform.landlock_abi > 0
    }

    /// Whether it can keep the network and credentials from a command as well.
    pub fn sandbox_full(&self) -> bool {
        self.sandbox_available() && self.platform.user_namespaces
    }

    /// The project's own checks: those of `project.json`, else what the tree shows.
    pub async fn checks(&self, root: &Path) -> Result<Vec<ProjectCheck>> {
        let checks = match (self.deps.verify)() {
            Some(checks) => checks,
            None => {
                let (root, env) = (root.to_path_buf(), self.env.clone());
                blocking(move || crate::project::detect(&root, &env)).await?
            }
        };
        let mut own = self.own_checks.lock().unwrap_or_else(PoisonError::into_inner);
        own.extend(checks.iter().map(|check| check.command.clone()));
        Ok(checks)
    }

    /// Whether a command is one of the project's own checks.
    pub fn is_own_check(&self, command: &str) -> bool {
        self.own_checks.lock().unwrap_or_else(PoisonError::into_inner).contains(command)
    }

    /// A text without secrets.
    pub fn redact(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    /// A value whose texts hold no secrets.
    pub fn redact_value(&self, value: &serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => Value::String(self.redact(text)),
            Value::Array(items) => items.iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, item)| (key.clone(), self.redact_value(item))).collect()
            }
            other => other.clone(),
        }
    }
}

impl ToolDeps {
    /// Temporary files of this project's commands.
    pub(crate) fn temp_dir(&self) -> PathBuf {
        self.cache_dir.join("tmp").join(self.store.project_id().hex())
    }

    /// Where the checks of a workspace build.
    pub(crate) fn build_dir(&self, context: &CallContext) -> PathBuf {
        self.cache_dir.join("build").join(context.workspace_id.to_string())
    }
}

/// Runs something that blocks on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| AirError::internal(format!("a task ended: {error}")))
}
