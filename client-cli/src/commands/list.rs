//! Lists: sessions, tasks, agents, questions.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::style::Mark;
use air_client_tui::text::{amounts, question, words};
use air_contracts::api::{
    AgentList, AgentListParams, ApprovalList, ApprovalListParams, SessionClose, SessionConfigure,
    SessionConfigureParams, SessionList, SessionListParams, SessionRefParams, TaskList, TaskListParams,
};
use air_contracts::ids::ShortRef;
use air_contracts::projection::{AgentView, SessionState, TaskView};
use air_contracts::task::CriterionState;
use air_contracts::{AirError, Result};
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::args::{AgentsArgs, ApprovalsArgs, TasksArgs};
use crate::exit::Exit;
use crate::table::{Cell, Table, flexible, left, right};

/// An object as JSON.
pub(super) fn to_value(object: &impl Serialize) -> Result<Value> {
    serde_json::to_value(object).map_err(|error| AirError::internal(error.to_string()))
}

fn to_values<T: Serialize>(items: &[T]) -> Result<Vec<Value>> {
    items.iter().map(to_value).collect()
}

/// Short references, separated by spaces; `-` for none.
pub(super) fn refs(refs: &[ShortRef]) -> String {
    if refs.is_empty() {
        "-".to_owned()
    } else {
        refs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn or_dash(short: Option<ShortRef>) -> String {
    short.map_or_else(|| "-".to_owned(), |short| short.to_string())
}

pub(super) async fn sessions(app: &App, limit: u32) -> Result<Exit> {
    let opened = app.open().await?;
    let params = SessionListParams { project_id: opened.id(), limit: Some(limit) };
    let page = opened.client.call::<SessionList>(params).await?;
    if app.out.is_json() {
        app.out.json_list(&to_values(&page.items)?, page.next)?;
        return Ok(Exit::Ok);
    }
    let columns =
        [left("ID"), left("STATE"), flexible("TITLE"), right("TURNS"), right("COST"), left("LAST"), left("")];
    let mut table = Table::new(&columns);
    let (now, zone) = (amounts::now(), TimeZone::system());
    for session in &page.items {
        let last = match session.state {
            SessionState::Working => "now".to_owned(),
            _ => amounts::age(session.updated_at, now, &zone),
        };
        let open =
            if session.open_approvals.is_empty() { String::new() } else { refs(&session.open_approvals) };
        table.row(vec![
            session.short.into(),
            Cell::state(words::session_state(session.state)),
            session.title.as_str().into(),
            session.turns.into(),
            amounts::cost(session.cost_usd).into(),
            last.into(),
            open.into(),
        ]);
    }
    table.print(&app.out);
    Ok(Exit::Ok)
}

pub(super) async fn rename(app: &App, session: &str, title: &str) -> Result<Exit> {
    let opened = app.open().await?;
    let params = SessionConfigureParams {
        project_id: opened.id(),
        session: session.to_owned(),
        title: Some(title.to_owned()),
        model: None,
        approve: None,
        limits: None,
    };
    let session = opened.client.call::<SessionConfigure>(params).await?;
    if app.out.is_json() {
        app.out.json(&session)?;
    } else {
        app.out.line(&format!(
            "{} {}",
            session.short,
            air_client_tui::text::escape::visible_line(&session.title)
        ));
    }
    Ok(Exit::Ok)
}

pub(super) async fn close(app: &App, session: &str) -> Result<Exit> {
    let opened = app.open().await?;
    let params = SessionRefParams { project_id: opened.id(), session: session.to_owned() };
    let done = opened.client.call::<SessionClose>(params).await?;
    if app.out.is_json() {
        app.out.json(&done)?;
    } else {
        app.out.line(&format!("{session} closed; air attach {session} resumes it"));
    }
    Ok(Exit::Ok)
}

pub(super) async fn tasks(app: &App, args: TasksArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let session = args.turn.is_none().then(|| args.of.session.clone());
    let params = TaskListParams { project_id: opened.id(), session, turn: args.turn, limit: None };
    let page = opened.client.call::<TaskList>(params).await?;
    if app.out.is_json() {
        app.out.json_list(&to_values(&page.items)?, page.next)?;
        return Ok(Exit::Ok);
    }
    let columns = [
        left("ID"),
        left("STATE"),
        flexible("TITLE"),
        right("ATTEMPTS"),
        right("PROVED"),
        right("FILES"),
        flexible("WHY"),
    ];
    let mut table = Table::new(&columns);
    for task in &page.items {
        table.row(vec![
            task.short.into(),
            Cell::state(words::task_status(task.status)),
            task.title.as_str().into(),
            task.attempts.len().into(),
            proved(task).into(),
            task.changed_files.len().into(),
            task.reason.as_str().into(),
        ]);
    }
    table.print(&app.out);
    Ok(Exit::Ok)
}

/// `2/3`.
fn proved(task: &TaskView) -> String {
    let proved = task.criteria.iter().filter(|one| one.state == CriterionState::Proved).count();
    format!("{proved}/{}", task.criteria.len())
}

pub(super) async fn agents(app: &App, args: AgentsArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let params = AgentListParams { project_id: opened.id(), session: args.session, all: args.all };
    let page = opened.client.call::<AgentList>(params).await?;
    if app.out.is_json() {
        app.out.json_list(&to_values(&page.items)?, page.next)?;
        return Ok(Exit::Ok);
    }
    let columns = [
        left("ID"),
        left("ROLE"),
        left("STATE"),
        left("TASK"),
        flexible("MODEL"),
        right("CONTEXT"),
        right("COST"),
        right("RSS"),
        left("SINCE"),
    ];
    let mut table = Table::new(&columns);
    let now = amounts::now();
    for agent in &page.items {
        let context = u64::from(agent.context_used) * 100 / u64::from(agent.context_limit.max(1));
        let rss = if agent.rss_bytes == 0 { "-".to_owned() } else { amounts::bytes(agent.rss_bytes) };
        table.row(vec![
            agent.short.into(),
            words::role(agent.role).into(),
            agent_state(agent),
            or_dash(agent.task).into(),
            agent.model.as_str().into(),
            format!("{context} %").into(),
            amounts::cost(agent.cost_usd).into(),
            rss.into(),
            amounts::clock(now.millis_since(agent.since)).into(),
        ]);
    }
    table.print(&app.out);
    Ok(Exit::Ok)
}

fn agent_state(agent: &AgentView) -> Cell {
    if let Some(waiting) = &agent.waiting {
        let until = waiting.until.map(|until| amounts::time_of_day(until, &TimeZone::system()));
        return Cell::state((Mark::Timer, &until.unwrap_or_else(|| waiting.reason.clone())));
    }
    let mark = match agent.state.as_str() {
        "succeeded" => Mark::Done,
        "failed" | "lost" | "timed_out" => Mark::Failed,
        "cancelled" => Mark::Cancelled,
        _ => Mark::Running,
    };
    Cell::state((mark, &agent.state))
}

pub(super) async fn approvals(app: &App, args: ApprovalsArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let params = ApprovalListParams { project_id: opened.id(), session: args.session, all: args.all };
    let page = opened.client.call::<ApprovalList>(params).await?;
    if app.out.is_json() {
        let items = page.items.iter().map(super::answer::as_json).collect::<Result<Vec<_>>>()?;
        app.out.json_list(&items, page.next)?;
        return Ok(Exit::Ok);
    }
    let now = amounts::now();
    let mut columns = vec![left("ID"), right("WAITING"), flexible("ASKS"), left("FOR"), left("SESSION")];
    if args.all {
        columns.push(left("ANSWER"));
    }
    let mut table = Table::new(&columns);
    for approval in &page.items {
        let mut row: Vec<Cell> = vec![
            approval.short.into(),
            amounts::span(now.millis_since(approval.asked_at)).into(),
            question::one_line(approval).into(),
            or_dash(approval.task).into(),
            approval.session.into(),
        ];
        if args.all {
            let said = approval
                .answer
                .as_ref()
                .map_or_else(|| format!("{:?}", approval.state).to_lowercase(), words::answer);
            row.push(said.into());
        }
        table.row(row);
    }
    table.print(&app.out);
    Ok(Exit::Ok)
}
