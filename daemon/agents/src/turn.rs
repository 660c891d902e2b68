//! One turn, from the queue to its end.

use std::sync::Arc;

use air_contracts::Result;
use air_contracts::artifact::Stored;
use air_contracts::error::{AirError, codes};
use air_contracts::event::{EventSource, MessageAppended, NewEvent, SourceKind, TurnEnded, TurnStarted};
use air_contracts::ids::MessageId;
use air_contracts::message::{ContentBlock, MessageRole};
use air_contracts::session::TurnStatus;
use air_contracts::task::TaskStatus;
use air_rt::CancellationToken;
use air_store::{TaskRow, TurnRow};

use crate::main_agent::{MainAgent, MainStop};
use crate::sessions::Sessions;

/// Runs a turn to its end, or to where it was interrupted. `Err`: the log could not be read or written; the
/// turn is as it was.
pub(crate) async fn run(
    sessions: &Arc<Sessions>,
    row: TurnRow,
    token: &CancellationToken,
) -> Result<TurnStatus> {
    if row.status == TurnStatus::Queued {
        begin(sessions, &row).await?;
    }
    // The tree as it was before this turn; done while the Main Agent thinks.
    let prepared = sessions.deps.scheduler.prepare_turn(row.session_id, row.id);
    let ended = async {
        tokio::select! {
            biased;
            () = token.cancelled() => Ok(None),
            ended = work(sessions, &row) => ended.map(Some),
        }
    };
    let (prepared, ended) = tokio::join!(prepared, ended);
    if let Err(fault) = prepared {
        tracing::warn!(turn = %row.id, %fault, "no checkpoint before the turn");
    }
    let ended = match ended {
        Ok(Some(ended)) => ended,
        Ok(None) if sessions.deps.tasks.token().is_cancelled() => {
            // The daemon stops. The turn stays running in the log and goes on with the next daemon.
            return Ok(TurnStatus::Running);
        }
        Ok(None) => TurnEnded {
            turn_id: row.id,
            status: TurnStatus::Interrupted,
            answer: String::new(),
            blockers: Vec::new(),
            error: None,
        },
        Err(fault) if is_of_the_log(&fault) => return Err(fault),
        Err(fault) => failed(&row, fault),
    };
    let status = ended.status;
    sessions.end_turn(&row, ended, Vec::new()).await?;
    Ok(status)
}

/// A fault of the disk or the database ends no turn: it waits until it can be written down.
fn is_of_the_log(fault: &AirError) -> bool {
    [codes::IO_NO_SPACE, codes::STORE_FAILED, codes::IO].iter().any(|code| fault.is(code))
}

/// Takes the turn out of the queue: the user's message becomes part of the conversation.
async fn begin(sessions: &Arc<Sessions>, row: &TurnRow) -> Result<()> {
    let source = EventSource::new(SourceKind::Daemon, "sessions");
    let mut content = vec![ContentBlock::text(row.text.trim())];
    content.extend(row.attachments.iter().map(|attachment| {
        ContentBlock::text(format!("[attached: {}]\n{}", attachment.name, attachment.text))
    }));
    let (content, artifact) = sessions.deps.store.store_value(content, "message of the user").await?;
    let artifact = artifact.map(|artifact| {
        sessions.deps.store.artifact_event(&artifact, Some(row.session_id), None, source.clone())
    });
    let message = MessageAppended {
        message_id: MessageId::from_uuid(sessions.deps.ids.next()),
        session_id: row.session_id,
        turn_id: row.id,
        task_id: None,
        agent_id: None,
        request_id: None,
        role: MessageRole::User,
        content,
    };
    let mut events = vec![NewEvent::new(row.session_id, source.clone(), TurnStarted { turn_id: row.id })];
    events.extend(artifact);
    events.push(NewEvent::new(row.session_id, source, message));
    sessions.deps.store.ingest(events).await.map(drop)
}

/// The work of a turn: what the Main Agent does, then its tasks, then the answer.
async fn work(sessions: &Arc<Sessions>, row: &TurnRow) -> Result<TurnEnded> {
    let store = &sessions.deps.store;
    let mut agent = MainAgent::new(&sessions.deps, row).await?;
    loop {
        if !store.tasks_of_turn(row.id).await?.is_empty() {
            let report = sessions.deps.scheduler.run_turn(row.id).await?;
            if report.tasks.iter().any(|task| !task.status.is_settled()) {
                // Only a cancel ends the scheduler's part before its tasks are settled.
                return Err(AirError::new(codes::TOOL_CANCELLED, "the tasks of the turn were stopped"));
            }
            if report.tasks.len() == 1 {
                return close(sessions, row, &agent, report.tasks).await;
            }
            agent.report(&report.tasks).await?;
        }
        match agent.run().await? {
            MainStop::Answered(answer) => {
                let tasks = store.tasks_of_turn(row.id).await?;
                let (status, blockers) = status_of(&tasks);
                return Ok(TurnEnded { turn_id: row.id, status, answer, blockers, error: None });
            }
            MainStop::Delegated => {}
            MainStop::Failed(error) => return Ok(failed(row, error)),
        }
    }
}

/// The fast lane's end: the worker's summary is the answer, and part of the conversation.
async fn close(
    sessions: &Arc<Sessions>,
    row: &TurnRow,
    agent: &MainAgent<'_>,
    tasks: Vec<TaskRow>,
) -> Result<TurnEnded> {
    let (status, blockers) = status_of(&tasks);
    let answer = match tasks.as_slice() {
        [task] if !task.summary.trim().is_empty() => task.summary.clone(),
        [task] => task.reason.clone(),
        many => {
            many.iter().map(|task| format!("k{}: {}", task.n, task.summary)).collect::<Vec<_>>().join("\n")
        }
    };
    let told = if answer.trim().is_empty() { format!("The task ended: {status:?}.") } else { answer.clone() };
    let message = MessageAppended {
        message_id: MessageId::from_uuid(sessions.deps.ids.next()),
        session_id: row.session_id,
        turn_id: row.id,
        task_id: None,
        agent_id: Some(agent.id()),
        request_id: None,
        role: MessageRole::Assistant,
        content: Stored::Inline { value: vec![ContentBlock::text(told)] },
    };
    let source = EventSource::new(SourceKind::Daemon, "sessions");
    sessions.deps.store.ingest(vec![NewEvent::new(row.session_id, source, message)]).await?;
    Ok(TurnEnded { turn_id: row.id, status, answer, blockers, error: None })
}

/// Failed outweighs blocked, blocked outweighs completed.
fn status_of(tasks: &[TaskRow]) -> (TurnStatus, Vec<air_contracts::task::Blocker>) {
    let any = |status: TaskStatus| tasks.iter().any(|task| task.status == status);
    let status = if tasks.is_empty() {
        TurnStatus::Answered
    } else if any(TaskStatus::Failed) || any(TaskStatus::Cancelled) {
        TurnStatus::Failed
    } else if any(TaskStatus::Blocked) {
        let budget =
            tasks.iter().any(|task| task.blocker.as_ref().is_some_and(|blocker| blocker.kind == "budget"));
        if budget { TurnStatus::Budget } else { TurnStatus::Blocked }
    } else {
        TurnStatus::Completed
    };
    (status, tasks.iter().filter_map(|task| task.blocker.clone()).collect())
}

fn failed(row: &TurnRow, error: AirError) -> TurnEnded {
    let status = if error.is(codes::BUDGET_REACHED) { TurnStatus::Budget } else { TurnStatus::Failed };
    TurnEnded { turn_id: row.id, status, answer: String::new(), blockers: Vec::new(), error: Some(error) }
}
