//! Line mode: a cooked terminal or a pipe, finished things as lines, nothing redrawn, no times that run.
//!
//! Made for screen readers, dumb terminals and scripts that talk to a session. Questions are lettered
//! lines; a letter and Enter answers the oldest open one.

mod command;
mod input;
mod view;

use std::sync::Arc;

use air_contracts::api::{
    ClientRole, ProjectOpen, ProjectOpenParams, ProjectView, ProjectionSnapshotMethod, ProjectionSubscribe,
    SessionRefParams, SubscribeParams,
};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};

use crate::attach::AttachOptions;
use crate::rpc::{Notification, Notifications, ProjectionClient, ProjectionClientExt as _};

use command::Next;
pub use input::{LineReader, discard_typed};
use view::PlainView;

/// Runs until `/quit`, the end of input, or a reader that is gone.
pub async fn run(options: AttachOptions) -> Result<()> {
    let mut plain = Plain::open(options).await?;
    plain.follow(None).await?;
    plain.view.help();
    let mut input = LineReader::start();
    let mut notifications = plain.client.take_notifications();
    loop {
        let next = tokio::select! {
            line = input.next() => match line {
                Some(line) => plain.take_line(&line).await,
                None => Ok(Next::Leave),
            },
            notification = next_of(&mut notifications) => match notification {
                Some(notification) => plain.take(notification).await.map(|()| Next::Stay),
                None => Err(AirError::new(codes::DAEMON_UNREACHABLE, "the connection to aird is gone")),
            },
        };
        match next {
            Ok(Next::Stay) => {}
            Ok(Next::Leave) => return plain.leave(),
            Err(error) if is_lost(&error) => {
                plain.reconnect(&error).await?;
                notifications = plain.client.take_notifications();
            }
            Err(error) => plain.view.error(&error),
        }
        if plain.view.reader_is_gone() {
            return Ok(());
        }
    }
}

/// Whether the connection is gone, and a new one may be made.
pub fn is_lost(error: &AirError) -> bool {
    error.is(codes::DAEMON_UNREACHABLE) || error.is(codes::DAEMON_STOPPING)
}

async fn next_of(notifications: &mut Option<Notifications>) -> Option<Notification> {
    match notifications {
        Some(notifications) => notifications.next().await,
        None => None,
    }
}

/// One attachment.
struct Plain {
    options: AttachOptions,
    client: Arc<dyn ProjectionClient>,
    project: ProjectView,
    /// `None` until there is one.
    session: Option<String>,
    view: PlainView,
}

impl Plain {
    async fn open(options: AttachOptions) -> Result<Self> {
        let (client, project) = connect(&options).await?;
        let view = PlainView::new(&options, &project.name);
        let session = options.session.clone();
        Ok(Self { options, client, project, session, view })
    }

    /// Shows the session from its last turn on, or from `after` on, and subscribes to it.
    async fn follow(&mut self, after: Option<u64>) -> Result<()> {
        let wanted = self.session.clone().unwrap_or_else(|| "latest".to_owned());
        let params = SessionRefParams { project_id: self.project.id, session: wanted };
        let snapshot = match self.client.call::<ProjectionSnapshotMethod>(params).await {
            Ok(snapshot) => snapshot,
            // A project without a session: the first message makes one.
            Err(error) if error.is(codes::SESSION_NOT_FOUND) && self.session.is_none() => return Ok(()),
            Err(error) => return Err(error),
        };
        let session = snapshot.session.id.to_string();
        let seq = snapshot.seq;
        self.view.snapshot(&snapshot, after);
        self.session = Some(session.clone());
        let params = SubscribeParams { project_id: self.project.id, session, after_seq: seq };
        self.client.call::<ProjectionSubscribe>(params).await?;
        Ok(())
    }

    async fn take(&mut self, notification: Notification) -> Result<()> {
        match notification {
            Notification::ProjectionChanged(changed) => {
                self.view.changed(&changed);
                Ok(())
            }
            Notification::StreamResync(_) | Notification::Lagged => self.follow(Some(self.view.seq())).await,
            Notification::StreamDelta(_) | Notification::EventsAppended(_) | Notification::Other { .. } => {
                Ok(())
            }
        }
    }

    async fn reconnect(&mut self, error: &AirError) -> Result<()> {
        self.view.line(&format!("{}; connecting again", error.message));
        let (client, project) = connect(&self.options).await?;
        (self.client, self.project) = (client, project);
        let after = self.view.seq();
        self.follow(Some(after)).await?;
        self.view.line("aird answers again; nothing is lost");
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        self.view.left();
        Ok(())
    }
}

async fn connect(options: &AttachOptions) -> Result<(Arc<dyn ProjectionClient>, ProjectView)> {
    let role = if options.observer { ClientRole::Observer } else { ClientRole::Driver };
    let client = options.connector.connect(role).await?;
    let project = open_project(client.as_ref(), options).await?;
    Ok((client, project))
}

/// The project of the folder.
pub(crate) async fn open_project(
    client: &dyn ProjectionClient,
    options: &AttachOptions,
) -> Result<ProjectView> {
    let path = options.folder.display().to_string();
    match client.call::<ProjectOpen>(ProjectOpenParams { path }).await {
        Err(error) if error.is(codes::ROLE_OBSERVER) => known_project(client, options).await,
        other => other,
    }
}

/// The project of the folder among those that are known: an observer may not open one.
async fn known_project(client: &dyn ProjectionClient, options: &AttachOptions) -> Result<ProjectView> {
    let known = client.call::<air_contracts::api::ProjectList>(air_contracts::api::Empty {}).await?;
    known
        .items
        .into_iter()
        .filter(|project| options.folder.starts_with(&project.root))
        .max_by_key(|project| project.root.len())
        .ok_or_else(|| {
            AirError::new(
                codes::PROJECT_NOT_FOUND,
                format!("no project is open at {}", options.folder.display()),
            )
            .hint("air attach, without --observer, opens it")
        })
}
