//! The projects that are open. One is opened when somebody names it, and all that were at work when the
//! daemon last ended are opened at its start.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use air_contracts::api::CommandsAtStop;
use air_contracts::error::codes;
use air_contracts::ids::ProjectId;
use air_contracts::{AirError, Result};
use air_host::{Project, list_projects, open_project};
use futures_util::future::join_all;

use crate::daemon::Daemon;
use crate::project::{self, OpenProject};

/// The open projects.
#[derive(Default)]
pub struct Projects {
    open: Mutex<HashMap<ProjectId, Arc<OpenProject>>>,
    /// Held while one is opened or closed: a folder gets one id, and a store is opened once.
    changing: tokio::sync::Mutex<()>,
}

impl Projects {
    fn map(&self) -> MutexGuard<'_, HashMap<ProjectId, Arc<OpenProject>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that are open now.
    pub fn open(&self) -> Vec<Arc<OpenProject>> {
        self.map().values().cloned().collect()
    }

    /// One that is open now.
    pub fn opened(&self, id: ProjectId) -> Option<Arc<OpenProject>> {
        self.map().get(&id).cloned()
    }

    /// Opens the project that a folder lies in; `created` of the second part says what was made for it.
    pub async fn open_path(&self, daemon: &Daemon, path: &Path) -> Result<(Arc<OpenProject>, Project)> {
        self.open_with(daemon, || {
            open_project(&daemon.paths, path, daemon.home().as_deref(), || mint(daemon))
        })
        .await
    }

    /// Opens what `find` finds on disk.
    pub async fn open_with(
        &self,
        daemon: &Daemon,
        find: impl FnOnce() -> Result<Project>,
    ) -> Result<(Arc<OpenProject>, Project)> {
        let _one = self.changing.lock().await;
        if daemon.stop.ordered() {
            return Err(AirError::new(codes::DAEMON_STOPPING, "aird stops and opens no project"));
        }
        let found = find()?;
        if let Some(known) = self.opened(found.id)
            && known.root == found.root
        {
            known.settings.renew(found.clone());
            return Ok((known, found));
        }
        // Its root was moved meanwhile: everything that holds the old path is made anew.
        self.end(found.id).await;
        let opened = project::open(daemon, found.clone()).await?;
        self.map().insert(found.id, Arc::clone(&opened));
        Ok((opened, found))
    }

    /// A project by its id; opened where it is known and not open.
    pub async fn get(&self, daemon: &Daemon, id: ProjectId) -> Result<Arc<OpenProject>> {
        if let Some(project) = self.opened(id) {
            return Ok(project);
        }
        let registered = list_projects(&daemon.paths)?.into_iter().find(|(known, _)| *known == id);
        let Some((_, root)) = registered else {
            return Err(AirError::new(codes::PROJECT_NOT_FOUND, format!("no project {id}"))
                .hint("project/open takes a folder and gives its id"));
        };
        let (project, _) = self.open_path(daemon, &root).await?;
        if project.id != id {
            let message = format!("{} is now the root of {}", root.display(), project.id);
            return Err(AirError::new(codes::PROJECT_NOT_FOUND, message).hint("project/open takes a folder"));
        }
        Ok(project)
    }

    /// Closes a project; what runs in it goes on when it is opened again. Nothing to do when it is not open.
    pub async fn close(&self, id: ProjectId) {
        let _one = self.changing.lock().await;
        self.end(id).await;
    }

    async fn end(&self, id: ProjectId) {
        if let Some(project) = self.opened(id) {
            project.close(CommandsAtStop::Leave).await;
            self.map().remove(&id);
        }
    }

    /// Closes all.
    pub async fn close_all(&self, commands: CommandsAtStop) {
        let _one = self.changing.lock().await;
        let open = self.open();
        join_all(open.iter().map(|project| project.close(commands))).await;
        self.map().clear();
    }

    /// Opens every project that was open, or had unfinished turns, when the daemon last ended.
    pub async fn recover(&self, daemon: &Daemon) {
        let known = match list_projects(&daemon.paths) {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(%error, "the projects cannot be listed");
                return;
            }
        };
        for (id, root) in known {
            if !project::was_open(&daemon.paths.project_dir(id)) || self.opened(id).is_some() {
                continue;
            }
            match self.open_path(daemon, &root).await {
                Ok(_) => tracing::info!(root = %root.display(), "project opened again"),
                Err(error) => {
                    tracing::warn!(%error, root = %root.display(), "a project cannot be opened again")
                }
            }
        }
    }
}

/// A new project id.
pub fn mint(daemon: &Daemon) -> ProjectId {
    ProjectId::from_uuid(daemon.ids.next())
}
