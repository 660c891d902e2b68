//! Which repository a tree belongs to.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::SystemTime;

use air_contracts::{AirError, Result};

use super::Git;
use super::exec::{Call, line};

/// The repository of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The root of the tree that tools act on.
    pub root: PathBuf,
    /// The git directory, that of the worktree where it is one.
    pub git_dir: PathBuf,
    /// Where `root` lies within the work tree: empty, or `sub/dir/`.
    pub prefix: String,
    /// Drivers that would start programs when a file is added.
    pub filters: Vec<String>,
    /// Whether it is the runtime's own, of a project without git.
    pub shadow: bool,
}

/// A repository that was found, and what it was found by.
pub(super) struct Known {
    dot_git: Option<PathBuf>,
    config_time: Option<SystemTime>,
    repository: Repository,
}

impl Git {
    /// The repository of the tree at `root`; the shadow repository where there is none.
    pub(super) async fn locate(&self, root: &Path) -> Result<Repository> {
        let dot_git = root.ancestors().map(|folder| folder.join(".git")).find(|path| path.exists());
        let config_time = dot_git.as_deref().and_then(time_of_config);
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = known.get(root)
                && known.dot_git == dot_git
                && known.config_time == config_time
                && known.repository.git_dir.exists()
            {
                return Ok(known.repository.clone());
            }
        }
        let own = match &dot_git {
            Some(_) => of_user(root).await?,
            None => None,
        };
        let repository = match own {
            Some(repository) => repository,
            None => self.shadow_of(root).await?,
        };
        let known = Known { dot_git, config_time, repository: repository.clone() };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(root.to_path_buf(), known);
        Ok(repository)
    }

    async fn shadow_of(&self, root: &Path) -> Result<Repository> {
        let git_dir = self.project_dir.join("shadow.git");
        if !git_dir.join("HEAD").exists() {
            std::fs::create_dir_all(&self.project_dir)
                .map_err(|error| AirError::io(self.project_dir.display(), &error))?;
            let call =
                Call::new(&self.project_dir).args(["init", "-q", "--bare", "--template="]).args([&git_dir]);
            call.ok().await?;
        }
        let filters = filters(&git_dir).await?;
        Ok(Repository { root: root.to_path_buf(), git_dir, prefix: String::new(), filters, shadow: true })
    }
}

/// The user's repository; `None` where git finds none, or the tree is one that it ignores.
async fn of_user(root: &Path) -> Result<Option<Repository>> {
    let done = Call::new(root)
        .args(["rev-parse", "--absolute-git-dir", "--is-inside-work-tree", "--show-prefix"])
        .run()
        .await?;
    if !done.ok {
        return Ok(None);
    }
    let text = line(&done.stdout);
    let mut lines = text.split('\n');
    let (Some(git_dir), Some("true")) = (lines.next(), lines.next()) else { return Ok(None) };
    let prefix = lines.next().unwrap_or_default().to_owned();
    if !prefix.is_empty() {
        let ignored = Call::new(root).args(["check-ignore", "-q", "."]).run().await?;
        if ignored.ok {
            return Ok(None);
        }
    }
    let git_dir = PathBuf::from(git_dir);
    let filters = filters(root).await?;
    Ok(Some(Repository { root: root.to_path_buf(), git_dir, prefix, filters, shadow: false }))
}

/// Names of the filter drivers that are configured.
async fn filters(directory: &Path) -> Result<Vec<String>> {
    let call = Call::new(directory).args([
        "config",
        "-z",
        "--name-only",
        "--includes",
        "--get-regexp",
        r"^filter\.",
    ]);
    let done = call.run().await?;
    let mut names: Vec<String> = done
        .stdout
        .split(|byte| *byte == 0)
        .filter_map(|key| {
            let key = String::from_utf8_lossy(key).into_owned();
            let (name, _) = key.strip_prefix("filter.")?.rsplit_once('.')?;
            Some(name.to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn time_of_config(dot_git: &Path) -> Option<SystemTime> {
    let config = if dot_git.is_dir() { dot_git.join("config") } else { dot_git.to_path_buf() };
    std::fs::metadata(config).and_then(|meta| meta.modified()).ok()
}

impl Repository {
    /// A call on this repository, from the root of the tree.
    pub(super) fn call(&self) -> Call {
        let mut call = Call::new(&self.root);
        for name in &self.filters {
            for key in ["clean", "smudge", "process"] {
                call = call.setting(format!("filter.{name}.{key}="));
            }
            call = call.setting(format!("filter.{name}.required=false"));
        }
        if self.shadow {
            call = call.env("GIT_DIR", &self.git_dir).env("GIT_WORK_TREE", &self.root);
        }
        call
    }
}
