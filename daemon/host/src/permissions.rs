//! Permission files as they are on disk. What they mean is decided in `security`.

use std::path::Path;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use serde_json::Value;

use crate::file::read_to_string;
use crate::paths::AirPaths;

/// Both files as data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadedPermissions {
    /// `~/.air/permissions.yaml`.
    pub global: Value,
    /// `<root>/.air/shared/permissions.yaml`; it can only tighten.
    pub project: Value,
}

/// Reads both files; `null` where one does not exist. `permissions.invalid` names the file that is broken:
/// the caller keeps the last good state, and fails closed where there is none.
pub fn load_permissions(paths: &AirPaths, root: Option<&Path>) -> Result<LoadedPermissions> {
    let global = read(&paths.permissions_file())?;
    let project = match root {
        Some(root) => read(&root.join(".air/shared/permissions.yaml"))?,
        None => Value::Null,
    };
    Ok(LoadedPermissions { global, project })
}

fn read(path: &Path) -> Result<Value> {
    match read_to_string(path)? {
        None => Ok(Value::Null),
        Some(text) if text.trim().is_empty() => Ok(Value::Null),
        Some(text) => serde_saphyr::from_str(&text).map_err(|error| {
            AirError::new(codes::PERMISSIONS_INVALID, format!("{}: {error}", path.display()))
        }),
    }
}
