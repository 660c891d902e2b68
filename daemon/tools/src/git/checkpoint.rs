//! The state of a tree as a git tree id, through an index of our own.

use std::fs;
use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::workspace::Checkpoint;
use air_contracts::{AirError, Result};

use super::Git;
use super::exclude::patterns;
use super::exec::line;
use super::locate::Repository;

impl Git {
    /// Saves the state of the tree at `root`: untracked files too, what is ignored or built left out. With
    /// a name it is kept under `refs/air/<name>`. Two processes, four with a name.
    pub async fn checkpoint(&self, root: &Path, name: Option<&str>) -> Result<Checkpoint> {
        if let Some(name) = name {
            check_name(name)?;
        }
        let repository = self.locate(root).await?;
        let _one = if repository.shadow { Some(self.shadow.lock().await) } else { None };
        let scratch = self.scratch(&repository).await?;
        let add = repository
            .call()
            .setting(format!("core.excludesFile={}", scratch.excludes.display()))
            .args(["add", "-A", "--ignore-errors", "--", "."])
            .env("GIT_INDEX_FILE", &scratch.index);
        // A tree that is only compared need not outlive a power cut; it is waited for where it is kept.
        let add = if name.is_none() { add.setting("core.fsync=none") } else { add };
        let added = add.run().await?;
        // 1: some file could not be read; the rest is in.
        if !added.ok && added.code != Some(1) {
            return Err(added.error("add"));
        }
        let tree = write_tree(&repository, &scratch.index, name.is_some()).await?;
        let git_ref = match name {
            Some(name) => keep(&repository, &tree, name).await?,
            None => String::new(),
        };
        Ok(Checkpoint { git_ref, tree })
    }

    /// A copy of the user's index, so that unchanged files are not read again, and the patterns to leave out.
    async fn scratch(&self, repository: &Repository) -> Result<Scratch> {
        let (project_dir, repository) = (self.project_dir.clone(), repository.clone());
        crate::kit::blocking(move || {
            let folder = tempfile::Builder::new().prefix("checkpoint-").tempdir_in(&project_dir);
            let folder = folder.map_err(|error| AirError::io(project_dir.display(), &error))?;
            let io = |error: std::io::Error| AirError::io(folder.path().display(), &error);
            let excludes = folder.path().join("excludes");
            let mut text = patterns(&repository.root);
            text.push_str(&user_excludes());
            fs::write(&excludes, text).map_err(io)?;
            // The shadow's index is nobody else's: kept, it saves reading the files again.
            let index = if repository.shadow {
                repository.git_dir.join("index")
            } else {
                folder.path().join("index")
            };
            if !repository.shadow {
                copy_index(&repository.git_dir.join("index"), &index).map_err(io)?;
            }
            Ok(Scratch { index, excludes, _folder: folder })
        })
        .await?
    }
}

struct Scratch {
    index: PathBuf,
    excludes: PathBuf,
    _folder: tempfile::TempDir,
}

/// Copies an index with its time, which git compares to those of the files.
fn copy_index(from: &Path, to: &Path) -> std::io::Result<()> {
    let meta = match fs::metadata(from) {
        Ok(meta) => meta,
        // No commit and nothing staged yet.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    fs::copy(from, to)?;
    let times = fs::FileTimes::new().set_modified(meta.modified()?);
    fs::File::options().write(true).open(to)?.set_times(times)
}

/// What the user excludes everywhere: our own exclude file takes the place of theirs.
fn user_excludes() -> String {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let file = config.or(home).map(|folder| folder.join("git/ignore"));
    file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default()
}

async fn write_tree(repository: &Repository, index: &Path, durable: bool) -> Result<String> {
    let mut call = repository.call().args(["write-tree"]).env("GIT_INDEX_FILE", index);
    if !durable {
        call = call.setting("core.fsync=none");
    }
    if !repository.prefix.is_empty() {
        call = call.args([format!("--prefix={}", repository.prefix)]);
    }
    let done = call.run().await?;
    if done.ok {
        return Ok(line(&done.stdout));
    }
    if !repository.prefix.is_empty() && done.stderr.contains("prefix") {
        // Nothing of the repository lies below the root.
        let empty = repository.call().args(["hash-object", "-w", "-t", "tree", "/dev/null"]).ok().await?;
        return Ok(line(&empty));
    }
    Err(done.error("write-tree"))
}

/// Keeps a tree under a name, as a commit without a parent.
async fn keep(repository: &Repository, tree: &str, name: &str) -> Result<String> {
    let mut call =
        repository.call().args(["commit-tree", tree, "-m"]).args([format!("AirCoding checkpoint {name}")]);
    for (key, value) in [
        ("GIT_AUTHOR_NAME", "AirCoding"),
        ("GIT_AUTHOR_EMAIL", "aircoding@localhost"),
        ("GIT_COMMITTER_NAME", "AirCoding"),
        ("GIT_COMMITTER_EMAIL", "aircoding@localhost"),
    ] {
        call = call.env(key, value);
    }
    let commit = line(&call.ok().await?);
    let git_ref = format!("refs/air/{name}");
    repository.call().args(["update-ref", &git_ref, &commit]).ok().await?;
    Ok(git_ref)
}

/// A name that can stand in a ref (git-check-ref-format(1)), without its rarer characters.
fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let fine = !name.is_empty()
        && name.chars().all(plain)
        && name.split('/').all(|part| {
            !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock") && !part.ends_with('.')
        })
        && !name.contains("..");
    if fine {
        Ok(())
    } else {
        Err(AirError::new(codes::USAGE_VALUE, format!("{name} cannot be the name of a checkpoint")))
    }
}
