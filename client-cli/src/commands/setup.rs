//! `air init`, `trust`, `doctor`, `provider list`, `config`.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::block::labelled;
use air_client_tui::text::escape::visible_line;
use air_client_tui::text::layout::pad;
use air_client_tui::text::style::Mark;
use air_client_tui::text::words;
use air_contracts::Result;
use air_contracts::api::{
    ConfigGet, ConfigGetParams, ConfigGetResult, DoctorCheck, DoctorReport, DoctorRun, DoctorRunParams,
    DoctorStatus, Empty, ProjectInit, ProjectInitParams, ProjectTrust, ProjectTrustParams, ProviderList,
};
use serde_json::Value;

use super::list::to_value;
use crate::app::App;
use crate::exit::Exit;
use crate::table::{Table, flexible, left};

pub(super) async fn init(app: &App, force: bool) -> Result<Exit> {
    let client = app.connect().await?;
    let made = client.call::<ProjectInit>(ProjectInitParams { path: app.path()?, force }).await?;
    if app.out.is_json() {
        app.out.json(&made)?;
        return Ok(Exit::Ok);
    }
    let root = visible_line(&made.project.root);
    if made.created.is_empty() {
        app.out.line(&format!("{root} is a project already; nothing was missing"));
    }
    for path in &made.created {
        app.out.line(&visible_line(path));
    }
    for warning in &made.project.warnings {
        app.out.note(&format!("warning: {}", visible_line(warning)));
    }
    Ok(Exit::Ok)
}

pub(super) async fn trust(app: &App, trusted: bool) -> Result<Exit> {
    let opened = app.open().await?;
    let params = ProjectTrustParams { project_id: opened.id(), trusted };
    let project = opened.client.call::<ProjectTrust>(params).await?;
    if app.out.is_json() {
        app.out.json(&project)?;
    } else {
        let word = if project.trusted { "trusted" } else { "not trusted" };
        app.out.line(&format!("{} is {word}", visible_line(&project.root)));
    }
    Ok(Exit::Ok)
}

pub(super) async fn doctor(app: &App) -> Result<Exit> {
    let client = app.connect().await?;
    let report = client.call::<DoctorRun>(DoctorRunParams { path: Some(app.path()?) }).await?;
    if app.out.is_json() {
        app.out.json(&report)?;
    } else {
        app.out.lines(&doctor_lines(app, &report));
    }
    Ok(if report.ok { Exit::Ok } else { Exit::Failed })
}

fn doctor_lines(app: &App, report: &DoctorReport) -> Vec<String> {
    let mut lines: Vec<String> = report.checks.iter().flat_map(|check| check_lines(app, check)).collect();
    let count = |status| report.checks.iter().filter(|check| check.status == status).count() as u64;
    let (missing, broken) = (count(DoctorStatus::Missing), count(DoctorStatus::Broken));
    lines.push(match (report.ok, missing) {
        (true, 0) => "All that is needed works.".to_owned(),
        (true, 1) => "All that is needed works. 1 thing is missing.".to_owned(),
        (true, n) => format!("All that is needed works. {n} things are missing."),
        (false, _) => format!("{}.", words::count((broken + missing).max(1), "problem", "problems")),
    });
    lines
}

fn check_lines(app: &App, check: &DoctorCheck) -> Vec<String> {
    let mark = match check.status {
        DoctorStatus::Ok => Mark::Done,
        DoctorStatus::Missing => Mark::Blocked,
        DoctorStatus::Broken => Mark::Failed,
    };
    let width = app.out.columns.max(60);
    let mut lines = labelled(2, &visible_line(&check.name), 13, &visible_line(&check.detail), width);
    if let Some(first) = lines.first_mut() {
        *first = format!("{} {}", app.out.pen.mark(mark), first.trim_start());
    }
    lines.extend(check.fix.iter().flat_map(|fix| labelled(13, "", 13, &visible_line(fix), width)));
    lines
}

pub(super) async fn providers(app: &App) -> Result<Exit> {
    let client = app.connect().await?;
    let page = client.call::<ProviderList>(Empty {}).await?;
    if app.out.is_json() {
        let items = page.items.iter().map(to_value).collect::<Result<Vec<_>>>()?;
        app.out.json_list(&items, page.next)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&[left("ID"), left("KIND"), left("KEY"), left("SERVER"), flexible("MODELS")]);
    for provider in &page.items {
        table.row(vec![
            provider.id.as_str().into(),
            provider.kind.as_str().into(),
            provider.key_source.as_str().into(),
            provider.base_url.as_str().into(),
            provider.models.join(" ").into(),
        ]);
    }
    table.print(&app.out);
    Ok(Exit::Ok)
}

pub(super) async fn config(app: &App) -> Result<Exit> {
    let client = app.connect().await?;
    let config = client.call::<ConfigGet>(ConfigGetParams { path: Some(app.path()?) }).await?;
    if app.out.is_json() {
        app.out.json(&config)?;
        return Ok(Exit::Ok);
    }
    for warning in &config.warnings {
        app.out.note(&format!("warning: {}", visible_line(warning)));
    }
    let rows = config_rows(&config);
    if app.out.out_tty {
        let key = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
        for (name, value, source) in rows {
            let source = if source.is_empty() { source } else { format!("  ({source})") };
            app.out.line(&format!("{}  {}{source}", pad(&name, key), visible_line(&value)));
        }
    } else {
        let mut table = Table::new(&[left("KEY"), left("VALUE"), left("FROM")]);
        rows.into_iter()
            .for_each(|(name, value, source)| table.row(vec![name.into(), value.into(), source.into()]));
        table.print(&app.out);
    }
    Ok(Exit::Ok)
}

/// Every leaf by its path, with the source of its top-level key.
fn config_rows(config: &ConfigGetResult) -> Vec<(String, String, String)> {
    let mut rows = Vec::new();
    flatten("", &config.config, &mut rows);
    rows.into_iter()
        .map(|(name, value)| {
            let top = name.split('.').next().unwrap_or_default();
            let source = config.sources.get(top).map(short_value).unwrap_or_default();
            (name, value, source)
        })
        .collect()
}

fn flatten(prefix: &str, value: &Value, rows: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (key, value) in object {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                flatten(&name, value, rows);
            }
        }
        other if !prefix.is_empty() => rows.push((prefix.to_owned(), short_value(other))),
        _ => {}
    }
}

fn short_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
