//! The terminal interface: a conversation that is written as one looks, and views of all that goes on.
//!
//! [`update`] changes the state without I/O, [`views`] draw it, [`run`] waits for everything, and
//! [`terminal`] is the only part that knows control sequences.

mod diff;
mod document;
mod editor;
mod event;
mod geometry;
mod history;
mod link;
mod lists;
mod model;
mod overlay;
mod pace;
mod row;
mod run;
mod signals;
mod state;
mod terminal;
mod theme;
mod transcript;
mod update;
mod views;

#[cfg(test)]
mod tests;

use air_contracts::Result;

use crate::attach::AttachOptions;

/// Runs on the terminal behind stdout until the person leaves; the work goes on. The terminal is given back as
/// it was found, also after a panic or a signal.
///
/// Errors: the terminal cannot be used; the daemon speaks another protocol; the folder or the session that was
/// named does not exist. A daemon that is away is waited for.
pub async fn run_attach(options: AttachOptions) -> Result<()> {
    Box::pin(run::run(options)).await
}
