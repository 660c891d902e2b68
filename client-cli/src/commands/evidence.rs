//! `air evidence`: what was proved, and the runs behind it.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::block::labelled;
use air_client_tui::text::escape::visible_line;
use air_client_tui::text::layout::spread;
use air_client_tui::text::outcome::{proof, short_tree};
use air_client_tui::text::style::Mark;
use air_client_tui::text::{amounts, words};
use air_contracts::Result;
use air_contracts::api::{
    EvidenceList, EvidenceListParams, TaskGet, TaskList, TaskListParams, TaskRefParams, ToolRunList,
    ToolRunListParams,
};
use air_contracts::ids::ShortRef;
use air_contracts::projection::{EvidenceView, TaskView, ToolRunView};
use air_contracts::task::CriterionState;

use super::list::to_value;
use crate::app::{App, Opened};
use crate::args::EvidenceArgs;
use crate::exit::Exit;

pub(crate) async fn run(app: &App, args: EvidenceArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let session = args.task.is_none().then(|| args.of.session.clone());
    let params = EvidenceListParams {
        project_id: opened.id(),
        task: args.task.clone(),
        turn: None,
        session: session.clone(),
    };
    let page = opened.client.call::<EvidenceList>(params).await?;
    if app.out.is_json() {
        let items = page.items.iter().map(to_value).collect::<Result<Vec<_>>>()?;
        app.out.json_list(&items, page.next)?;
        return Ok(Exit::Ok);
    }
    for line in blocks(app, &opened, args.task, session, &page.items).await? {
        app.out.line(&line);
    }
    Ok(Exit::Ok)
}

/// The block of each task with its evidence.
pub(crate) async fn blocks(
    app: &App,
    opened: &Opened,
    task: Option<String>,
    session: Option<String>,
    evidence: &[EvidenceView],
) -> Result<Vec<String>> {
    let tasks = match task {
        Some(task) => {
            vec![opened.client.call::<TaskGet>(TaskRefParams { project_id: opened.id(), task }).await?]
        }
        None => {
            let params = TaskListParams { project_id: opened.id(), session, turn: None, limit: None };
            opened.client.call::<TaskList>(params).await?.items
        }
    };
    let mut lines = Vec::new();
    for task in &tasks {
        let own: Vec<&EvidenceView> = evidence.iter().filter(|one| one.task == task.short).collect();
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(headline(app, task, &own));
        for one in own {
            lines.extend(block(app, opened, one).await?);
        }
        lines.extend(unproved(app, task));
    }
    Ok(lines)
}

/// `k1  Fix the rank in percentile()         done · 3 of 3 fresh`.
fn headline(app: &App, task: &TaskView, evidence: &[&EvidenceView]) -> String {
    let (_, word) = words::task_status(task.status);
    let fresh = evidence.iter().filter(|one| !one.stale).count();
    let right = format!("{word}{}{fresh} of {} fresh", app.out.pen.dot(), evidence.len());
    let left = format!("{}  {}", task.short, visible_line(&task.title));
    spread(&left, &right, app.out.width(), app.out.pen.ellipsis())
}

/// Criteria that nothing shows.
fn unproved(app: &App, task: &TaskView) -> Vec<String> {
    let open =
        task.criteria.iter().filter(|one| one.evidence.is_empty() && one.state != CriterionState::Proved);
    open.map(|one| {
        let (mark, word) = words::criterion_state(one.state);
        let note = if one.note.is_empty() { word.to_owned() } else { visible_line(&one.note) };
        format!("{} -   {}  {note}", app.out.pen.mark(mark), visible_line(&one.text))
    })
    .collect()
}

async fn block(app: &App, opened: &Opened, evidence: &EvidenceView) -> Result<Vec<String>> {
    let pen = app.out.pen;
    let dot = pen.dot();
    let mark = match (evidence.stale, evidence.kind.as_str()) {
        (true, _) => Mark::Stale,
        (false, "review") => Mark::Reviewed,
        (false, _) => Mark::Done,
    };
    let mut lines =
        vec![format!("{} {}  {}", pen.mark(mark), evidence.short, visible_line(&evidence.criterion))];
    // On a terminal long commands go on under themselves; elsewhere they are never cut.
    let width = if app.out.out_tty { app.out.columns } else { usize::MAX };
    let mut row = |label: &str, text: String| lines.extend(labelled(6, label, 14, &text, width));
    let run = match evidence.run {
        Some(short) => run_of(opened, short).await?,
        None => None,
    };
    row("ran", ran(evidence, run.as_ref(), dot));
    let fresh = if evidence.stale { "stale: the tree changed after it" } else { "after the last write" };
    let weaker = if evidence.weaker { "; weaker than before" } else { "" };
    row("tree", format!("{}, {fresh}{weaker}", short_tree(&evidence.tree)));
    if let Some(artifact) = &evidence.artifact {
        let (short, size) = (artifact.short(), amounts::bytes(artifact.size));
        row("output", format!("artifact {short}, {size}: air artifact {short}"));
    }
    if let Some(short) = evidence.baseline {
        let before = run_of(opened, short).await?;
        let text = before.map(|run| visible_line(&run.summary)).filter(|text| !text.is_empty());
        row("before", format!("{short}, same command: {}", text.unwrap_or_else(|| "no summary".to_owned())));
    }
    Ok(lines)
}

/// `cpp.test r5: ctest --preset default -j2 · exit 0 · 1.9 s`.
fn ran(evidence: &EvidenceView, run: Option<&ToolRunView>, dot: &str) -> String {
    let tool = run.map_or_else(|| proof(evidence), |run| run.tool.clone());
    let short = evidence.run.map(|short| format!(" {short}")).unwrap_or_default();
    let what = evidence.command.as_deref().unwrap_or(&evidence.note);
    let exit = evidence.exit_code.map(|code| format!("{dot}exit {code}")).unwrap_or_default();
    let took =
        run.and_then(|run| run.duration_ms).map(|millis| format!("{dot}{}", amounts::run_time(millis)));
    let note = if evidence.command.is_some() && !evidence.note.is_empty() {
        format!("{dot}{}", visible_line(&evidence.note))
    } else {
        String::new()
    };
    format!("{tool}{short}: {}{exit}{}{note}", visible_line(what), took.unwrap_or_default())
}

async fn run_of(opened: &Opened, short: ShortRef) -> Result<Option<ToolRunView>> {
    let params = ToolRunListParams {
        project_id: opened.id(),
        run: Some(short.to_string()),
        session: None,
        task: None,
        limit: Some(1),
    };
    Ok(opened.client.call::<ToolRunList>(params).await?.items.into_iter().next())
}
