//! `config/get`, `provider/list`, `tool/list`.

use std::path::Path;
use std::sync::Arc;

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{ConfigGetParams, ConfigGetResult, Empty, Page};
use air_contracts::provider::ProviderStatus;
use air_contracts::tool::ToolDefinition;
use air_host::{list_projects, locate_root, open_project};
use serde_json::Value;

use super::project::outside;
use crate::daemon::Daemon;
use crate::redact::redact;
use crate::registry::mint;
use crate::settings::Settings;

/// The settings that hold in a folder. Makes and opens no project: one that is not known has none of its own.
pub fn settings_at(daemon: &Daemon, path: Option<&str>) -> Result<Arc<Settings>> {
    let Some(path) = path else { return Ok(Arc::clone(&daemon.settings)) };
    let Ok(root) = locate_root(Path::new(path), daemon.home().as_deref()) else {
        return Ok(Arc::clone(&daemon.settings));
    };
    let Some((id, root)) = list_projects(&daemon.paths)?.into_iter().find(|(_, known)| *known == root) else {
        return Ok(Arc::clone(&daemon.settings));
    };
    if let Some(project) = daemon.projects.opened(id) {
        return Ok(Arc::clone(&project.settings));
    }
    let found = open_project(&daemon.paths, &root, daemon.home().as_deref(), || mint(daemon))?;
    Ok(Arc::new(outside(daemon, &found)))
}

pub async fn get(daemon: &Daemon, _: &Caller, params: ConfigGetParams) -> Result<ConfigGetResult> {
    let in_force = settings_at(daemon, params.path.as_deref())?.in_force();
    let mut config = in_force.config.value.clone();
    redact(&mut config);
    let sources = in_force.config.sources.iter();
    let sources: serde_json::Map<String, Value> =
        sources.map(|(key, source)| (key.clone(), Value::from(source.to_string()))).collect();
    Ok(ConfigGetResult { config, sources: Value::Object(sources), warnings: in_force.warnings })
}

pub async fn providers(daemon: &Daemon, _: &Caller, _: Empty) -> Result<Page<ProviderStatus>> {
    Ok(Page::whole(daemon.settings.in_force().providers?.statuses()))
}

/// The tools of the open projects: all have the built-in ones.
pub async fn tools(daemon: &Daemon, _: &Caller, _: Empty) -> Result<Page<ToolDefinition>> {
    let mut all: Vec<ToolDefinition> = Vec::new();
    for project in daemon.projects.open() {
        for definition in project.tools.definitions() {
            if !all.iter().any(|known| known.name == definition.name) {
                all.push(definition);
            }
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Page::whole(all))
}
