//! `task/*`, `agent/list`, `evidence/list`.

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{
    AgentListParams, EvidenceListParams, Page, TaskCancelParams, TaskListParams, TaskRefParams,
    TaskRetryParams,
};
use air_contracts::ids::{TaskId, TurnId};
use air_contracts::projection::{AgentView, EvidenceView, TaskView};
use air_contracts::task::AgentRole;
use air_store::{EvidenceFilter, Store};

use super::{limit, optional_session};
use crate::daemon::Daemon;

async fn optional_turn(store: &Store, text: Option<&str>) -> Result<Option<TurnId>> {
    match text {
        Some(text) => store.resolve_turn(text).await.map(Some),
        None => Ok(None),
    }
}

async fn optional_task(store: &Store, text: Option<&str>) -> Result<Option<TaskId>> {
    match text {
        Some(text) => store.resolve_task(text).await.map(Some),
        None => Ok(None),
    }
}

pub async fn list(daemon: &Daemon, _: &Caller, params: TaskListParams) -> Result<Page<TaskView>> {
    let project = daemon.project(params.project_id).await?;
    let session = optional_session(&project.store, params.session.as_deref()).await?;
    let turn = optional_turn(&project.store, params.turn.as_deref()).await?;
    project.store.task_views(session, turn, limit(params.limit, 100, 1_000)).await.map(Page::whole)
}

pub async fn get(daemon: &Daemon, _: &Caller, params: TaskRefParams) -> Result<TaskView> {
    let project = daemon.project(params.project_id).await?;
    let task = project.store.resolve_task(&params.task).await?;
    project.store.task_view(task).await
}

pub async fn cancel(daemon: &Daemon, caller: &Caller, params: TaskCancelParams) -> Result<TaskView> {
    let project = daemon.project(params.project_id).await?;
    let task = project.store.resolve_task(&params.task).await?;
    let reason = params.reason.unwrap_or_else(|| format!("cancelled by {}", caller.name()));
    project.scheduler.cancel_task(task, &reason).await?;
    project.store.task_view(task).await
}

pub async fn retry(daemon: &Daemon, _: &Caller, params: TaskRetryParams) -> Result<TaskView> {
    let project = daemon.project(params.project_id).await?;
    let task = project.store.resolve_task(&params.task).await?;
    if let Some(model) = &params.model {
        project.gateway.select(AgentRole::Executor, Some(model))?;
    }
    project.sessions.retry_task(task, params.note, params.model).await?;
    project.store.task_view(task).await
}

pub async fn agents(daemon: &Daemon, _: &Caller, params: AgentListParams) -> Result<Page<AgentView>> {
    let project = daemon.project(params.project_id).await?;
    let session = optional_session(&project.store, params.session.as_deref()).await?;
    project.store.agent_views(session, params.all).await.map(Page::whole)
}

pub async fn evidence(daemon: &Daemon, _: &Caller, params: EvidenceListParams) -> Result<Page<EvidenceView>> {
    let project = daemon.project(params.project_id).await?;
    let filter = EvidenceFilter {
        task: optional_task(&project.store, params.task.as_deref()).await?,
        turn: optional_turn(&project.store, params.turn.as_deref()).await?,
        session: optional_session(&project.store, params.session.as_deref()).await?,
    };
    project.store.evidence_views(filter).await.map(Page::whole)
}
