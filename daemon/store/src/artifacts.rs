//! Artifacts: files named by the SHA-256 of their bytes, below `artifacts/<first two digits>/`.

use std::collections::HashSet;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use air_contracts::artifact::{ArtifactRef, INLINE_LIMIT, Stored};
use air_contracts::error::codes;
use air_contracts::event::{ArtifactCreated, EventSource, NewEvent};
use air_contracts::ids::{ArtifactId, SessionId, ToolRunId};
use air_contracts::{AirError, Result};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use crate::Store;
use crate::read::Columns;

/// A file that no event refers to is an orphan when it is this old: a call that stores bytes and then
/// logs them is long over.
const ORPHAN_AGE: Duration = Duration::from_secs(3_600);

/// How often a store that is opened again and again is swept.
const SWEEP_EVERY: Duration = Duration::from_secs(24 * 3_600);

/// Files that are looked up in one query.
const SWEPT_AT_ONCE: usize = 4_096;

/// The fewest digits of a hash that name an artifact.
const SHORT_HASH: usize = 6;

const HASH_DIGITS: usize = 64;

impl Store {
    /// Stores bytes durably (temporary name, fsync, rename) and returns a reference. The caller logs it: a
    /// reference inside an event is enough, `artifact.created` tells more.
    pub async fn put_artifact(&self, bytes: &[u8], media_type: &str, name: &str) -> Result<ArtifactRef> {
        let id = ArtifactId::from_uuid(self.inner.ids.next());
        let folder = self.inner.artifacts.clone();
        let owned = bytes.to_vec();
        let hash = blocking(move || write(&folder, &owned, id)).await?;
        let size = bytes.len() as u64;
        Ok(ArtifactRef { id, hash, size, media_type: media_type.to_owned(), name: name.to_owned() })
    }

    /// The event that records an artifact; the caller ingests it with its own events.
    pub fn artifact_event(
        &self,
        artifact: &ArtifactRef,
        session_id: Option<SessionId>,
        run_id: Option<ToolRunId>,
        source: EventSource,
    ) -> NewEvent {
        let body = ArtifactCreated { artifact: artifact.clone(), session_id, run_id };
        NewEvent { session_id, source, task_id: None, agent_id: None, body: body.into() }
    }

    /// The bytes of an artifact.
    ///
    /// # Errors
    /// `artifact.not_found`, or `artifact.corrupt` when the bytes do not have their hash.
    pub async fn read_artifact(&self, artifact: &ArtifactRef) -> Result<Vec<u8>> {
        let path = self.artifact_path(artifact)?;
        let wanted = artifact.clone();
        blocking(move || {
            let bytes = std::fs::read(&path).map_err(|error| unreadable(&wanted, &path, &error))?;
            if hex(&Sha256::digest(&bytes)) == wanted.hash { Ok(bytes) } else { Err(damaged(&wanted, &path)) }
        })
        .await
    }

    /// Up to `limit` bytes from `offset`; fewer at the end. The hash is of the whole and is not checked here.
    pub async fn read_artifact_range(
        &self,
        artifact: &ArtifactRef,
        offset: u64,
        limit: u64,
    ) -> Result<Vec<u8>> {
        let path = self.artifact_path(artifact)?;
        let wanted = artifact.clone();
        blocking(move || {
            let read = || -> std::io::Result<Vec<u8>> {
                let mut file = std::fs::File::open(&path)?;
                file.seek(SeekFrom::Start(offset))?;
                let mut bytes = Vec::new();
                file.take(limit).read_to_end(&mut bytes)?;
                Ok(bytes)
            };
            read().map_err(|error| unreadable(&wanted, &path, &error))
        })
        .await
    }

