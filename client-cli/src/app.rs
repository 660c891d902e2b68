//! What every command works with: the streams, the daemon, the folder.

use std::path::PathBuf;

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::rpc::{Identity, RpcClient, SocketEnv};
use air_contracts::api::{ClientRole, ProjectOpen, ProjectOpenParams, ProjectView};
use air_contracts::ids::ProjectId;
use air_contracts::{AirError, Result};

use crate::args::Cli;
use crate::connect::{Dial, place};
use crate::output::Out;

/// One run of `air`.
#[derive(Debug, Clone)]
pub struct App {
    pub out: Out,
    pub dial: Dial,
    /// Where the command works: the current folder, or that of `-C`.
    pub folder: PathBuf,
}

/// A connection with the project of the folder.
#[derive(Debug, Clone)]
pub struct Opened {
    pub client: RpcClient,
    pub project: ProjectView,
}

impl Opened {
    /// The project's id.
    pub const fn id(&self) -> ProjectId {
        self.project.id
    }
}

impl App {
    /// Reads the environment, and changes to the folder of `-C`.
    pub fn new(cli: &Cli, out: Out) -> Result<Self> {
        let cwd = std::env::current_dir().map_err(|error| AirError::io("the current folder", &error))?;
        let name = cli.command.as_ref().map_or("air attach", crate::args::Command::name);
        let identity = Identity {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            place: place(),
            role: ClientRole::Driver,
        };
        let tell = !out.quiet && !out.is_json() && (out.err_tty || out.verbose);
        let dial = Dial::from_env(&SocketEnv::from_process(), &cwd, identity, tell)?;
        let folder = match &cli.global.folder {
            Some(folder) => {
                let folder = cwd.join(folder);
                std::env::set_current_dir(&folder).map_err(|error| AirError::io(folder.display(), &error))?;
                folder
            }
            None => cwd,
        };
        let folder = folder.canonicalize().map_err(|error| AirError::io(folder.display(), &error))?;
        Ok(Self { out, dial, folder })
    }

    /// Connects, and starts the daemon where nobody listens.
    pub async fn connect(&self) -> Result<RpcClient> {
        self.dial.connect().await
    }

    /// Connects and opens the project of the folder; its warnings go to stderr.
    pub async fn open(&self) -> Result<Opened> {
        let client = self.connect().await?;
        let opened = self.open_with(client).await?;
        if !self.out.is_json() {
            for warning in &opened.project.warnings {
                self.out.note(&format!("warning: {}", air_client_tui::text::escape::visible_line(warning)));
            }
        }
        Ok(opened)
    }

    /// Opens the project over a connection that exists.
    pub async fn open_with(&self, client: RpcClient) -> Result<Opened> {
        let project = client.call::<ProjectOpen>(ProjectOpenParams { path: self.path()? }).await?;
        Ok(Opened { client, project })
    }

    /// The folder as the API takes it. A path that is not UTF-8 is refused, never changed.
    pub fn path(&self) -> Result<String> {
        let path = self.folder.to_str().map(str::to_owned);
        path.ok_or_else(|| {
            let message = format!("{}: the name of this folder is not UTF-8", self.folder.display());
            AirError::new(air_contracts::error::codes::PROJECT_ROOT_REFUSED, message)
        })
    }
}
