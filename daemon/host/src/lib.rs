//! The machine around the daemon: where files are, which project a folder belongs to, configuration,
//! rules and permissions as they are on disk.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod config;
mod file;
mod locate;
mod paths;
mod permissions;
mod project;
mod rules;

pub use config::{Config, ConfigSource};
pub use file::{read_to_string, write_atomic};
pub use locate::locate_root;
pub use paths::{AirPaths, SOCKET_PATH_MAX, socket_path};
pub use permissions::{LoadedPermissions, load_permissions};
pub use project::{Project, init_project, list_projects, open_project, set_trust};
pub use rules::{RuleFile, RuleScope, load_rules};
