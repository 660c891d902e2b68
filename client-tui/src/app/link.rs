//! Calls of the API, made for the loop.

use std::sync::Arc;

use air_contracts::api::{
    AgentList, AgentListParams, ApprovalAnswerMethod, ApprovalAnswerParams, ChangesGet, ChangesGetParams,
    ClientRole, DraftGet, DraftSet, DraftSetParams, EvidenceList, EvidenceListParams, ItemList,
    ItemListParams, ProjectionSnapshotMethod, ProjectionSubscribe, SessionRefParams, SubscribeParams,
    TaskCancel, TaskCancelParams, TaskRetry, TaskRetryParams, ToolRunList, ToolRunListParams, TurnCancel,
    TurnContinue, TurnContinueParams, TurnInterrupt, TurnRefParams, TurnSubmit, TurnSubmitParams, UiStateGet,
    UiStateGetParams, UiStateSet, UiStateSetParams,
};
use air_contracts::error::codes;
use air_contracts::ids::ProjectId;
use air_contracts::session::TurnOptions;
use air_contracts::{AirError, Result};

use super::event::{Call, Connected, Event, Reply};
use super::overlay::DiffOf;
use crate::attach::AttachOptions;
use crate::rpc::{ProjectionClient, ProjectionClientExt as _};

/// Items of one page.
const PAGE: u32 = 200;

/// A connection with its project open, or why there is none. `start`: the daemon may be started.
pub async fn connect(
    options: &AttachOptions,
    observer: bool,
    start: bool,
) -> Result<(Arc<dyn ProjectionClient>, Connected)> {
    let role = if observer { ClientRole::Observer } else { ClientRole::Driver };
    let connector = &options.connector;
    let client = if start { connector.connect(role).await? } else { connector.connect_running(role).await? };
    let project = crate::plain::open_project(client.as_ref(), options).await?;
    let server = client.server().clone();
    Ok((client, Connected { server, project }))
}

/// Makes a call; every outcome is an event.
pub async fn perform(client: Arc<dyn ProjectionClient>, project: ProjectId, call: Call) -> Event {
    let kept = call.clone();
    let reply = match make(client.as_ref(), project, call).await {
        Ok(reply) => reply,
        Err(error) => Reply::Failed { call: kept, error },
    };
    Event::Answered(Box::new(reply))
}

async fn make(client: &dyn ProjectionClient, project_id: ProjectId, call: Call) -> Result<Reply> {
    match call {
        Call::Snapshot { session } => snapshot(client, project_id, session).await,
        Call::Subscribe { session, after } => {
            client
                .call::<ProjectionSubscribe>(SubscribeParams { project_id, session, after_seq: after })
                .await?;
            Ok(Reply::Subscribed)
        }
        Call::Older { session, before } => {
            let params = ItemListParams { project_id, session, before: Some(before), limit: Some(PAGE) };
            Ok(Reply::Older { before, items: client.call::<ItemList>(params).await?.items })
        }
        Call::DraftGet { session } => {
            let draft = client.call::<DraftGet>(SessionRefParams { project_id, session }).await?;
            Ok(Reply::Draft { text: draft.text })
        }
        Call::DraftSet { session, text } => {
            client.call::<DraftSet>(DraftSetParams { project_id, session, text }).await?;
            Ok(Reply::Done)
        }
        Call::UiGet { key } => {
            let params = UiStateGetParams { project_id, key: key.to_owned() };
            Ok(Reply::Ui { key, value: client.call::<UiStateGet>(params).await?.value })
        }
        Call::UiSet { key, value } => {
            client.call::<UiStateSet>(UiStateSetParams { project_id, key: key.to_owned(), value }).await?;
            Ok(Reply::Done)
        }
        other => work(client, project_id, other).await,
    }
}

