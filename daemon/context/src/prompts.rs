//! The built-in prompts. L0 is not to be overridden by anything.

use air_contracts::task::AgentRole;

pub(crate) const RUNTIME: &str = include_str!("../resources/prompts/runtime-invariant.md");
pub(crate) const WORK: &str = include_str!("../resources/prompts/work-invariant.md");
pub(crate) const PERMISSIONS: &str = include_str!("../resources/prompts/permissions.md");

/// L1 of a role; `None` for those that have no prompt in this build.
pub(crate) const fn role(role: AgentRole) -> Option<&'static str> {
    match role {
        AgentRole::Main => Some(include_str!("../resources/prompts/roles/main.md")),
        AgentRole::Executor => Some(include_str!("../resources/prompts/roles/executor.md")),
        AgentRole::Reviewer => Some(include_str!("../resources/prompts/roles/reviewer.md")),
        AgentRole::Debugger => Some(include_str!("../resources/prompts/roles/debugger.md")),
        AgentRole::ArchitectureDesigner
        | AgentRole::Scheduler
        | AgentRole::Compactor
        | AgentRole::ExperienceMiner
        | AgentRole::Runtime => None,
    }
}

/// Whether the role changes files, and so is given the work part of L0 and the policy summary.
pub(crate) const fn works(role: AgentRole) -> bool {
    matches!(role, AgentRole::Executor | AgentRole::Debugger)
}
