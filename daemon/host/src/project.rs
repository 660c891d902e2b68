//! Projects: their committed part (`<root>/.air/shared`) and their private part
//! (`$AIR_HOME/projects/<id>`, with a link `<root>/.air/local` to it).

use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::ids::ProjectId;
use air_contracts::project::{PROJECT_FORMAT, ProjectFile, ProjectProfile};
use air_contracts::{AirError, Result};
use serde::{Deserialize, Serialize};

use crate::file::{read_to_string, write_atomic};
use crate::locate::locate_root;
use crate::paths::AirPaths;

/// An opened project.
#[derive(Debug, Clone)]
pub struct Project {
    pub id: ProjectId,
    /// Canonical.
    pub root: PathBuf,
    /// Its private state.
    pub dir: PathBuf,
    pub file: ProjectFile,
    pub trusted: bool,
    /// Parts that this call made, relative to the root.
    pub created: Vec<String>,
}

/// What is kept about a project outside of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Registration {
    root: PathBuf,
    #[serde(default)]
    trusted: bool,
}

const GITIGNORE: &str = "# The private state of AirCoding on this machine.\nlocal\n";

/// Opens the project that `path` lies in; makes what is missing of `.air/`.
pub fn open_project(
    paths: &AirPaths,
    path: &Path,
    home: Option<&Path>,
    mint: impl FnOnce() -> ProjectId,
) -> Result<Project> {
    let root = locate_root(path, home)?;
    open_root(paths, root, mint)
}

/// Makes `.air/` in `path` itself, whatever is above it.
pub fn init_project(
    paths: &AirPaths,
    path: &Path,
    home: Option<&Path>,
    force: bool,
    mint: impl FnOnce() -> ProjectId,
) -> Result<Project> {
    let root = path.canonicalize().map_err(|error| AirError::io(path.display(), &error))?;
    // The same refusals as for opening, but the folder itself is the root.
    locate_root(&root, home)?;
    let file = root.join(".air/shared/project.json");
    if force && read_project_file(&file).is_err() {
        let kept = file.with_extension("json.broken");
        std::fs::rename(&file, &kept).map_err(|error| AirError::io(file.display(), &error))?;
    }
    open_root(paths, root, mint)
}

fn open_root(paths: &AirPaths, root: PathBuf, mint: impl FnOnce() -> ProjectId) -> Result<Project> {
    let shared = root.join(".air/shared/project.json");
    let known = read_project_file(&shared)?;
    let id = match find_id(paths, &root)? {
        Some(id) => id,
        None => mint(),
    };
    let dir = paths.project_dir(id);
    make_private(&dir)?;
    let registration = registration(&dir)?;
    let trusted = registration.as_ref().is_some_and(|known| known.trusted);
    if registration.is_none_or(|known| known.root != root) {
        register(&dir, &Registration { root: root.clone(), trusted })?;
    }
    let mut created = Vec::new();
    let file = match known {
        Some(file) => file,
        None => {
            let file = new_project_file(&root);
            let text =
                serde_json::to_string_pretty(&file).map_err(|error| AirError::internal(error.to_string()))?;
            write_atomic(&shared, format!("{text}\n").as_bytes(), 0o644)?;
            created.push(".air/shared/project.json".to_owned());
            file
        }
    };
    let ignore = root.join(".air/.gitignore");
    if !ignore.exists() {
        write_atomic(&ignore, GITIGNORE.as_bytes(), 0o644)?;
        created.push(".air/.gitignore".to_owned());
    }
    link(&root.join(".air/local"), &dir)?;
    Ok(Project { id, root, dir, file, trusted, created })
}

fn new_project_file(root: &Path) -> ProjectFile {
    let name =
        root.file_name().map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned());
    ProjectFile { name, format: PROJECT_FORMAT, profile: ProjectProfile::default(), verify: None }
}

fn read_project_file(path: &Path) -> Result<Option<ProjectFile>> {
    let Some(text) = read_to_string(path)? else { return Ok(None) };
    let file: ProjectFile = serde_json::from_str(&text).map_err(|error| {
        AirError::new(codes::PROJECT_INVALID, format!("{}: {error}", path.display()))
            .hint("air init --force keeps the broken file beside a new one")
    })?;
    if file.format > PROJECT_FORMAT {
        let message =
            format!("{} has format {}, this build knows {PROJECT_FORMAT}", path.display(), file.format);
        return Err(AirError::new(codes::PROJECT_INVALID, message).hint("update air; nothing was touched"));
    }
    Ok(Some(file))
}

/// The id that this root has: by its link, else by the register. A copy whose original still stands has none.
fn find_id(paths: &AirPaths, root: &Path) -> Result<Option<ProjectId>> {
    if let Some(id) = linked_id(root) {
        match registration(&paths.project_dir(id))? {
            Some(known) if known.root == root || !known.root.join(".air").exists() => return Ok(Some(id)),
            _ => {}
        }
    }
    Ok(list_projects(paths)?.into_iter().find(|(_, known)| known == root).map(|(id, _)| id))
}

