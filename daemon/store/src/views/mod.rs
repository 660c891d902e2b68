//! Views for clients, built from rows.

mod agent;
mod approval;
mod evidence;
mod items;
mod session;
mod task;
mod tool_run;
mod usage;

use std::collections::HashMap;

use air_contracts::ids::{AgentId, RefKind, SessionId, ShortRef, TaskId, ToolRunId};

/// Numbers of short references by id.
pub(crate) struct Refs(pub HashMap<[u8; 16], u64>);

impl Refs {
    fn short(&self, kind: RefKind, id: &[u8; 16]) -> Option<ShortRef> {
        self.0.get(id).map(|n| ShortRef::new(kind, *n))
    }

    fn task(&self, id: TaskId) -> Option<ShortRef> {
        self.short(RefKind::Task, id.as_bytes())
    }

    fn agent(&self, id: AgentId) -> Option<ShortRef> {
        self.short(RefKind::Agent, id.as_bytes())
    }

    fn run(&self, id: ToolRunId) -> Option<ShortRef> {
        self.short(RefKind::ToolRun, id.as_bytes())
    }

    fn session(&self, id: SessionId) -> Option<ShortRef> {
        self.short(RefKind::Session, id.as_bytes())
    }
}
