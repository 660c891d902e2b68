//! `grants.yaml`: what the user has allowed for good in this project.

use std::io::Write as _;
use std::path::PathBuf;

use air_contracts::ids::ApprovalId;
use air_contracts::{AirError, Result, Timestamp};
use serde::{Deserialize, Serialize};

/// One grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub key: String,
    /// For people: what it covers.
    pub covers: String,
    pub approval: ApprovalId,
    pub by: String,
    pub at: Timestamp,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct File {
    #[serde(default)]
    grants: Vec<Grant>,
}

/// The file. It is read at each decision that needs it, so an entry that a person takes out is revoked.
pub(crate) struct Grants {
    path: PathBuf,
}

impl Grants {
    /// The file at this path, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    fn load(&self) -> Result<File> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(File::default()),
            Err(error) => return Err(AirError::io(self.path.display(), &error)),
        };
        if text.trim().is_empty() {
            return Ok(File::default());
        }
        serde_saphyr::from_str(&text).map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &dyn std::fmt::Display) -> AirError {
        let text = format!("{}: {error}", self.path.display());
        AirError::new(air_contracts::error::codes::PERMISSIONS_INVALID, text)
    }

    /// Whether a key is granted. A broken file grants nothing, and says so in the developer log.
    pub fn holds(&self, key: &str) -> Result<bool> {
        match self.load() {
            Ok(file) => Ok(file.grants.iter().any(|grant| grant.key == key)),
            Err(error) => {
                tracing::warn!(%error, "grants are ignored");
                Ok(false)
            }
        }
    }

    /// Adds a grant.
    pub fn add(&self, grant: Grant) -> Result<()> {
        let mut file = self.load()?;
        if file.grants.iter().any(|known| known.key == grant.key) {
            return Ok(());
        }
        file.grants.push(grant);
        let text = serde_saphyr::to_string(&file).map_err(|error| self.broken(&error))?;
        let io = |error: &std::io::Error| AirError::io(self.path.display(), error);
        let folder = self.path.parent().ok_or_else(|| AirError::internal("grants.yaml has no folder"))?;
        // A temporary file of this kind has mode 0600.
        let mut temp = tempfile::NamedTempFile::new_in(folder).map_err(|error| io(&error))?;
        temp.write_all(text.as_bytes())
            .and_then(|()| temp.as_file().sync_all())
            .map_err(|error| io(&error))?;
        temp.persist(&self.path).map(drop).map_err(|error| io(&error.error))
    }
}
