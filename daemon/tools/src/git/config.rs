//! The configuration of a repository as git reads it.

use std::collections::BTreeMap;
use std::path::Path;

use super::exec::Call;

/// Full keys with their values, in the order in which git reads them; empty where there is no repository.
pub(crate) fn effective_config(repo: &Path) -> BTreeMap<String, Vec<String>> {
    let call = Call::new(repo).args(["config", "--list", "--includes", "-z"]);
    let Ok(done) = call.run_blocking() else { return BTreeMap::new() };
    let mut config: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // What the call itself sets comes last and is not the repository's.
    let own = |key: &str, value: &str| super::exec::is_own_setting(key, value);
    for entry in done.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let text = String::from_utf8_lossy(entry);
        let (key, value) = text.split_once('\n').unwrap_or((&text, "true"));
        if !own(key, value) {
            config.entry(key.to_owned()).or_default().push(value.to_owned());
        }
    }
    config
}
