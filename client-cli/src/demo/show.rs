//! What the demo shows when the turn has ended: each thing that was done, and how to see it again.

use air_client_tui::text::style::Role;
use air_contracts::Result;
use serde_json::json;

use super::stage::{KEY, Stage};
use crate::args::{ContextArgs, DiffArgs, EvidenceArgs, LogArgs, SessionOf};
use crate::commands;
use crate::submit::Ended;

/// Events of the log that are shown.
const TAIL: usize = 12;

/// Prints diff, evidence, the end of the log, the requests, and the commands for all of it.
pub(super) async fn after(stage: &Stage, ended: &Ended, keep: bool) -> Result<()> {
    let app = &stage.app;
    if app.out.is_json() {
        return app.out.json(&json!({
            "scripted_model": true,
            "folder": stage.folder,
            "project": stage.project,
            "air_home": stage.home,
            "kept_running": keep,
            "outcome": ended.outcome,
        }));
    }
    let session = SessionOf { session: ended.watched.session.to_string() };
    let of = || session.clone();
    heading(stage, "air diff", "what changed");
    commands::diff(app, DiffArgs { paths: Vec::new(), of: of(), turn: None, task: None, stat: false })
        .await?;
    heading(stage, "air evidence", "what was proved, and the runs behind it");
    commands::evidence(app, EvidenceArgs { task: None, of: of() }).await?;
    heading(stage, "air log", &format!("the last {TAIL} events of the log"));
    let log = LogArgs { session: None, follow: false, after: 0, types: Vec::new(), tail: Some(TAIL) };
    commands::log(app, log).await?;
    heading(stage, "air context", "the requests to the model");
    commands::context(app, ContextArgs { request: None, of: of(), body: false }).await?;
    where_it_is(stage, keep);
    Ok(())
}

fn heading(stage: &Stage, command: &str, what: &str) {
    let out = &stage.app.out;
    out.note(&format!("\n{}  {what}", out.err_pen.paint(Role::Bold, &format!("$ {command}"))));
}

fn where_it_is(stage: &Stage, keep: bool) {
    let out = &stage.app.out;
    let (project, home) = (quoted(&stage.project), quoted(&stage.home));
    out.note("\nLook further; these can be pasted:");
    out.note(&format!("  export AIR_HOME={home} {KEY}=scripted"));
    for command in ["attach", "evidence", "context c1", "log", "events verify", "diff"] {
        out.note(&format!("  air -C {project} {command}"));
    }
    out.note("\nWhere it is:");
    out.note(&format!("  project   {}", stage.project.display()));
    out.note(&format!("  home      {}  (config.yaml, the log, artifacts)", stage.home.display()));
    out.note(&format!(
        "  model     {}  (each request that it got)",
        stage.folder.join("model-requests.jsonl").display()
    ));
    if keep {
        out.note("\nThe demo's daemon and its model go on. To end and remove all of it:");
        out.note(&format!("  air daemon stop; kill {}; rm -r {}", stage.model_pid(), quoted(&stage.folder)));
    } else {
        out.note("\nThe demo's daemon and its model are ended; the commands above start the daemon again. To remove it:");
        out.note(&format!("  air daemon stop; rm -r {}", quoted(&stage.folder)));
    }
}

/// A path that a shell takes as one word.
fn quoted(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
