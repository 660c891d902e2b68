//! `changes/get`: what differs between two checkpoints, or a checkpoint and now.

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{Changes, ChangesGetParams};
use air_contracts::event::WorkspaceCheckpointed;
use air_contracts::ids::{SessionId, TaskId, TurnId};
use air_contracts::port::ToolExecutor as _;
use air_contracts::workspace::WorkspaceRef;

use crate::daemon::Daemon;
use crate::project::OpenProject;

/// Turns of a session that are looked through.
const TURNS: u32 = 1_000;

/// Two states of one tree. `None`: as it is now.
struct Span {
    workspace: WorkspaceRef,
    from: Option<String>,
    to: Option<String>,
}

pub async fn get(daemon: &Daemon, _: &Caller, params: ChangesGetParams) -> Result<Changes> {
    let project = daemon.project(params.project_id).await?;
    let store = &project.store;
    let span = match (&params.task, &params.turn) {
        (Some(task), _) => of_task(&project, store.resolve_task(task).await?).await?,
        (None, Some(turn)) => of_turn(&project, store.resolve_turn(turn).await?).await?,
        (None, None) => {
            let session = store.resolve_session(params.session.as_deref().unwrap_or("latest")).await?;
            of_session(&project, session).await?
        }
    };
    let to = match span.to {
        Some(tree) => tree,
        None => project.tools.checkpoint(&span.workspace, None).await?.tree,
    };
    let from = span.from.unwrap_or_else(|| to.clone());
    project.tools.changes(&span.workspace, &from, &to, &params.paths).await
}

fn tree(checkpoint: &WorkspaceCheckpointed) -> String {
    checkpoint.checkpoint.tree.clone()
}

async fn of_task(project: &OpenProject, task: TaskId) -> Result<Span> {
    let row = project.store.task(task).await?;
    let checkpoints = project.store.checkpoints(row.turn_id).await?;
    let own = || checkpoints.iter().filter(|point| point.task_id == Some(task));
    let started = own().find(|point| point.purpose == "task_start");
    let workspace = match started {
        Some(point) => project.store.workspace(point.workspace_id).await?,
        None => project.workspace.clone(),
    };
    // What was proved is what the task made; a task that is still at work is seen as it is.
    let ended = own().rfind(|point| matches!(point.purpose.as_str(), "completed" | "verified"));
    let to = ended.filter(|_| row.status.is_settled()).map(tree);
    Ok(Span { workspace, from: started.map(tree), to })
}

async fn of_turn(project: &OpenProject, turn: TurnId) -> Result<Span> {
    let row = project.store.turn(turn).await?;
    let user = project.workspace.id;
    let checkpoints = project.store.checkpoints(turn).await?;
    let of_user = || checkpoints.iter().filter(|point| point.workspace_id == user);
    let from = of_user().find(|point| point.purpose == "turn_start").map(tree);
    let to = if row.status.is_ended() {
        match of_user().rfind(|point| point.purpose == "completed") {
            Some(point) => Some(tree(point)),
            None => next_start(project, row.session_id, row.n).await?,
        }
    } else {
        None
    };
    Ok(Span { workspace: project.workspace.clone(), from, to })
}

/// The tree at the start of the turn behind this one: what came after is not of this turn.
async fn next_start(project: &OpenProject, session: SessionId, n: u64) -> Result<Option<String>> {
    let mut later = project.store.turns(session, TURNS).await?;
    later.retain(|turn| turn.n > n);
    later.sort_by_key(|turn| turn.n);
    for turn in later {
        if let Some(point) = project.store.last_checkpoint(turn.id, None, "turn_start").await? {
            return Ok(Some(tree(&point)));
        }
    }
    Ok(None)
}

async fn of_session(project: &OpenProject, session: SessionId) -> Result<Span> {
    let mut turns = project.store.turns(session, TURNS).await?;
    turns.sort_by_key(|turn| turn.n);
    let mut from = None;
    for turn in turns {
        let checkpoints = project.store.checkpoints(turn.id).await?;
        from = checkpoints.iter().find(|point| point.purpose == "turn_start").map(tree);
        if from.is_some() {
            break;
        }
    }
    Ok(Span { workspace: project.workspace.clone(), from, to: None })
}
