//! The streams over a store: projections, events, and the snapshot that a stream goes on from.

mod changes;
mod events;
mod projection;
mod snapshot;

use std::sync::Arc;

use air_contracts::projection::HudView;
use air_store::Store;

pub use events::follow_events;
pub use projection::follow_projection;
pub use snapshot::projection_snapshot;

/// What projections are made from.
#[derive(Clone)]
pub struct ProjectionSource {
    pub store: Store,
    /// Fills in what only the daemon knows of a HUD: version, memory, workers.
    pub hud: Arc<dyn Fn(&mut HudView) + Send + Sync>,
}
