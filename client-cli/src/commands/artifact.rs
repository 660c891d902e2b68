//! `air artifact`: stored bytes, as they are.

use air_client_tui::ProjectionClientExt as _;
use air_contracts::api::{ArtifactRead, ArtifactReadParams};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::app::App;
use crate::exit::Exit;

pub(super) async fn run(app: &App, id: &str) -> Result<Exit> {
    let opened = app.open().await?;
    let mut offset = 0;
    loop {
        let params =
            ArtifactReadParams { project_id: opened.id(), artifact: id.to_owned(), offset, limit: None };
        let part = opened.client.call::<ArtifactRead>(params).await?;
        if app.out.is_json() {
            app.out.json(&part)?;
        } else {
            let bytes = STANDARD.decode(&part.data_b64).map_err(|error| {
                AirError::new(codes::ARTIFACT_CORRUPT, format!("artifact {}: {error}", part.artifact.short()))
            })?;
            let text = std::str::from_utf8(&bytes).ok().filter(|_| app.out.out_tty);
            match text {
                // Nothing that a command wrote is executed by the terminal.
                Some(text) => app.out.data(air_client_tui::text::escape::visible_block(text).as_bytes()),
                None => app.out.data(&bytes),
            }
        }
        match part.next {
            Some(next) if next > offset => offset = next,
            _ => return Ok(Exit::Ok),
        }
    }
}
