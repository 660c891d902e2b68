//! Which project a folder belongs to.

use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::{AirError, Result};

/// The root of the project that `path` lies in: the nearest folder with `.air/`, else the git root, else
/// the folder itself; canonical. The home folder and `/` are refused.
pub fn locate_root(path: &Path, home: Option<&Path>) -> Result<PathBuf> {
    let start = path.canonicalize().map_err(|error| AirError::io(path.display(), &error))?;
    if !start.is_dir() {
        let message = format!("{} is not a folder", path.display());
        return Err(AirError::new(codes::PROJECT_NOT_FOUND, message));
    }
    let home = home.and_then(|home| home.canonicalize().ok());
    let refused = |dir: &Path| dir.parent().is_none() || home.as_deref() == Some(dir);
    // `~/.air` is the daemon's own state, so the home folder never counts as a project by it.
    let marked = |marker: &str| start.ancestors().find(|dir| !refused(dir) && dir.join(marker).exists());
    let root = marked(".air").or_else(|| marked(".git")).unwrap_or(&start);
    if refused(root) {
        let message = format!("{} is not taken as a project: it holds far more than one", root.display());
        return Err(AirError::new(codes::PROJECT_ROOT_REFUSED, message)
            .hint("air -C DIR init, with the folder of a project"));
    }
    Ok(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn air_wins_over_git_and_the_home_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let inner = home.join("repo/sub/deep");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(home.join(".air")).unwrap();
        assert_eq!(locate_root(&inner, Some(&home)).unwrap(), inner);
        std::fs::create_dir(home.join("repo/.git")).unwrap();
        assert_eq!(locate_root(&inner, Some(&home)).unwrap(), home.join("repo"));
        std::fs::create_dir(home.join("repo/sub/.air")).unwrap();
        assert_eq!(locate_root(&inner, Some(&home)).unwrap(), home.join("repo/sub"));
        for refused in [&home, Path::new("/")] {
            assert_eq!(locate_root(refused, Some(&home)).unwrap_err().code, codes::PROJECT_ROOT_REFUSED);
        }
    }
}
