//! `turn/*`.

use std::time::Duration;

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{
    Empty, Page, SessionRefParams, TurnContinueParams, TurnInterruptResult, TurnListParams, TurnOutcome,
    TurnRefParams, TurnSubmitParams, TurnSubmitResult, TurnWaitParams,
};
use air_contracts::projection::TurnView;
use air_contracts::task::AgentRole;

use super::{limit, wrong};
use crate::daemon::Daemon;

/// The longest wait of one call.
const LONGEST_WAIT_MS: u64 = 30_000;

pub async fn submit(daemon: &Daemon, _: &Caller, params: TurnSubmitParams) -> Result<TurnSubmitResult> {
    let project = daemon.project(params.project_id).await?;
    if let Some(model) = &params.options.model {
        project.gateway.select(AgentRole::Main, Some(model))?;
    }
    project.sessions.submit(params).await
}

pub async fn interrupt(daemon: &Daemon, _: &Caller, params: SessionRefParams) -> Result<TurnInterruptResult> {
    let project = daemon.project(params.project_id).await?;
    let session = project.store.resolve_session(&params.session).await?;
    Ok(TurnInterruptResult { turn_id: project.sessions.interrupt(session).await? })
}

pub async fn resume(daemon: &Daemon, _: &Caller, params: TurnContinueParams) -> Result<TurnSubmitResult> {
    if params.max_cost_usd.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        return Err(wrong("max_cost_usd: not a number of 0 or more"));
    }
    let project = daemon.project(params.project_id).await?;
    let session = project.store.resolve_session(&params.session).await?;
    project.sessions.continue_turn(session, params.note, params.max_cost_usd).await
}

pub async fn cancel(daemon: &Daemon, _: &Caller, params: TurnRefParams) -> Result<Empty> {
    let project = daemon.project(params.project_id).await?;
    let turn = project.store.resolve_turn(&params.turn).await?;
    project.sessions.cancel_queued(turn).await?;
    Ok(Empty {})
}

pub async fn wait(daemon: &Daemon, _: &Caller, params: TurnWaitParams) -> Result<TurnOutcome> {
    let project = daemon.project(params.project_id).await?;
    let turn = project.store.resolve_turn(&params.turn).await?;
    let limit = Duration::from_millis(params.timeout_ms.min(LONGEST_WAIT_MS));
    project.sessions.wait(turn, limit, params.until_approval).await
}

pub async fn list(daemon: &Daemon, _: &Caller, params: TurnListParams) -> Result<Page<TurnView>> {
    let project = daemon.project(params.project_id).await?;
    let session = project.store.resolve_session(&params.session).await?;
    project.store.turn_views(session, limit(params.limit, 50, 1_000)).await.map(Page::whole)
}