fn linked_id(root: &Path) -> Option<ProjectId> {
    let target = std::fs::read_link(root.join(".air/local")).ok()?;
    target.file_name()?.to_str()?.parse().ok()
}

/// All projects of this home: id and root.
pub fn list_projects(paths: &AirPaths) -> Result<Vec<(ProjectId, PathBuf)>> {
    let dir = paths.projects_dir();
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(AirError::io(dir.display(), &error)),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<ProjectId>().ok()) else {
            continue;
        };
        if let Some(known) = registration(&entry.path())? {
            found.push((id, known.root));
        }
    }
    found.sort();
    Ok(found)
}

/// Trusts a project, or no longer.
pub fn set_trust(paths: &AirPaths, id: ProjectId, trusted: bool) -> Result<()> {
    let dir = paths.project_dir(id);
    let Some(known) = registration(&dir)? else {
        return Err(AirError::new(codes::PROJECT_NOT_FOUND, format!("no project {id}")));
    };
    register(&dir, &Registration { trusted, ..known })
}

fn registration(dir: &Path) -> Result<Option<Registration>> {
    let path = dir.join("registration.json");
    let Some(text) = read_to_string(&path)? else { return Ok(None) };
    let known = serde_json::from_str(&text)
        .map_err(|error| AirError::new(codes::PROJECT_INVALID, format!("{}: {error}", path.display())))?;
    Ok(Some(known))
}

fn register(dir: &Path, registration: &Registration) -> Result<()> {
    let text =
        serde_json::to_string_pretty(registration).map_err(|error| AirError::internal(error.to_string()))?;
    write_atomic(&dir.join("registration.json"), text.as_bytes(), 0o600)
}

fn make_private(dir: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| AirError::io(dir.display(), &error))
}

/// Makes `link` point to `target`, whatever it was.
fn link(link: &Path, target: &Path) -> Result<()> {
    if std::fs::read_link(link).is_ok_and(|now| now == target) {
        return Ok(());
    }
    if link.symlink_metadata().is_ok_and(|meta| !meta.file_type().is_symlink()) {
        let message =
            format!("{} is not a link, and holds something that is not of AirCoding", link.display());
        return Err(
            AirError::new(codes::PROJECT_INVALID, message).hint(format!("move {} away", link.display()))
        );
    }
    let beside = link.with_file_name(format!(".local.{}", std::process::id()));
    std::os::unix::fs::symlink(target, &beside).map_err(|error| AirError::io(beside.display(), &error))?;
    std::fs::rename(&beside, link).map_err(|error| AirError::io(link.display(), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        _dir: tempfile::TempDir,
        base: PathBuf,
        paths: AirPaths,
        minted: std::cell::Cell<u128>,
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let base = dir.path().canonicalize().unwrap();
            let paths = AirPaths::at(&base.join("home"));
            Self { _dir: dir, base, paths, minted: std::cell::Cell::new(0) }
        }

        fn folder(&self, name: &str) -> PathBuf {
            let folder = self.base.join(name);
            std::fs::create_dir_all(&folder).unwrap();
            folder
        }

        fn open(&self, path: &Path) -> Result<Project> {
            open_project(&self.paths, path, None, || {
                self.minted.set(self.minted.get() + 1);
                ProjectId::from_uuid(uuid::Uuid::from_u128(self.minted.get()))
            })
        }
    }

    #[test]
    fn a_moved_root_keeps_its_id_and_a_copy_gets_a_new_one() {
        let fixture = Fixture::new();
        let first = fixture.open(&fixture.folder("a")).unwrap();
        assert_eq!(first.created, [".air/shared/project.json", ".air/.gitignore"]);
        let again = fixture.open(&fixture.base.join("a")).unwrap();
        assert_eq!((again.id, again.created.len()), (first.id, 0));

        std::process::Command::new("cp")
            .args(["-a", "a", "copy"])
            .current_dir(&fixture.base)
            .status()
            .unwrap();
        assert_ne!(fixture.open(&fixture.base.join("copy")).unwrap().id, first.id);

        std::fs::rename(fixture.base.join("a"), fixture.base.join("moved")).unwrap();
        let moved = fixture.open(&fixture.base.join("moved")).unwrap();
        assert_eq!(moved.id, first.id);
        assert_eq!(std::fs::read_link(moved.root.join(".air/local")).unwrap(), moved.dir);
    }

    #[test]
    fn trust_is_kept_and_a_broken_or_newer_file_is_refused_untouched() {
        let fixture = Fixture::new();
        let project = fixture.open(&fixture.folder("a")).unwrap();
        set_trust(&fixture.paths, project.id, true).unwrap();
        assert!(fixture.open(&project.root).unwrap().trusted);
        let file = project.root.join(".air/shared/project.json");
        for (text, word) in [("{", "project.json"), ("{\"name\":\"a\",\"format\":99}", "format 99")] {
            std::fs::write(&file, text).unwrap();
            let error = fixture.open(&project.root).unwrap_err();
            assert_eq!(error.code, codes::PROJECT_INVALID);
            assert!(error.message.contains(word), "{}", error.message);
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
