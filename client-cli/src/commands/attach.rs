//! `air attach`, and `air` alone.

use std::sync::Arc;

use air_client_tui::attach::{AttachOptions, Programs};
use air_contracts::Result;

use crate::app::App;
use crate::args::AttachArgs;
use crate::exit::Exit;

/// The pager and the editor of this machine.
struct OwnPrograms;

impl Programs for OwnPrograms {
    fn edit(&self, text: &str) -> Result<String> {
        crate::process::edit(text)
    }

    fn page(&self, text: &str) -> Result<()> {
        crate::process::page(text)
    }
}

pub(super) async fn run(app: &App, args: AttachArgs) -> Result<Exit> {
    let dumb = crate::output::is_dumb(|name| std::env::var(name).ok());
    let plain = args.plain || dumb || !app.out.out_tty;
    let mut dial = app.dial.clone();
    // A line on stderr would be written across the screen.
    dial.tell &= plain;
    let options = AttachOptions {
        connector: Arc::new(dial),
        programs: Arc::new(OwnPrograms),
        folder: app.folder.clone(),
        session: args.session,
        observer: args.observer,
        plain,
        colour: app.out.pen.colour,
        ascii: app.out.pen.ascii,
    };
    air_client_tui::attach(options).await?;
    Ok(Exit::Ok)
}
