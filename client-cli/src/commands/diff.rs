//! `air diff`: for people on a terminal, a whole git patch everywhere else.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::escape::visible_block;
use air_client_tui::text::outcome::change;
use air_client_tui::text::style::{Pen, Role};
use air_contracts::Result;
use air_contracts::api::{Changes, ChangesGet, ChangesGetParams};
use air_contracts::ids::ProjectId;

use crate::app::App;
use crate::args::DiffArgs;
use crate::exit::Exit;

pub(crate) async fn run(app: &App, args: DiffArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let stat = args.stat;
    let changes = opened.client.call::<ChangesGet>(params(opened.id(), args)).await?;
    if app.out.is_json() {
        app.out.json(&changes)?;
    } else if stat {
        app.out.lines(&changes.files.iter().map(change).collect::<Vec<_>>());
    } else if !app.out.out_tty {
        app.out.data(changes.patch.as_bytes());
    } else if changes.files.is_empty() {
        app.out.note("nothing changed");
    } else {
        app.out.long(&format!("{}\n", page(&changes, app.out.pen).join("\n")))?;
    }
    Ok(Exit::Ok)
}

fn params(project_id: ProjectId, args: DiffArgs) -> ChangesGetParams {
    let session = (args.turn.is_none() && args.task.is_none()).then_some(args.of.session);
    ChangesGetParams { project_id, session, turn: args.turn, task: args.task, paths: args.paths }
}

/// Each file with its counts, then its hunks; git's own headers are left out.
pub fn page(changes: &Changes, pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    let mut files = changes.files.iter();
    let mut in_hunk = false;
    for line in visible_block(&changes.patch).lines() {
        if line.starts_with("diff --git ") {
            in_hunk = false;
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let name = files.next().map_or_else(|| line.to_owned(), change);
            lines.push(pen.paint(Role::Bold, &name));
        } else if line.starts_with("@@") {
            in_hunk = true;
            lines.push(pen.paint(Role::Run, line));
        } else if in_hunk {
            lines.push(match line.as_bytes().first() {
                Some(b'+') => pen.paint(Role::Ok, line),
                Some(b'-') => pen.paint(Role::Bad, line),
                _ => line.to_owned(),
            });
        } else if line.starts_with("Binary files") || line.starts_with("GIT binary patch") {
            lines.push("binary".to_owned());
        }
    }
    lines
}
