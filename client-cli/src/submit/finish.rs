//! The end of a turn, printed.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::outcome::OutcomeReport;
use air_contracts::Result;
use air_contracts::api::{
    Changes, ChangesGet, ChangesGetParams, EvidenceList, EvidenceListParams, OutcomeStatus, TaskList,
    TaskListParams,
};
use air_contracts::projection::{EvidenceView, TaskView};

use super::watch::Ended;
use crate::app::App;

/// With JSON exactly one object on stdout; else the block.
pub(super) async fn print(app: &App, ended: &Ended) -> Result<()> {
    let outcome = &ended.outcome;
    if app.out.is_json() {
        return app.out.json(outcome);
    }
    let evidence = evidence(ended).await?;
    let tasks = tasks(ended).await?;
    // Counts of lines are a nicety: the outcome has the names.
    let changes = changes(ended).await.map(|changes| changes.files).unwrap_or_default();
    let report = OutcomeReport { outcome, evidence: &evidence, tasks: &tasks, changes: &changes };
    let mut result = report.result(app.out.pen, app.out.width());
    if app.out.out_tty && !result.is_empty() && app.out.shows_progress() {
        result.insert(0, String::new());
    }
    app.out.lines(&result);
    if !app.out.quiet {
        if let Some(error) = &outcome.error {
            for line in crate::report::block(error, app.out.err_pen, 80) {
                app.out.note(&line);
            }
        }
        if outcome.status != OutcomeStatus::Answered || app.out.err_tty {
            for line in report.next(app.out.err_pen, app.out.width()) {
                app.out.note(&line);
            }
        }
    }
    Ok(())
}

async fn evidence(ended: &Ended) -> Result<Vec<EvidenceView>> {
    if ended.outcome.tasks.is_empty() {
        return Ok(Vec::new());
    }
    let turn = Some(ended.watched.turn_id.to_string());
    let params = EvidenceListParams { project_id: ended.opened.id(), task: None, turn, session: None };
    Ok(ended.opened.client.call::<EvidenceList>(params).await?.items)
}

async fn tasks(ended: &Ended) -> Result<Vec<TaskView>> {
    if ended.outcome.tasks.is_empty() {
        return Ok(Vec::new());
    }
    let turn = Some(ended.watched.turn_id.to_string());
    let params = TaskListParams { project_id: ended.opened.id(), session: None, turn, limit: None };
    Ok(ended.opened.client.call::<TaskList>(params).await?.items)
}

async fn changes(ended: &Ended) -> Result<Changes> {
    let turn = Some(ended.watched.turn_id.to_string());
    let params = ChangesGetParams {
        project_id: ended.opened.id(),
        session: None,
        turn,
        task: None,
        paths: Vec::new(),
    };
    ended.opened.client.call::<ChangesGet>(params).await
}
