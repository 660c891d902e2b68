//! What differs between two trees.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use air_contracts::Result;
use air_contracts::api::Changes;
use air_contracts::path::WirePath;
use air_contracts::workspace::FileChange;

use super::Git;

/// Options of both calls: nothing configured takes part, every change is of one path.
const OPTIONS: &[&str] = &["diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv"];

impl Git {
    /// Files and a whole patch, only below `paths` where given (relative to the root).
    pub async fn changes(&self, root: &Path, from: &str, to: &str, paths: &[String]) -> Result<Changes> {
        let mut changes =
            Changes { from: from.to_owned(), to: to.to_owned(), files: Vec::new(), patch: String::new() };
        if from == to {
            return Ok(changes);
        }
        let repository = self.locate(root).await?;
        let call = |options: &[&str]| {
            repository.call().args(OPTIONS).args(options).args([from, to, "--"]).args(paths)
        };
        let (files, patch) = tokio::join!(
            call(&["-z", "--raw", "--numstat"]).ok(),
            call(&["-p", "--binary", "--full-index"]).ok()
        );
        changes.files = parse(&files?);
        // A patch that is not UTF-8 cannot be a JSON text; the bytes it cannot hold are shown as U+FFFD.
        changes.patch = String::from_utf8_lossy(&patch?).into_owned();
        Ok(changes)
    }
}

/// Reads `--raw --numstat -z`: entries end in NUL, raw ones begin with a colon and their path follows.
fn parse(bytes: &[u8]) -> Vec<FileChange> {
    let mut files: BTreeMap<Vec<u8>, FileChange> = BTreeMap::new();
    let mut entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    while let Some(entry) = entries.next() {
        if entry.starts_with(b":") {
            let Some(path) = entries.next() else { break };
            let letter = entry.rsplit(|byte| *byte == b' ').next().and_then(|status| status.first());
            let status = match letter {
                Some(b'A') => "added",
                Some(b'D') => "deleted",
                Some(b'T') => "type_changed",
                _ => "modified",
            };
            let wire = WirePath::new(Path::new(OsStr::from_bytes(path)));
            files.insert(
                path.to_vec(),
                FileChange { path: wire, status: status.to_owned(), added: None, removed: None },
            );
            continue;
        }
        let mut parts = entry.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if let Some(file) = files.get_mut(path) {
            let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
            (file.added, file.removed) = (number(added), number(removed));
        }
    }
    files.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_and_numstat_are_joined_by_path() {
        let text =
            b":100644 100644 a b M\0src/a b.c\0:000000 100644 0 c A\0bin\0\x33\t1\tsrc/a b.c\0-\t-\tbin\0";
        let files = parse(text);
        assert_eq!(files.len(), 2);
        assert_eq!((files[0].status.as_str(), files[0].added), ("added", None));
        assert_eq!((files[1].added, files[1].removed), (Some(3), Some(1)));
        assert_eq!(files[1].path, WirePath::Path("src/a b.c".into()));
    }
}