    /// An artifact by its id, or by at least 6 digits of its hash that fit one content only.
    pub async fn find_artifact(&self, text: &str) -> Result<ArtifactRef> {
        const BY_ID: &str = "SELECT id, hex(hash), size, media_type, name FROM artifacts WHERE id = ?";
        const BY_HASH: &str = "SELECT id, hex(hash), size, media_type, name FROM artifacts \
            WHERE hex(hash) LIKE ? || '%' ORDER BY n DESC";
        let missing = || AirError::new(codes::ARTIFACT_NOT_FOUND, format!("no artifact {text}"));
        if let Ok(id) = text.parse::<ArtifactId>() {
            let query = sqlx::query(BY_ID).bind(id.as_bytes().to_vec());
            return self.row(query, reference).await?.ok_or_else(missing);
        }
        let digits = text.len() <= HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !digits || text.len() < SHORT_HASH {
            return Err(missing().hint("an artifact is named by its id or by at least 6 digits of its hash"));
        }
        let found = self.rows(sqlx::query(BY_HASH).bind(text.to_ascii_uppercase()), reference).await?;
        let first = found.first().ok_or_else(missing)?;
        match found.iter().find(|other| other.hash != first.hash) {
            None => Ok(first.clone()),
            Some(other) => Err(missing().hint(format!(
                "{text} fits {} and {}: give more digits",
                first.short(),
                other.short()
            ))),
        }
    }

    /// A value as events hold it: itself, or above [`INLINE_LIMIT`] bytes of JSON an artifact.
    pub async fn store_value<T: Serialize>(
        &self,
        value: T,
        name: &str,
    ) -> Result<(Stored<T>, Option<ArtifactRef>)> {
        let json =
            serde_json::to_vec(&value).map_err(|error| AirError::internal(format!("{name}: {error}")))?;
        if json.len() <= INLINE_LIMIT {
            return Ok((Stored::Inline { value }, None));
        }
        let artifact = self.put_artifact(&json, "application/json", name).await?;
        Ok((Stored::Artifact { artifact: artifact.clone() }, Some(artifact)))
    }

    /// The value again.
    pub async fn load_value<T: DeserializeOwned + Clone>(&self, stored: &Stored<T>) -> Result<T> {
        match stored {
            Stored::Inline { value } => Ok(value.clone()),
            Stored::Artifact { artifact } => {
                let bytes = self.read_artifact(artifact).await?;
                serde_json::from_slice(&bytes).map_err(|error| {
                    AirError::new(codes::ARTIFACT_CORRUPT, format!("artifact {}: {error}", artifact.short()))
                })
            }
        }
    }

    /// Removes files that no event refers to and that are older than an hour. Returns how many.
    pub async fn sweep_artifacts(&self) -> Result<usize> {
        let folder = self.inner.artifacts.clone();
        let now = self.now();
        let old = blocking(move || Ok(old_files(&folder, now))).await?;
        let mut removed = 0;
        for files in old.chunks(SWEPT_AT_ONCE) {
            let known = self.known_hashes(files).await?;
            // Once more: the same bytes may have been stored meanwhile.
            let orphans = files.iter().filter(|path| !known.contains(&file_name(path)) && is_old(path, now));
            removed += orphans.filter(|path| std::fs::remove_file(path).is_ok()).count();
        }
        Ok(removed)
    }

    async fn known_hashes(&self, files: &[PathBuf]) -> Result<HashSet<String>> {
        const KNOWN: &str =
            "SELECT lower(hex(hash)) FROM artifacts WHERE hash IN (SELECT unhex(value) FROM json_each(?))";
        let names: Vec<String> = files.iter().map(|path| file_name(path)).collect();
        let query = sqlx::query(KNOWN).bind(serde_json::to_string(&names).unwrap_or_default());
        Ok(self.rows(query, |row| row.text(0)).await?.into_iter().collect())
    }

