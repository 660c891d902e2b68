//! Known caches of tools, from `caches.toml`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cache {
    #[serde(rename = "name")]
    _name: String,
    #[serde(default)]
    env: Option<String>,
    /// Below the folder that the variable names.
    #[serde(default)]
    below: Option<String>,
    home: String,
}

#[derive(Debug, Deserialize)]
struct Table {
    cache: Vec<Cache>,
}

/// Where the caches of this user are.
pub(crate) struct Caches(Vec<PathBuf>);

impl Caches {
    /// From the data file, the home directory and the environment.
    pub fn load(home: &Path, env: &[(String, String)]) -> Self {
        // The file is part of the program: a test reads it.
        let table: Table = toml::from_str(include_str!("caches.toml")).unwrap_or(Table { cache: Vec::new() });
        let place = |cache: &Cache| {
            let moved = cache.env.as_ref().and_then(|name| env.iter().find(|(known, _)| known == name));
            let moved = moved.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute());
            match (moved, &cache.below) {
                (Some(path), Some(below)) => path.join(below),
                (Some(path), None) => path,
                (None, _) => home.join(&cache.home),
            }
        };
        Self(table.cache.iter().map(place).collect())
    }

    /// Those that exist, canonical.
    pub fn writable(&self) -> Vec<PathBuf> {
        self.0.iter().filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_dir()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_variables_move_a_cache() {
        let env = [("CARGO_HOME".to_owned(), "/c".to_owned()), ("CCACHE_DIR".to_owned(), "/cc".to_owned())];
        let caches = Caches::load(Path::new("/home/u"), &env);
        let holds = |path: &str| caches.0.contains(&PathBuf::from(path));
        assert!(holds("/c/registry") && holds("/cc") && holds("/home/u/.cache/pip"), "{:?}", caches.0);
    }
}
