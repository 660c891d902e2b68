//! What each method does: one file for each resource.

mod approval;
mod artifact;
mod changes;
mod config;
mod context;
mod daemon;
mod doctor;
mod event;
mod project;
mod projection;
mod session;
mod task;
mod turn;

use std::sync::Arc;

use air_api::Router;
use air_contracts::api::*;
use air_contracts::error::codes;
use air_contracts::ids::SessionId;
use air_contracts::{AirError, Result};
use air_store::Store;

use crate::daemon::Daemon;

macro_rules! routes {
    ($daemon:ident: $($method:ty => $handler:path;)*) => {{
        let mut router = Router::new();
        $({
            let daemon = Arc::clone($daemon);
            router = router.register::<$method, _, _>(move |caller, params| {
                let daemon = Arc::clone(&daemon);
                async move { $handler(&daemon, &caller, params).await }
            });
        })*
        router
    }};
}

/// All methods of the API but `initialize`, which the server answers.
pub fn router(daemon: &Arc<Daemon>) -> Router {
    routes! { daemon:
        DaemonStatusMethod => daemon::status;
        DaemonShutdown => daemon::shutdown;
        DoctorRun => doctor::run;
        ConfigGet => config::get;
        ProviderList => config::providers;
        ToolList => config::tools;
        ProjectOpen => project::open;
        ProjectInit => project::init;
        ProjectList => project::list;
        ProjectClose => project::close;
        ProjectTrust => project::trust;
        SessionCreate => session::create;
        SessionList => session::list;
        SessionGet => session::get;
        SessionConfigure => session::configure;
        SessionClose => session::close;
        DraftGet => session::draft;
        DraftSet => session::set_draft;
        UiStateGet => session::ui_state;
        UiStateSet => session::set_ui_state;
        TurnSubmit => turn::submit;
        TurnInterrupt => turn::interrupt;
        TurnContinue => turn::resume;
        TurnCancel => turn::cancel;
        TurnWait => turn::wait;
        TurnList => turn::list;
        ProjectionSnapshotMethod => projection::snapshot;
        ProjectionSubscribe => projection::subscribe;
        ItemList => projection::items;
        ToolRunList => projection::tool_runs;
        EventsRead => event::read;
        EventsFollow => event::follow;
        EventsVerify => event::verify;
        TaskList => task::list;
        TaskGet => task::get;
        TaskCancel => task::cancel;
        TaskRetry => task::retry;
        AgentList => task::agents;
        EvidenceList => task::evidence;
        ApprovalList => approval::list;
        ApprovalAnswerMethod => approval::answer;
        ChangesGet => changes::get;
        ArtifactRead => artifact::read;
        ContextGet => context::get;
        UsageGet => context::usage;
    }
}

/// The session that a parameter names, where it names one.
async fn optional_session(store: &Store, text: Option<&str>) -> Result<Option<SessionId>> {
    match text {
        Some(text) => store.resolve_session(text).await.map(Some),
        None => Ok(None),
    }
}

/// A limit of a list: what was asked for, within bounds.
fn limit(asked: Option<u32>, default: u32, most: u32) -> u32 {
    asked.unwrap_or(default).clamp(1, most)
}

/// A parameter that has the right type and a wrong value.
fn wrong(what: impl Into<String>) -> AirError {
    AirError::new(codes::RPC_INVALID_PARAMS, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source is the list: a method that is not routed would be found by nobody else.
    #[test]
    fn every_method_of_the_api_has_a_handler() {
        let paths = air_host::AirPaths::at(std::path::Path::new("/nonexistent"));
        let environment = Arc::new(crate::environment::Environment::capture());
        let daemon = crate::boot::build(paths, environment, "/nonexistent/s".into(), "foreground");
        let mut routed: Vec<&str> = router(&daemon).methods().collect();
        routed.push(Initialize::NAME);
        routed.sort_unstable();
        let mut all: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
        all.sort_unstable();
        assert_eq!(routed, all);
    }
}
