//! From events to changes of tables: one pure function, used by the writer and by `verify` alike.
//!
//! No clock, id source, artifact or configuration: everything is in the event. The changes of a batch are
//! gathered as JSON arrays, one for each statement that is needed, and applied set-wise ([`Changes`]).

mod agent;
mod approval;
mod artifacts;
mod changes;
mod context;
mod session;
mod statements;
mod task;
mod tool;
mod workspace;

use air_contracts::event::EventBody;
use air_contracts::ids::SessionId;

pub(crate) use changes::Changes;
pub(crate) use statements::{DOMAIN_TABLES, sql};
pub(crate) use task::kind_word;
pub(crate) use tool::call_hash;

/// An event with its place in the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    pub session: Option<SessionId>,
    pub body: &'a EventBody,
}

/// What an item of a conversation is, as stored in `items.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i64)]
pub(crate) enum ItemKind {
    /// `turn.submitted`.
    Turn = 1,
    /// `message.appended` of an assistant, with text.
    Message = 2,
    ToolRun = 3,
    Approval = 4,
    Evidence = 5,
    /// `turn.ended`.
    TurnEnd = 6,
    /// `provider.waiting`.
    Notice = 7,
    /// `turn.resumed` with a note, `requirement.changed`.
    Note = 8,
}

/// Adds what an event changes. An unknown type changes nothing.
pub(crate) fn apply(entry: Entry<'_>, changes: &mut Changes) {
    artifacts::register(entry, changes);
    match entry.body {
        EventBody::SessionCreated(body) => session::created(entry, body, changes),
        EventBody::SessionConfigured(body) => session::configured(entry, body, changes),
        EventBody::SessionClosed(body) => session::closed(entry, body, changes),
        EventBody::TurnSubmitted(body) => session::submitted(entry, body, changes),
        EventBody::TurnStarted(body) => session::started(entry, body, changes),
        EventBody::TurnEnded(body) => session::ended(entry, body, changes),
        EventBody::TurnResumed(body) => session::resumed(entry, body, changes),
        EventBody::RequirementChanged(_) => session::note(entry, changes),
        EventBody::MessageAppended(body) => session::message(entry, body, changes),
        EventBody::TaskCreated(body) => task::created(entry, body, changes),
        EventBody::TaskStatusChanged(body) => task::status(entry, body, changes),
        EventBody::EvidenceRecorded(body) => task::evidence(entry, body, changes),
        EventBody::DiagnosticRecorded(body) => task::diagnostic(entry, body, changes),
        EventBody::AgentStarted(body) => agent::started(entry, body, changes),
        EventBody::AgentEnded(body) => agent::ended(entry, body, changes),
        EventBody::AgentLost(body) => agent::lost(entry, body, changes),
        EventBody::ProviderWaiting(body) => agent::waiting(entry, body, changes),
        EventBody::ToolStarted(body) => tool::started(entry, body, changes),
        EventBody::ToolCompleted(body) => tool::completed(entry, body, changes),
        EventBody::ToolFailed(body) => tool::failed(entry, body, changes),
        EventBody::ApprovalRequested(body) => approval::requested(entry, body, changes),
        EventBody::ApprovalAnswered(body) => approval::answered(entry, body, changes),
        EventBody::ApprovalWithdrawn(body) => approval::withdrawn(entry, body, changes),
        EventBody::ContextAssembled(body) => context::assembled(entry, body, changes),
        EventBody::SummaryCreated(body) => context::summary(entry, body, changes),
        EventBody::UsageRecorded(body) => context::usage(entry, body, changes),
        EventBody::WorkspaceCreated(body) => workspace::created(entry, body, changes),
        EventBody::WorkspaceCheckpointed(body) => workspace::checkpointed(entry, body, changes),
        EventBody::WorkspaceMergeStarted(body) => workspace::merge(body.workspace_id, "merging", changes),
        EventBody::WorkspaceMergeCompleted(body) => workspace::merge(body.workspace_id, "merged", changes),
        EventBody::WorkspaceMergeConflicted(body) => {
            workspace::merge(body.workspace_id, "conflicted", changes)
        }
        EventBody::RuntimeStarted(_)
        | EventBody::ArtifactCreated(_)
        | EventBody::ContextCompactionRequested(_)
        | EventBody::ContextCompactionCompleted(_)
        | EventBody::ArchitectureImpactCompleted(_)
        | EventBody::Unknown { .. } => {}
    }
}
