//! `session/*`, `draft/*`, `ui_state/*`.

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{
    Draft, DraftSetParams, Empty, Page, SessionConfigureParams, SessionCreateParams, SessionListParams,
    SessionRefParams, UiState, UiStateGetParams, UiStateSetParams,
};
use air_contracts::event::{EventSource, NewEvent, SessionConfigured, SourceKind};
use air_contracts::projection::SessionView;
use air_contracts::session::SessionLimits;
use air_contracts::task::AgentRole;

use super::{limit, wrong};
use crate::daemon::Daemon;
use crate::project::OpenProject;

/// Bytes of a draft.
const DRAFT: usize = 1 << 20;
/// Bytes of one value of a user interface.
const UI_STATE: usize = 64 << 10;

/// A model that cannot be had is refused when it is set, not when it is needed.
fn check_model(project: &OpenProject, model: Option<&str>) -> Result<()> {
    match model {
        Some(model) => project.gateway.select(AgentRole::Main, Some(model)).map(drop),
        None => Ok(()),
    }
}

fn check_limits(limits: &SessionLimits) -> Result<()> {
    match limits.max_cost_usd {
        Some(cost) if !cost.is_finite() || cost < 0.0 => {
            Err(wrong("limits.max_cost_usd: not a number of 0 or more"))
        }
        _ => Ok(()),
    }
}

pub async fn create(daemon: &Daemon, _: &Caller, params: SessionCreateParams) -> Result<SessionView> {
    let project = daemon.project(params.project_id).await?;
    check_model(&project, params.settings.model.as_deref())?;
    check_limits(&params.settings.limits)?;
    let id = project.sessions.create_session(params.settings).await?;
    project.store.session_view(id).await
}

pub async fn list(daemon: &Daemon, _: &Caller, params: SessionListParams) -> Result<Page<SessionView>> {
    let project = daemon.project(params.project_id).await?;
    project.store.session_views(limit(params.limit, 50, 1_000)).await.map(Page::whole)
}

pub async fn get(daemon: &Daemon, _: &Caller, params: SessionRefParams) -> Result<SessionView> {
    let project = daemon.project(params.project_id).await?;
    let id = project.store.resolve_session(&params.session).await?;
    project.store.session_view(id).await
}

pub async fn configure(
    daemon: &Daemon,
    caller: &Caller,
    params: SessionConfigureParams,
) -> Result<SessionView> {
    let project = daemon.project(params.project_id).await?;
    let session_id = project.store.resolve_session(&params.session).await?;
    check_model(&project, params.model.as_deref())?;
    let mut settings = project.store.session(session_id).await?.settings;
    if let Some(limits) = params.limits {
        check_limits(&limits)?;
        settings.limits = limits;
    }
    settings.title = params.title.or(settings.title);
    settings.model = params.model.or(settings.model);
    settings.approve = params.approve.unwrap_or(settings.approve);
    let source = EventSource::new(SourceKind::Client, caller.name());
    let configured = SessionConfigured { session_id, settings };
    project.store.ingest(vec![NewEvent::new(session_id, source, configured)]).await?;
    project.store.session_view(session_id).await
}

pub async fn close(daemon: &Daemon, _: &Caller, params: SessionRefParams) -> Result<Empty> {
    let project = daemon.project(params.project_id).await?;
    let id = project.store.resolve_session(&params.session).await?;
    project.sessions.close_session(id).await?;
    Ok(Empty {})
}

pub async fn draft(daemon: &Daemon, _: &Caller, params: SessionRefParams) -> Result<Draft> {
    let project = daemon.project(params.project_id).await?;
    let id = project.store.resolve_session(&params.session).await?;
    Ok(Draft { text: project.store.draft(id).await? })
}

pub async fn set_draft(daemon: &Daemon, _: &Caller, params: DraftSetParams) -> Result<Empty> {
    if params.text.len() > DRAFT {
        return Err(wrong(format!("text: {} bytes; {DRAFT} are the limit", params.text.len())));
    }
    let project = daemon.project(params.project_id).await?;
    let id = project.store.resolve_session(&params.session).await?;
    project.store.set_draft(id, &params.text).await?;
    Ok(Empty {})
}

pub async fn ui_state(daemon: &Daemon, _: &Caller, params: UiStateGetParams) -> Result<UiState> {
    let project = daemon.project(params.project_id).await?;
    Ok(UiState { value: project.store.ui_state(&params.key).await? })
}

pub async fn set_ui_state(daemon: &Daemon, _: &Caller, params: UiStateSetParams) -> Result<Empty> {
    let size = params.value.to_string().len();
    if size > UI_STATE {
        return Err(wrong(format!("value: {size} bytes; {UI_STATE} are the limit")));
    }
    if params.key.is_empty() || params.key.len() > 200 {
        return Err(wrong("key: 1 to 200 bytes"));
    }
    let project = daemon.project(params.project_id).await?;
    project.store.set_ui_state(&params.key, &params.value).await?;
    Ok(Empty {})
}