    /// Sweeps, unless that was done within a day. For the background: an error is only logged.
    pub(crate) async fn sweep_daily(&self) {
        let marker = self.inner.artifacts.join("swept");
        let fresh = age(&marker, self.now()).is_some_and(|age| age < SWEEP_EVERY);
        if fresh {
            return;
        }
        match self.sweep_artifacts().await {
            Ok(removed) => {
                if removed > 0 {
                    tracing::info!(removed, "artifacts that nothing refers to were removed");
                }
                if let Err(error) = std::fs::write(&marker, b"") {
                    tracing::warn!(%error, path = %marker.display(), "the sweep was not marked");
                }
            }
            Err(error) => tracing::warn!(%error, "artifacts were not swept"),
        }
    }

    fn now(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.inner.clock.millis()).unwrap_or(0))
    }

    fn artifact_path(&self, artifact: &ArtifactRef) -> Result<PathBuf> {
        let hash = &artifact.hash;
        if hash.len() != HASH_DIGITS || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(AirError::new(
                codes::ARTIFACT_NOT_FOUND,
                format!("{hash:?} is no hash of an artifact"),
            ));
        }
        Ok(self.inner.artifacts.join(&hash[..2]).join(hash))
    }
}

/// Runs file work on the pool for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(AirError::internal(format!("file work ended early: {error}"))))
}

fn write(folder: &Path, bytes: &[u8], id: ArtifactId) -> Result<String> {
    let hash = hex(&Sha256::digest(bytes));
    let home = folder.join(&hash[..2]);
    let target = home.join(&hash);
    let failed = |error: std::io::Error| AirError::io(target.display(), &error);
    // The same content is there: only a whole file has this name. Its age begins anew.
    if std::fs::metadata(&target).is_ok_and(|there| there.len() == bytes.len() as u64) {
        let file = std::fs::File::options().append(true).open(&target).map_err(failed)?;
        file.set_modified(std::time::SystemTime::now()).map_err(failed)?;
        return Ok(hash);
    }
    if !home.is_dir() {
        std::fs::create_dir_all(&home)
            .and_then(|()| std::fs::File::open(folder)?.sync_all())
            .map_err(failed)?;
    }
    let temporary = home.join(format!("{}.tmp", id.hex()));
    let result = write_new(&temporary, bytes).and_then(|()| {
        std::fs::rename(&temporary, &target)?;
        std::fs::File::open(&home)?.sync_all()
    });
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result.map_err(failed)?;
    Ok(hash)
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Files below `folder/*/` that were last changed long before `now`.
fn old_files(folder: &Path, now: Duration) -> Vec<PathBuf> {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    entries(folder)
        .flat_map(|home| entries(&home.path()))
        .map(|file| file.path())
        .filter(|path| is_old(path, now))
        .collect()
}

fn is_old(path: &Path, now: Duration) -> bool {
    age(path, now).is_some_and(|age| age > ORPHAN_AGE)
}

/// How long ago a file was changed.
fn age(path: &Path, now: Duration) -> Option<Duration> {
    let changed = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    Some(now.saturating_sub(changed.duration_since(UNIX_EPOCH).ok()?))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn reference(row: Columns<'_>) -> Result<ArtifactRef> {
    Ok(ArtifactRef {
        id: row.id(0)?,
        hash: row.text(1)?.to_ascii_lowercase(),
        size: row.count(2)?,
        media_type: row.text(3)?,
        name: row.text(4)?,
    })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unreadable(artifact: &ArtifactRef, path: &Path, error: &std::io::Error) -> AirError {
    if error.kind() == std::io::ErrorKind::NotFound {
        let text =
            format!("artifact {} ({}): {} is missing", artifact.short(), artifact.name, path.display());
        return AirError::new(codes::ARTIFACT_NOT_FOUND, text);
    }
    AirError::io(path.display(), error)
}

fn damaged(artifact: &ArtifactRef, path: &Path) -> AirError {
    let text = format!(
        "artifact {} ({}): the bytes of {} do not have this hash",
        artifact.short(),
        artifact.name,
        path.display()
    );
    AirError::new(codes::ARTIFACT_CORRUPT, text)
}
