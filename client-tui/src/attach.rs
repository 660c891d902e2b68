//! Attaching to a session: what a front end needs, and which one is used.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use air_contracts::Result;
use air_contracts::api::ClientRole;

use crate::rpc::ProjectionClient;

/// A connection, to come.
pub type ConnectFuture<'a> = Pin<Box<dyn Future<Output = Result<Arc<dyn ProjectionClient>>> + Send + 'a>>;

/// Makes connections to the daemon, starting it where nobody listens. Called again after a connection
/// was lost.
pub trait Connector: Send + Sync {
    /// A connection with the wanted role.
    fn connect(&self, role: ClientRole) -> ConnectFuture<'_>;

    /// As [`Connector::connect`], and never starts anything: for a daemon that somebody stopped.
    fn connect_running(&self, role: ClientRole) -> ConnectFuture<'_> {
        self.connect(role)
    }
}

/// Programs beside the terminal UI. They are started in one place of the CLI.
pub trait Programs: Send + Sync {
    /// The text as the person left it in `$EDITOR`.
    fn edit(&self, text: &str) -> Result<String>;
    /// Shows text in the pager, and returns when that was closed.
    fn page(&self, text: &str) -> Result<()>;
}

/// What to attach to, and how.
#[derive(Clone)]
pub struct AttachOptions {
    pub connector: Arc<dyn Connector>,
    pub programs: Arc<dyn Programs>,
    /// A folder of the project.
    pub folder: PathBuf,
    /// Id or short reference; `None`: the latest one, or a new one.
    pub session: Option<String>,
    /// Only looks.
    pub observer: bool,
    /// Line by line, for screen readers and dumb terminals.
    pub plain: bool,
    pub colour: bool,
    pub ascii: bool,
}

/// Runs until the person leaves. The work goes on.
pub async fn attach(options: AttachOptions) -> Result<()> {
    if options.plain { crate::plain::run(options).await } else { crate::app::run_attach(options).await }
}
