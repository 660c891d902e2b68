//! `context/get`, `usage/get`.

use air_api::Caller;
use air_contracts::api::{ContextGetParams, ContextGetResult, UsageGetParams, UsageGetResult};
use air_contracts::error::codes;
use air_contracts::projection::ContextView;
use air_contracts::{AirError, Result};

use super::optional_session;
use crate::daemon::Daemon;
use crate::project::OpenProject;

/// Requests of one list.
const LISTED: usize = 100;

pub async fn get(daemon: &Daemon, _: &Caller, params: ContextGetParams) -> Result<ContextGetResult> {
    let project = daemon.project(params.project_id).await?;
    if let Some(request) = &params.request {
        return Ok(ContextGetResult {
            requests: Vec::new(),
            context: Some(opened(&project, request).await?),
        });
    }
    let session = project.store.resolve_session(params.session.as_deref().unwrap_or("latest")).await?;
    let mut requests = project.store.requests(session).await?;
    requests.sort_by_key(|request| std::cmp::Reverse(request.short.n));
    requests.truncate(LISTED);
    Ok(ContextGetResult { requests, context: None })
}

async fn opened(project: &OpenProject, request: &str) -> Result<ContextView> {
    let id = project.store.resolve_request(request).await?;
    let row = project.store.request(id).await?;
    let all = project.store.requests(row.assembled.session_id).await?;
    let missing = || AirError::new(codes::REQUEST_NOT_FOUND, format!("no model request {request}"));
    let view = all.into_iter().find(|view| view.id == id).ok_or_else(missing)?;
    let json = |error: serde_json::Error| AirError::internal(error.to_string());
    let body = serde_json::to_value(project.context.rebuild(id).await?).map_err(json)?;
    Ok(ContextView {
        request: view,
        assembled: serde_json::to_value(&row.assembled).map_err(json)?,
        body: Some(body),
    })
}

pub async fn usage(daemon: &Daemon, _: &Caller, params: UsageGetParams) -> Result<UsageGetResult> {
    let project = daemon.project(params.project_id).await?;
    let session = optional_session(&project.store, params.session.as_deref()).await?;
    let mut usage = project.store.usage_result(session).await?;
    if session.is_some() && usage.limit_usd.is_none() {
        usage.limit_usd = project.settings.in_force().config.limit("max_cost_usd_per_session");
    }
    Ok(usage)
}
