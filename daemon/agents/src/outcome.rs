//! How a turn stands, in the words that a script waits for.

use std::time::Duration;

use air_contracts::Result;
use air_contracts::api::{OutcomeStatus, TaskOutcome, TurnOutcome};
use air_contracts::event::Intent;
use air_contracts::ids::{RefKind, ShortRef, ToolRunId, TurnId};
use air_contracts::path::WirePath;
use air_contracts::session::TurnStatus;
use air_store::{ApprovalRow, BusItem, Store, ToolRunFilter, TurnRow};

/// How a turn stands now.
pub(crate) async fn outcome(store: &Store, turn: TurnId) -> Result<TurnOutcome> {
    let row = store.turn(turn).await?;
    let session = store.session(row.session_id).await?;
    let tasks = store.tasks_of_turn(turn).await?;
    let held_by = holder(store, &row).await?;
    let mut open = store.open_approvals(Some(row.session_id)).await?;
    open.retain(|approval| approval.approval.turn_id == held_by);
    let status = status(store, &row, held_by, &open).await?;
    let mut changed_files: Vec<WirePath> =
        tasks.iter().flat_map(|task| task.changed_files.iter().cloned()).collect();
    changed_files.sort();
    changed_files.dedup();
    let tree = verified_tree(store, turn).await?;
    let duration_ms = row.ended_at.map_or(0, |ended| ended.millis_since(row.submitted_at));
    Ok(TurnOutcome {
        turn_id: turn,
        turn: ShortRef::new(RefKind::Turn, row.n),
        session_id: row.session_id,
        session: ShortRef::new(RefKind::Session, session.n),
        status,
        answer: row.answer.unwrap_or_default(),
        tasks: tasks
            .into_iter()
            .map(|task| TaskOutcome {
                criteria: task.outcomes(),
                id: task.id,
                short: ShortRef::new(RefKind::Task, task.n),
                title: task.spec.title,
                status: task.status,
                changed_files: task.changed_files,
            })
            .collect(),
        changed_files,
        usage: store.turn_usage(turn).await?,
        blockers: row.blockers,
        approvals: open.iter().map(|row| ShortRef::new(RefKind::Approval, row.approval.n)).collect(),
        error: row.error,
        duration_ms,
        tree,
        structured: serde_json::Value::Null,
    })
}

async fn verified_tree(store: &Store, turn: TurnId) -> Result<Option<String>> {
    let mut checkpoints = store.checkpoints(turn).await?;
    checkpoints.retain(|checkpoint| matches!(checkpoint.purpose.as_str(), "verified" | "completed"));
    Ok(checkpoints.pop().map(|checkpoint| checkpoint.checkpoint.tree))
}

/// The turn on whose questions this one waits: itself, or the one that runs while it is queued.
async fn holder(store: &Store, row: &TurnRow) -> Result<TurnId> {
    if row.status != TurnStatus::Queued {
        return Ok(row.id);
    }
    let unfinished = store.unfinished_turns().await?;
    let ahead = unfinished
        .iter()
        .find(|turn| turn.session_id == row.session_id && turn.status == TurnStatus::Running);
    Ok(ahead.map_or(row.id, |turn| turn.id))
}

async fn status(
    store: &Store,
    row: &TurnRow,
    held_by: TurnId,
    open: &[ApprovalRow],
) -> Result<OutcomeStatus> {
    Ok(match row.status {
        TurnStatus::Queued | TurnStatus::Running
            if !open.is_empty() && !moves(store, held_by, open).await? =>
        {
            OutcomeStatus::Waiting
        }
        TurnStatus::Queued | TurnStatus::Running => OutcomeStatus::Running,
        TurnStatus::Completed => OutcomeStatus::Completed,
        TurnStatus::Answered => OutcomeStatus::Answered,
        TurnStatus::Failed => OutcomeStatus::Failed,
        TurnStatus::Blocked => OutcomeStatus::Blocked,
        TurnStatus::Interrupted => OutcomeStatus::Interrupted,
        TurnStatus::Budget => OutcomeStatus::Budget,
        TurnStatus::Cancelled => OutcomeStatus::Cancelled,
    })
}

/// Whether a run of the turn is under way beside its open questions. A question is a run itself, and what a
/// command left in the background advances nothing.
async fn moves(store: &Store, turn: TurnId, open: &[ApprovalRow]) -> Result<bool> {
    let filter = ToolRunFilter { turn: Some(turn), ..ToolRunFilter::default() };
    let runs = store.tool_runs(filter).await?;
    let asks = |run: ToolRunId| open.iter().any(|row| row.approval.run_id == run);
    let background = |intent: &Intent| matches!(intent, Intent::Command { background: true, .. });
    Ok(runs
        .iter()
        .any(|run| run.status.is_none() && !asks(run.started.run_id) && !background(&run.started.intent)))
}

/// Waits for the end of a turn, by the bus.
pub(crate) async fn wait(
    store: &Store,
    turn: TurnId,
    timeout: Duration,
    until_approval: bool,
) -> Result<TurnOutcome> {
    let deadline = tokio::time::Instant::now() + timeout;
    // Subscribed before the first look, so that nothing falls between.
    let mut bus = store.subscribe();
    while !ends(store, turn, until_approval).await? {
        loop {
            match tokio::time::timeout_at(deadline, bus.next()).await {
                Err(_) | Ok(BusItem::Closed) => return outcome(store, turn).await,
                Ok(BusItem::Ephemeral(_)) => {}
                Ok(BusItem::Committed { .. } | BusItem::Lagged) => break,
            }
        }
    }
    outcome(store, turn).await
}

/// Whether there is something to return for. Asked at each commit, so it reads as little as it can.
async fn ends(store: &Store, turn: TurnId, until_approval: bool) -> Result<bool> {
    let row = store.turn(turn).await?;
    if row.status.is_ended() || !until_approval {
        return Ok(row.status.is_ended());
    }
    let held_by = holder(store, &row).await?;
    let mut open = store.open_approvals(Some(row.session_id)).await?;
    open.retain(|approval| approval.approval.turn_id == held_by);
    Ok(status(store, &row, held_by, &open).await? == OutcomeStatus::Waiting)
}
