//! `artifact/read`.

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{ArtifactReadParams, ArtifactReadResult};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::wrong;
use crate::daemon::Daemon;

/// Bytes of one part.
const PART: u64 = 1 << 20;

pub async fn read(daemon: &Daemon, _: &Caller, params: ArtifactReadParams) -> Result<ArtifactReadResult> {
    let project = daemon.project(params.project_id).await?;
    let artifact = project.store.find_artifact(&params.artifact).await?;
    if params.offset > artifact.size {
        return Err(wrong(format!("offset: {} is behind the end, at {}", params.offset, artifact.size)));
    }
    let limit = params.limit.unwrap_or(PART).min(PART);
    let bytes = project.store.read_artifact_range(&artifact, params.offset, limit).await?;
    let end = params.offset + bytes.len() as u64;
    let next = (end < artifact.size && !bytes.is_empty()).then_some(end);
    Ok(ArtifactReadResult { artifact, offset: params.offset, data_b64: STANDARD.encode(&bytes), next })
}
