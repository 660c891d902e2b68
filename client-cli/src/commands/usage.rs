//! `air usage`: tokens and cost, by model and role.

use std::collections::BTreeMap;

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::layout::spread;
use air_client_tui::text::{amounts, words};
use air_contracts::Result;
use air_contracts::api::{UsageGet, UsageGetParams, UsageGetResult};
use air_contracts::projection::UsageRow;

use super::list::to_value;
use crate::app::App;
use crate::exit::Exit;
use crate::table::{Cell, Table, flexible, right};

pub(super) async fn run(app: &App, session: &str) -> Result<Exit> {
    let opened = app.open().await?;
    let params = UsageGetParams { project_id: opened.id(), session: Some(session.to_owned()) };
    let usage = opened.client.call::<UsageGet>(params).await?;
    if app.out.is_json() {
        app.out.json(&to_value(&usage)?)?;
    } else {
        table(app, &usage);
        if app.out.out_tty {
            app.out.line(&summary(app, &usage));
        }
    }
    Ok(Exit::Ok)
}

fn table(app: &App, usage: &UsageGetResult) {
    let columns =
        [flexible("MODEL"), right("REQUESTS"), right("IN"), right("CACHED"), right("OUT"), right("COST")];
    let mut table = Table::new(&columns);
    let mut by_model: BTreeMap<&str, UsageRow> = BTreeMap::new();
    for row in &usage.by {
        add(by_model.entry(&row.model).or_default(), row);
    }
    for (model, row) in by_model {
        let cells: [Cell; 6] = [
            model.into(),
            row.requests.into(),
            amounts::tokens(row.input).into(),
            amounts::tokens(row.cached).into(),
            amounts::tokens(row.output).into(),
            amounts::cost(row.cost_usd).into(),
        ];
        table.row(cells.to_vec());
    }
    table.print(&app.out);
}

fn add(sum: &mut UsageRow, row: &UsageRow) {
    sum.requests += row.requests;
    sum.input += row.input;
    sum.cached += row.cached;
    sum.output += row.output;
    sum.cost_usd += row.cost_usd;
}

/// `by role: executor $0.02 · main $0.01      session total  $0.03  $20.00`.
fn summary(app: &App, usage: &UsageGetResult) -> String {
    let mut by_role: BTreeMap<&str, f64> = BTreeMap::new();
    for row in &usage.by {
        if let Some(role) = row.role {
            *by_role.entry(words::role(role)).or_default() += row.cost_usd;
        }
    }
    let roles: Vec<String> =
        by_role.iter().map(|(role, cost)| format!("{role} {}", amounts::cost(*cost))).collect();
    let left =
        if roles.is_empty() { String::new() } else { format!("by role: {}", roles.join(app.out.pen.dot())) };
    let limit = usage.limit_usd.map(|limit| format!(" of {}", amounts::cost(limit))).unwrap_or_default();
    let right = format!("session total  {}{limit}", amounts::cost(usage.total.cost_usd));
    spread(&left, &right, app.out.width(), app.out.pen.ellipsis())
}
