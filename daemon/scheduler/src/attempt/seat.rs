//! Who works on what: the identities of one agent.

use air_contracts::event::{EventBody, EventSource, NewEvent};
use air_contracts::ids::{AgentId, AttemptId};
use air_contracts::provider::{Effort, ModelAssignment};
use air_contracts::session::SessionSettings;
use air_contracts::task::AgentRole;
use air_contracts::tool::CallContext;
use air_contracts::workspace::WorkspaceRef;
use air_store::{TaskRow, TurnRow};

/// An agent with its task.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) task: TaskRow,
    pub(crate) turn: TurnRow,
    pub(crate) settings: SessionSettings,
    pub(crate) agent_id: AgentId,
    pub(crate) attempt_id: AttemptId,
    /// From 1 within the task.
    pub(crate) n: u32,
    pub(crate) role: AgentRole,
    pub(crate) assignment: ModelAssignment,
    pub(crate) workspace: WorkspaceRef,
}

impl Seat {
    /// A reviewer works beside an attempt, not in one: its calls carry no fencing token.
    pub(crate) fn is_reviewer(&self) -> bool {
        self.role == AgentRole::Reviewer
    }

    pub(crate) fn call_context(&self) -> CallContext {
        CallContext {
            session_id: self.task.session_id,
            turn_id: self.task.turn_id,
            task_id: Some(self.task.id),
            agent_id: self.agent_id,
            attempt_id: (!self.is_reviewer()).then_some(self.attempt_id),
            role: self.role,
            workspace_id: self.workspace.id,
            workspace_root: self.workspace.root.clone(),
            approve: self.turn.options.approve.unwrap_or(self.settings.approve),
        }
    }

    /// An event that this agent causes.
    pub(crate) fn event(&self, body: impl Into<EventBody>) -> NewEvent {
        NewEvent::new(self.task.session_id, EventSource::agent(self.agent_id), body)
            .task(Some(self.task.id))
            .agent(self.agent_id)
    }

    /// How much the model may think; nothing is said to one that cannot.
    pub(crate) fn effort(&self) -> Option<Effort> {
        let effort = match self.role {
            AgentRole::Debugger | AgentRole::Reviewer | AgentRole::ArchitectureDesigner => Effort::High,
            AgentRole::Main | AgentRole::Compactor | AgentRole::Scheduler | AgentRole::Runtime => Effort::Low,
            AgentRole::Executor | AgentRole::ExperienceMiner => Effort::Medium,
        };
        self.assignment.matrix.thinking.then_some(effort)
    }
}
