//! `air tasks --graph`: the newest turn's tasks in waves.

use std::collections::HashMap;

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::layout::{pad, spread};
use air_client_tui::text::{amounts, words};
use air_contracts::Result;
use air_contracts::api::{
    AgentList, AgentListParams, EvidenceList, EvidenceListParams, SessionGet, SessionRefParams, TaskList,
    TaskListParams,
};
use air_contracts::ids::{EvidenceId, ShortRef};
use air_contracts::projection::{AgentView, TaskView};
use air_contracts::task::TaskStatus;

use super::list::{or_dash, refs, to_value};
use crate::app::{App, Opened};
use crate::args::TasksArgs;
use crate::exit::Exit;
use crate::table::{Cell, Table, flexible, left, right};

pub(super) async fn run(app: &App, args: TasksArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let tasks = tasks(&opened, &args).await?;
    if app.out.is_json() {
        let items = tasks.iter().map(to_value).collect::<Result<Vec<_>>>()?;
        app.out.json_list(&items, None)?;
        return Ok(Exit::Ok);
    }
    let Some(first) = tasks.first() else {
        app.out.note("no task in this session");
        return Ok(Exit::Ok);
    };
    let by = workers(&opened, &first.session_id.to_string()).await?;
    let evidence = evidence(&opened, &first.turn_id.to_string()).await?;
    if app.out.out_tty {
        let line = headline(app, &opened, &tasks, &by).await?;
        app.out.line(&line);
    }
    let columns = [
        left("WAVE"),
        flexible("TASK"),
        left("STATE"),
        left("AFTER"),
        left("BY"),
        right("FILES"),
        left("PROVED"),
    ];
    let mut table = Table::new(&columns);
    for task in &tasks {
        let (mark, word) = words::task_status(task.status);
        let worker = by.iter().rfind(|agent| agent.task == Some(task.short)).map(|agent| agent.short);
        let files =
            if task.attempts.is_empty() { "-".to_owned() } else { task.changed_files.len().to_string() };
        table.row(vec![
            task.wave.into(),
            Cell::marked(mark, &format!("{} {}", pad(&task.short.to_string(), 2), task.title)),
            word.into(),
            refs(&task.after).into(),
            or_dash(worker).into(),
            files.into(),
            proofs(task, &evidence).into(),
        ]);
    }
    table.print(&app.out);
    Ok(Exit::Ok)
}

/// The tasks of the wanted turn, by wave; of the newest one that has tasks, where none is named.
async fn tasks(opened: &Opened, args: &TasksArgs) -> Result<Vec<TaskView>> {
    let session = args.turn.is_none().then(|| args.of.session.clone());
    let params = TaskListParams { project_id: opened.id(), session, turn: args.turn.clone(), limit: None };
    let mut tasks = opened.client.call::<TaskList>(params).await?.items;
    let newest = tasks.iter().max_by_key(|task| task.short).map(|task| task.turn_id);
    tasks.retain(|task| Some(task.turn_id) == newest);
    tasks.sort_by_key(|task| (task.wave, task.short));
    Ok(tasks)
}

async fn workers(opened: &Opened, session: &str) -> Result<Vec<AgentView>> {
    let params = AgentListParams { project_id: opened.id(), session: Some(session.to_owned()), all: true };
    let mut agents = opened.client.call::<AgentList>(params).await?.items;
    agents.sort_by_key(|agent| agent.short);
    Ok(agents)
}

async fn evidence(opened: &Opened, turn: &str) -> Result<HashMap<EvidenceId, ShortRef>> {
    let params = EvidenceListParams {
        project_id: opened.id(),
        task: None,
        turn: Some(turn.to_owned()),
        session: None,
    };
    let page = opened.client.call::<EvidenceList>(params).await?;
    Ok(page.items.into_iter().map(|one| (one.id, one.short)).collect())
}

/// `s4 parser · t20      2 of 4 done · $0.22 · 2:40`.
async fn headline(app: &App, opened: &Opened, tasks: &[TaskView], by: &[AgentView]) -> Result<String> {
    let Some(first) = tasks.first() else { return Ok(String::new()) };
    let params = SessionRefParams { project_id: opened.id(), session: first.session_id.to_string() };
    let session = opened.client.call::<SessionGet>(params).await?;
    let done = tasks.iter().filter(|task| task.status == TaskStatus::Completed).count();
    let cost: f64 = by
        .iter()
        .filter(|agent| tasks.iter().any(|task| agent.task == Some(task.short)))
        .map(|agent| agent.cost_usd)
        .sum();
    let begun = tasks.iter().map(|task| task.created_at).min().unwrap_or_default();
    let all_settled = tasks.iter().all(|task| task.status.is_settled());
    let until = if all_settled {
        tasks.iter().map(|task| task.updated_at).max().unwrap_or_default()
    } else {
        amounts::now()
    };
    let pen = app.out.pen;
    let right = [
        format!("{done} of {} done", tasks.len()),
        amounts::cost(cost),
        amounts::clock(until.millis_since(begun)),
    ]
    .join(pen.dot());
    let name = air_client_tui::text::escape::visible_line(&opened.project.name);
    Ok(spread(&format!("{} {name}", session.short), &right, app.out.width(), pen.ellipsis()))
}

/// For each criterion its evidence, or `-`.
fn proofs(task: &TaskView, evidence: &HashMap<EvidenceId, ShortRef>) -> String {
    let each = task.criteria.iter().map(|one| {
        let short = one.evidence.last().and_then(|id| evidence.get(id));
        short.map_or_else(|| "-".to_owned(), ToString::to_string)
    });
    let all: Vec<String> = each.collect();
    if all.iter().all(|one| one == "-") { "-".to_owned() } else { all.join(" ") }
}
