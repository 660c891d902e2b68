//! What the daemon is made of.

use std::path::PathBuf;
use std::sync::Arc;

use air_api::{Counters, ProjectionSource};
use air_contracts::ids::{InstanceId, ProjectId};
use air_contracts::projection::HudView;
use air_contracts::{Result, Timestamp};
use air_host::AirPaths;
use air_rt::{Clock, IdSource, Tasks};

use crate::environment::Environment;
use crate::gateway::Flow;
use crate::models::Models;
use crate::process::resident_bytes;
use crate::project::OpenProject;
use crate::registry::Projects;
use crate::settings::Settings;
use crate::stop::Stop;

/// The version that clients are told.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The parts that all methods work with.
pub struct Daemon {
    pub paths: AirPaths,
    pub environment: Arc<Environment>,
    pub clock: Clock,
    pub ids: IdSource,
    /// Owner of everything that outlives a call.
    pub tasks: Tasks,
    pub instance_id: InstanceId,
    pub started_at: Timestamp,
    pub socket: PathBuf,
    /// `on demand`, `systemd`, `foreground`.
    pub started_by: &'static str,
    pub counters: Arc<Counters>,
    pub models: Arc<Models>,
    pub flow: Arc<Flow>,
    /// What holds outside of any project.
    pub settings: Arc<Settings>,
    pub projects: Projects,
    pub stop: Stop,
}

impl Daemon {
    /// A project by its id; opened where it is not.
    pub async fn project(&self, id: ProjectId) -> Result<Arc<OpenProject>> {
        self.projects.get(self, id).await
    }

    /// What the projections of a project are made from.
    pub fn projection(&self, project: &Arc<OpenProject>) -> ProjectionSource {
        let scheduler = Arc::clone(&project.scheduler);
        let hud = move |hud: &mut HudView| {
            VERSION.clone_into(&mut hud.daemon_version);
            hud.daemon_rss_bytes = resident_bytes();
            hud.workers = u32::try_from(scheduler.worker_count()).unwrap_or(u32::MAX);
        };
        ProjectionSource { store: project.store.clone(), hud: Arc::new(hud) }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.millis())
    }

    /// The home directory of the user.
    pub fn home(&self) -> Option<PathBuf> {
        self.environment.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }
}
