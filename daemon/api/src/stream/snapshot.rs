//! A session as it is, with bounded tails.

use std::collections::HashSet;

use air_contracts::Result;
use air_contracts::ids::SessionId;
use air_contracts::projection::ProjectionSnapshot;

use super::ProjectionSource;

const TURNS: u32 = 20;
const ITEMS: u32 = 100;
const TASKS: u32 = 200;

/// The snapshot of a session. Its `seq` is read first: an object may be newer than it, never older, and a
/// stream from `seq` tells of it again as it then is.
pub async fn projection_snapshot(
    source: &ProjectionSource,
    session: SessionId,
) -> Result<ProjectionSnapshot> {
    let store = &source.store;
    let seq = store.last_seq();
    let turns = store.turn_views(session, TURNS).await?;
    let shown: HashSet<_> = turns.iter().map(|turn| turn.id).collect();
    let mut tasks = store.task_views(Some(session), None, TASKS).await?;
    tasks.retain(|task| shown.contains(&task.turn_id));
    let mut hud = store.hud(session).await?;
    (source.hud)(&mut hud);
    Ok(ProjectionSnapshot {
        seq,
        session: store.session_view(session).await?,
        turns,
        items: store.items(session, None, ITEMS).await?,
        tasks,
        agents: store.agent_views(Some(session), false).await?,
        approvals: store.approval_views(Some(session), false).await?,
        hud,
    })
}
