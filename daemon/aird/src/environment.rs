//! The environment of the daemon, as it was when it started.

use std::collections::BTreeMap;

/// Variables that belong to the daemon's own life, not to what it starts.
const OWN: [&str; 6] =
    ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// Variables by name. Values may be secrets: this type prints none.
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Copies the environment; what is not UTF-8 is left out.
    pub fn capture() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// A variable.
    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// What commands start from, before secrets are taken out.
    pub fn for_commands(&self) -> Vec<(String, String)> {
        let kept = self.0.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}
