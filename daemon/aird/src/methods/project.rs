//! `project/*`.

use std::path::Path;
use std::sync::Arc;

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{
    Empty, Page, ProjectInitParams, ProjectInitResult, ProjectOpenParams, ProjectRefParams,
    ProjectTrustParams, ProjectView,
};
use air_host::{Project, init_project, list_projects, open_project, set_trust};

use super::wrong;
use crate::daemon::Daemon;
use crate::registry::mint;
use crate::settings::Settings;

fn absolute(path: &str) -> Result<&Path> {
    let path = Path::new(path);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(wrong(format!("path: {} is not absolute", path.display())))
    }
}

/// A project as clients see it.
fn view(settings: &Settings, project: &Project) -> ProjectView {
    let (rules, mut warnings) = settings.rules();
    warnings.extend(settings.in_force().warnings);
    let file = settings.file().unwrap_or_else(|| project.file.clone());
    ProjectView {
        id: project.id,
        name: file.name,
        root: project.root.display().to_string(),
        trusted: project.trusted,
        profile: file.profile,
        verify: file.verify.unwrap_or_default(),
        created: !project.created.is_empty(),
        rules: rules.into_iter().map(|rule| rule.name).collect(),
        warnings,
    }
}

pub async fn open(daemon: &Daemon, _: &Caller, params: ProjectOpenParams) -> Result<ProjectView> {
    let (project, found) = daemon.projects.open_path(daemon, absolute(&params.path)?).await?;
    Ok(view(&project.settings, &found))
}

pub async fn init(daemon: &Daemon, _: &Caller, params: ProjectInitParams) -> Result<ProjectInitResult> {
    let path = absolute(&params.path)?;
    let find = || init_project(&daemon.paths, path, daemon.home().as_deref(), params.force, || mint(daemon));
    let (project, found) = daemon.projects.open_with(daemon, find).await?;
    Ok(ProjectInitResult { project: view(&project.settings, &found), created: found.created })
}

/// All projects of this home whose root still exists. Opens none.
pub async fn list(daemon: &Daemon, _: &Caller, _: Empty) -> Result<Page<ProjectView>> {
    let mut views = Vec::new();
    for (id, root) in list_projects(&daemon.paths)? {
        if let Some(project) = daemon.projects.opened(id) {
            views.extend(project.settings.project().map(|found| view(&project.settings, &found)));
            continue;
        }
        if !root.join(".air").is_dir() {
            continue;
        }
        // It has an id already: none is minted.
        match open_project(&daemon.paths, &root, daemon.home().as_deref(), || mint(daemon)) {
            Ok(found) => views.push(view(&outside(daemon, &found), &found)),
            Err(error) => tracing::warn!(%error, root = %root.display(), "a project cannot be read"),
        }
    }
    Ok(Page::whole(views))
}

/// Settings of a project that is not open.
pub fn outside(daemon: &Daemon, found: &Project) -> Settings {
    let (environment, models) = (Arc::clone(&daemon.environment), Arc::clone(&daemon.models));
    Settings::new(daemon.paths.clone(), environment, models, Some(found.clone()))
}

pub async fn close(daemon: &Daemon, _: &Caller, params: ProjectRefParams) -> Result<Empty> {
    // Named wrongly is an error; closed already is not.
    if daemon.projects.opened(params.project_id).is_some() {
        daemon.projects.close(params.project_id).await;
    } else {
        known(daemon, &params)?;
    }
    Ok(Empty {})
}

fn known(daemon: &Daemon, params: &ProjectRefParams) -> Result<()> {
    use air_contracts::AirError;
    use air_contracts::error::codes::PROJECT_NOT_FOUND;
    let id = params.project_id;
    let missing = || {
        AirError::new(PROJECT_NOT_FOUND, format!("no project {id}"))
            .hint("air rpc project/list shows those of this home")
    };
    list_projects(&daemon.paths)?.iter().any(|(known, _)| *known == id).then_some(()).ok_or_else(missing)
}

pub async fn trust(daemon: &Daemon, caller: &Caller, params: ProjectTrustParams) -> Result<ProjectView> {
    set_trust(&daemon.paths, params.project_id, params.trusted)?;
    tracing::info!(by = %caller.name(), project = %params.project_id, trusted = params.trusted, "trust was set");
    let root = daemon.project(params.project_id).await?.root.clone();
    // Opening it again reads what was just written.
    let (project, found) = daemon.projects.open_path(daemon, &root).await?;
    Ok(view(&project.settings, &found))
}
