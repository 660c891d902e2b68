//! `~/.air/credentials`: keys of providers, for this user alone.
//!
//! A YAML map of provider names to keys. A file that others may read is not used.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use air_host::{AirPaths, read_to_string};
use air_llm::ApiKey;

/// Keys by provider, and what is wrong with the file.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    pub keys: BTreeMap<String, ApiKey>,
    pub warnings: Vec<String>,
}

impl Credentials {
    /// Reads the file. Never fails: what cannot be used is a warning, and the value of a key is in none.
    pub fn load(paths: &AirPaths) -> Self {
        let path = paths.credentials_file();
        let shown = path.display().to_string();
        let warn = |text: String| Self { keys: BTreeMap::new(), warnings: vec![text] };
        let Ok(meta) = path.metadata() else { return Self::default() };
        if meta.mode() & 0o077 != 0 {
            return warn(format!("{shown} is not used: others may read it (chmod 600 {shown})"));
        }
        let text = match read_to_string(&path) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return warn(format!("{shown} is not used: {error}")),
        };
        if text.trim().is_empty() {
            return Self::default();
        }
        match serde_saphyr::from_str::<BTreeMap<String, ApiKey>>(&text) {
            Ok(keys) => Self { keys, warnings: Vec::new() },
            // The parser's message may quote a line of the file.
            Err(_) => warn(format!("{shown} is not used: a map of provider names to keys is expected")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn keys_are_read_for_the_user_alone_and_never_shown() {
        let dir = tempfile::tempdir().unwrap();
        let paths = AirPaths::at(dir.path());
        let check = |text: &str, mode: u32, keys: usize, warning: &str| {
            std::fs::write(paths.credentials_file(), text).unwrap();
            std::fs::set_permissions(paths.credentials_file(), std::fs::Permissions::from_mode(mode))
                .unwrap();
            let read = Credentials::load(&paths);
            assert_eq!(read.keys.len(), keys, "{read:?}");
            let shown = format!("{read:?}");
            assert!(shown.contains(warning) && !shown.contains("sk-1"), "{shown}");
        };
        assert!(Credentials::load(&paths).warnings.is_empty());
        check("anthropic: sk-1\nlocal: sk-1\n", 0o600, 2, "");
        check("anthropic: sk-1\n", 0o644, 0, "chmod 600");
        check("sk-1 is no map", 0o600, 0, "map of provider names");
        check("", 0o600, 0, "");
    }
}
