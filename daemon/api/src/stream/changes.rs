//! From events to the objects that they changed, each once, as it is now.

use std::collections::BTreeSet;

use air_contracts::Result;
use air_contracts::event::{EventBody, RuntimeEvent};
use air_contracts::ids::{AgentId, ApprovalId, SessionId, TaskId, ToolRunId, TurnId};
use air_contracts::projection::ProjectionChange;
use air_contracts::task::AgentRole;

use super::ProjectionSource;

/// An object that an event changed, in the order in which clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touched {
    Session,
    Turn(TurnId),
    /// The Main Agent, whose state is that of the turns.
    Main,
    Task(TaskId),
    Agent(AgentId),
    /// The item that a tool run is.
    Run(ToolRunId),
    Approval(ApprovalId),
    Item(u64),
    Hud,
}

/// What an event changed. A payload that this build does not know changes nothing.
pub(super) fn touched(event: &RuntimeEvent, into: &mut BTreeSet<Touched>) {
    use Touched::{Agent, Approval, Hud, Item, Main, Run, Session, Task, Turn};
    let own = Item(event.seq);
    let Ok(body) = event.body() else { return };
    match body {
        EventBody::SessionCreated(_) | EventBody::SessionConfigured(_) | EventBody::SessionClosed(_) => {
            into.extend([Session, Hud]);
        }
        EventBody::TurnSubmitted(it) => into.extend([Session, Turn(it.turn_id), own]),
        EventBody::TurnStarted(it) => into.extend([Session, Turn(it.turn_id), Main]),
        EventBody::TurnEnded(it) => into.extend([Session, Turn(it.turn_id), Main, own]),
        EventBody::TurnResumed(it) => into.extend([Session, Turn(it.turn_id), Main, own]),
        EventBody::RequirementChanged(it) => into.extend([Turn(it.turn_id), own]),
        EventBody::TaskCreated(it) => into.extend([Task(it.task.id)]),
        EventBody::TaskStatusChanged(it) => into.extend([Task(it.task_id)]),
        EventBody::AgentStarted(it) => {
            into.extend([Agent(it.agent_id), Hud]);
            into.extend(it.attempt.map(|attempt| Task(attempt.task_id)));
        }
        EventBody::AgentEnded(it) => into.extend([Agent(it.agent_id), Hud]),
        EventBody::AgentLost(it) => into.extend([Agent(it.agent_id), own, Hud]),
        EventBody::ToolCompleted(it) => into.extend([Run(it.run_id)]),
        EventBody::ToolFailed(it) => into.extend([Run(it.run_id)]),
        EventBody::EvidenceRecorded(it) => into.extend([Task(it.evidence.task_id), own]),
        EventBody::ApprovalRequested(it) => into.extend([Session, Approval(it.approval.id), own]),
        EventBody::ApprovalAnswered(it) => into.extend([Session, Approval(it.approval_id)]),
        EventBody::ApprovalWithdrawn(it) => into.extend([Session, Approval(it.approval_id)]),
        EventBody::ContextAssembled(it) => into.extend([Agent(it.agent_id), Hud]),
        EventBody::UsageRecorded(it) => into.extend([Session, Agent(it.agent_id), Hud]),
        EventBody::ProviderWaiting(it) => into.extend([Agent(it.agent_id), own]),
        EventBody::ArtifactCreated(_)
        | EventBody::DiagnosticRecorded(_)
        | EventBody::WorkspaceCreated(_)
        | EventBody::WorkspaceCheckpointed(_)
        | EventBody::Unknown { .. } => {}
        // The rest is shown as an item, where the store makes one of it.
        _ => into.extend([own]),
    }
    // An attempt that ended shows in its task.
    into.extend(
        event
            .route
            .iter()
            .filter_map(|topic| topic.strip_prefix("task:")?.parse().ok())
            .filter_map(|task| event.kind.starts_with("agent.").then_some(Task(task))),
    );
}

/// The objects as they are now. One that is gone meanwhile is left out.
pub(super) async fn load(
    source: &ProjectionSource,
    session: SessionId,
    mut touched: BTreeSet<Touched>,
) -> Vec<ProjectionChange> {
    places(source, session, &mut touched).await;
    let mut changes = Vec::with_capacity(touched.len());
    for object in touched {
        match change(source, session, object).await {
            Ok(change) => changes.extend(change),
            Err(error) => tracing::debug!(%error, ?object, "a changed object could not be read"),
        }
    }
    changes
}

/// Tool runs and approvals are items too, at the place of their first event; the Main Agent is an agent.
async fn places(source: &ProjectionSource, session: SessionId, touched: &mut BTreeSet<Touched>) {
    if touched.remove(&Touched::Main)
        && let Ok(agents) = source.store.agents(Some(session), true).await
    {
        let main = agents.iter().filter(|agent| agent.role == AgentRole::Main);
        touched.extend(main.map(|agent| Touched::Agent(agent.id)));
    }
    for object in touched.clone() {
        let seq = match object {
            Touched::Run(id) => source.store.tool_run(id).await.map(|run| run.seq),
            Touched::Approval(id) => source.store.approval(id).await.map(|approval| approval.seq),
            _ => continue,
        };
        if let Ok(seq) = seq {
            touched.insert(Touched::Item(seq));
        }
        if matches!(object, Touched::Run(_)) {
            touched.remove(&object);
        }
    }
}

async fn change(
    source: &ProjectionSource,
    session: SessionId,
    object: Touched,
) -> Result<Option<ProjectionChange>> {
    let store = &source.store;
    Ok(Some(match object {
        Touched::Session => {
            ProjectionChange::Session { session: Box::new(store.session_view(session).await?) }
        }
        Touched::Turn(id) => ProjectionChange::Turn { turn: Box::new(store.turn_view(id).await?) },
        Touched::Task(id) => ProjectionChange::Task { task: Box::new(store.task_view(id).await?) },
        Touched::Agent(id) => ProjectionChange::Agent { agent: Box::new(store.agent_view(id).await?) },
        Touched::Approval(id) => {
            ProjectionChange::Approval { approval: Box::new(store.approval_view(id).await?) }
        }
        Touched::Item(seq) => match store.item_at(seq).await? {
            Some(item) => ProjectionChange::Item { item: Box::new(item) },
            None => return Ok(None),
        },
        Touched::Run(_) | Touched::Main => return Ok(None),
        Touched::Hud => {
            let mut hud = store.hud(session).await?;
            (source.hud)(&mut hud);
            ProjectionChange::Hud { hud: Box::new(hud) }
        }
    }))
}