/// Calls that act on the work.
async fn work(client: &dyn ProjectionClient, project_id: ProjectId, call: Call) -> Result<Reply> {
    match call {
        Call::Submit { session, client_id, text } => {
            submit(client, project_id, session, client_id, text).await
        }
        Call::Interrupt { session } => {
            let stopped = client.call::<TurnInterrupt>(SessionRefParams { project_id, session }).await?;
            Ok(Reply::Interrupted { stopped: stopped.turn_id.is_some() })
        }
        Call::Continue { session, note } => {
            let params = TurnContinueParams { project_id, session, note, max_cost_usd: None };
            client.call::<TurnContinue>(params).await?;
            Ok(Reply::Continued)
        }
        Call::TakeBack { turn, text } => {
            client.call::<TurnCancel>(TurnRefParams { project_id, turn: turn.to_string() }).await?;
            Ok(Reply::TakenBack { text })
        }
        Call::CancelTask { task } => {
            let params = TaskCancelParams { project_id, task: task.to_string(), reason: None };
            client.call::<TaskCancel>(params).await?;
            Ok(Reply::Done)
        }
        Call::RetryTask { task } => {
            let params = TaskRetryParams { project_id, task: task.to_string(), note: None, model: None };
            client.call::<TaskRetry>(params).await?;
            Ok(Reply::Done)
        }
        Call::Answer { id, short, answer } => {
            let params = ApprovalAnswerParams {
                project_id,
                approval: id.to_string(),
                decision: answer.decision,
                answer: answer.text,
                scope: answer.scope,
                note: answer.note,
            };
            client.call::<ApprovalAnswerMethod>(params).await?;
            Ok(Reply::QuestionAnswered(short))
        }
        other => look(client, project_id, other).await,
    }
}

/// Calls that fill overlays.
async fn look(client: &dyn ProjectionClient, project_id: ProjectId, call: Call) -> Result<Reply> {
    match call {
        Call::Agents { session } => {
            let params = AgentListParams { project_id, session: Some(session), all: true };
            Ok(Reply::Agents(client.call::<AgentList>(params).await?.items))
        }
        Call::Run { run } => {
            let params = ToolRunListParams {
                project_id,
                run: Some(run.to_string()),
                session: None,
                task: None,
                limit: None,
            };
            let found = client.call::<ToolRunList>(params).await?.items.into_iter().next();
            let gone = || AirError::new(codes::RUN_NOT_FOUND, format!("there is no run {run}"));
            Ok(Reply::Run(found.ok_or_else(gone)?))
        }
        Call::Evidence { session, task } => {
            let session = task.is_none().then_some(session);
            let params = EvidenceListParams {
                project_id,
                task: task.map(|task| task.to_string()),
                turn: None,
                session,
            };
            Ok(Reply::Evidence { task, items: client.call::<EvidenceList>(params).await?.items })
        }
        Call::Changes { session, of } => {
            let (session, turn, task) = match of {
                DiffOf::Session => (Some(session), None, None),
                DiffOf::Turn(turn) => (None, Some(turn.to_string()), None),
                DiffOf::Task(task) => (None, None, Some(task.to_string())),
            };
            let params = ChangesGetParams { project_id, session, turn, task, paths: Vec::new() };
            Ok(Reply::Changes { of, changes: client.call::<ChangesGet>(params).await? })
        }
        _ => Ok(Reply::Done),
    }
}

async fn snapshot(
    client: &dyn ProjectionClient,
    project_id: ProjectId,
    session: Option<String>,
) -> Result<Reply> {
    let any = session.is_none();
    let session = session.unwrap_or_else(|| "latest".to_owned());
    match client.call::<ProjectionSnapshotMethod>(SessionRefParams { project_id, session }).await {
        Ok(snapshot) => Ok(Reply::Snapshot(snapshot)),
        // The first message makes one.
        Err(error) if any && error.is(codes::SESSION_NOT_FOUND) => Ok(Reply::NoSession),
        Err(error) => Err(error),
    }
}

async fn submit(
    client: &dyn ProjectionClient,
    project_id: ProjectId,
    session: Option<String>,
    client_id: String,
    text: String,
) -> Result<Reply> {
    let params = TurnSubmitParams {
        project_id,
        session: session.unwrap_or_else(|| "new".to_owned()),
        client_id: Some(client_id.clone()),
        text,
        attachments: Vec::new(),
        options: TurnOptions::default(),
        ephemeral: false,
    };
    Ok(Reply::Submitted { client_id, result: client.call::<TurnSubmit>(params).await? })
}
