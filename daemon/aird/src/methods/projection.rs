//! `projection/*`, `item/list`, `tool_run/list`.

use air_api::{Caller, follow_projection, projection_snapshot};
use air_contracts::Result;
use air_contracts::api::{
    ItemListParams, Page, SessionRefParams, SubscribeParams, SubscribeResult, ToolRunListParams,
};
use air_contracts::projection::{ItemView, ProjectionSnapshot, ToolRunView};
use air_store::ToolRunFilter;

use super::{limit, optional_session};
use crate::daemon::Daemon;

pub async fn snapshot(daemon: &Daemon, _: &Caller, params: SessionRefParams) -> Result<ProjectionSnapshot> {
    let project = daemon.project(params.project_id).await?;
    let session = project.store.resolve_session(&params.session).await?;
    projection_snapshot(&daemon.projection(&project), session).await
}

pub async fn subscribe(daemon: &Daemon, caller: &Caller, params: SubscribeParams) -> Result<SubscribeResult> {
    let project = daemon.project(params.project_id).await?;
    let session = project.store.resolve_session(&params.session).await?;
    let source = daemon.projection(&project);
    let seq = project.store.last_seq();
    let key = format!("projection {} {session}", project.id);
    caller.stream("projection/subscribe", key, move |notifier| {
        follow_projection(source, session, params.after_seq, notifier)
    })?;
    Ok(SubscribeResult { seq })
}

pub async fn items(daemon: &Daemon, _: &Caller, params: ItemListParams) -> Result<Page<ItemView>> {
    let project = daemon.project(params.project_id).await?;
    let session = project.store.resolve_session(&params.session).await?;
    let limit = limit(params.limit, 100, 500);
    let items = project.store.items(session, params.before, limit).await?;
    // The page before begins where this one does; a page that is not full was the first.
    let next = if items.len() < limit as usize { None } else { items.first().map(|item| item.seq) };
    Ok(Page { items, next })
}

pub async fn tool_runs(daemon: &Daemon, _: &Caller, params: ToolRunListParams) -> Result<Page<ToolRunView>> {
    let project = daemon.project(params.project_id).await?;
    let store = &project.store;
    if let Some(run) = &params.run {
        let id = store.resolve_run(run).await?;
        return Ok(Page::whole(vec![store.tool_run_view(id).await?]));
    }
    let task = match &params.task {
        Some(task) => Some(store.resolve_task(task).await?),
        None => None,
    };
    let filter = ToolRunFilter {
        session: optional_session(store, params.session.as_deref()).await?,
        turn: None,
        task,
        limit: Some(limit(params.limit, 50, 1_000)),
    };
    store.tool_run_views(filter).await.map(Page::whole)
}
