//! `air context`: the requests to models, and what each held.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::escape::visible_line;
use air_client_tui::text::layout::spread;
use air_client_tui::text::{amounts, words};
use air_contracts::api::{ContextGet, ContextGetParams, ContextGetResult};
use air_contracts::error::codes;
use air_contracts::event::ContextAssembled;
use air_contracts::projection::ContextView;
use air_contracts::{AirError, Result};

use super::list::{or_dash, to_value};
use crate::app::App;
use crate::args::ContextArgs;
use crate::exit::Exit;
use crate::table::{Table, flexible, left, right};

pub(crate) async fn run(app: &App, args: ContextArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let session = args.request.is_none().then_some(args.of.session);
    let params = ContextGetParams { project_id: opened.id(), request: args.request, session };
    let found = opened.client.call::<ContextGet>(params).await?;
    match (&found.context, args.body) {
        (Some(context), true) => {
            let body = context.body.as_ref().ok_or_else(|| {
                AirError::new(
                    codes::ARTIFACT_NOT_FOUND,
                    format!("{} cannot be rebuilt", context.request.short),
                )
            })?;
            app.out.json(body)?;
        }
        (Some(context), false) if app.out.is_json() => app.out.json(context)?,
        (Some(context), false) => app.out.lines(&opened_request(app, context)?),
        (None, _) if app.out.is_json() => {
            let items = found.requests.iter().map(to_value).collect::<Result<Vec<_>>>()?;
            app.out.json_list(&items, None)?;
        }
        (None, _) => list(app, &found),
    }
    Ok(Exit::Ok)
}

fn list(app: &App, found: &ContextGetResult) {
    let mut table = Table::new(&[
        left("ID"),
        left("ROLE"),
        left("TASK"),
        flexible("MODEL"),
        right("TOKENS"),
        left("WHEN"),
    ]);
    let (now, zone) = (amounts::now(), jiff::tz::TimeZone::system());
    for request in &found.requests {
        table.row(vec![
            request.short.into(),
            words::role(request.role).into(),
            or_dash(request.task).into(),
            request.model.as_str().into(),
            amounts::grouped(u64::from(request.tokens)).into(),
            amounts::age(request.at, now, &zone).into(),
        ]);
    }
    table.print(&app.out);
}

fn opened_request(app: &App, context: &ContextView) -> Result<Vec<String>> {
    let assembled: ContextAssembled = serde_json::from_value(context.assembled.clone()).map_err(|error| {
        AirError::new(codes::DAEMON_VERSION, format!("a context in another form: {error}"))
    })?;
    let request = &context.request;
    let task = request.task.map(|task| format!(" {task}")).unwrap_or_default();
    let used = amounts::grouped(u64::from(assembled.tokens));
    let window = amounts::grouped(u64::from(assembled.context_window));
    let right_part = format!("{}{}{used} of {window} tok", request.model, app.out.pen.dot());
    let left_part = format!("{}  {}{task}", request.short, words::role(request.role));
    let mut lines = vec![spread(&left_part, &right_part, app.out.width(), app.out.pen.ellipsis())];
    let mut table = Table::new(&[left("LAYER"), flexible("WHAT"), right("TOKENS"), left("FROM")]);
    for layer in &assembled.layers {
        table.row(vec![
            layer.layer.as_str().into(),
            layer.what.as_str().into(),
            amounts::grouped(u64::from(layer.tokens)).into(),
            layer.from.as_str().into(),
        ]);
    }
    lines.extend(if app.out.out_tty { table.aligned(&app.out) } else { table.tabbed() });
    for omission in &assembled.omissions {
        lines.push(format!("left out  {}: {}", visible_line(&omission.what), visible_line(&omission.why)));
    }
    for conflict in &assembled.conflicts {
        lines.push(format!("conflict  {}: {}", visible_line(&conflict.what), visible_line(&conflict.action)));
    }
    Ok(lines)
}
