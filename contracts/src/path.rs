//! Paths in JSON: `path` where they are UTF-8, `path_b64` where they are not; never lossy.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path as it goes over the wire. Relative to the workspace root where it lies inside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WirePath {
    /// A UTF-8 path.
    Path(String),
    /// Any other path, in standard base64 with padding (RFC 4648, section 4).
    PathB64(String),
}

impl WirePath {
    /// Wraps a path without losing a byte.
    pub fn new(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Path(text.to_owned()),
            None => Self::PathB64(STANDARD.encode(path.as_os_str().as_bytes())),
        }
    }

    /// The path inside. Invalid base64 gives its own text as a path, which then does not exist.
    pub fn to_path(&self) -> PathBuf {
        match self {
            Self::Path(text) => PathBuf::from(text),
            Self::PathB64(text) => match STANDARD.decode(text) {
                Ok(bytes) => PathBuf::from(std::ffi::OsString::from_vec(bytes)),
                Err(_) => PathBuf::from(OsStr::new(text)),
            },
        }
    }

    /// For people: invalid bytes are shown as U+FFFD.
    pub fn display(&self) -> String {
        self.to_path().to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_utf8_survive() {
        for raw in [&b"src/a.cpp"[..], &b"src/\xff\xfe.cpp"[..]] {
            let path = PathBuf::from(std::ffi::OsString::from_vec(raw.to_vec()));
            let json = serde_json::to_string(&WirePath::new(&path)).unwrap();
            let back: WirePath = serde_json::from_str(&json).unwrap();
            assert_eq!(back.to_path(), path);
        }
    }
}
