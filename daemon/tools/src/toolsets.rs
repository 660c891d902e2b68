//! What a role sees and may call, from `toolsets.toml`.

use std::collections::{BTreeMap, BTreeSet};

use air_contracts::task::AgentRole;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
struct Table {
    any_role: Vec<String>,
    #[serde(flatten)]
    roles: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// The table.
pub(crate) struct Toolsets(Table);

impl Toolsets {
    /// Reads the table that is part of the program.
    pub fn load() -> Self {
        let table = toml::from_str(include_str!("toolsets.toml"));
        Self(table.unwrap_or_else(|error| {
            tracing::error!(%error, "toolsets.toml cannot be read: no role sees a tool");
            Table::default()
        }))
    }

    /// The tools that a role sees in a family, sorted.
    pub fn visible(&self, role: AgentRole, family: &str) -> BTreeSet<&str> {
        let Some(rows) = self.0.roles.get(word(role)) else { return BTreeSet::new() };
        let row = rows.get(family).or_else(|| rows.get("all"));
        row.into_iter().flatten().map(String::as_str).collect()
    }

    /// Whether a role may call a tool, whatever its family sees. The runtime may call all.
    pub fn allows(&self, role: AgentRole, tool: &str) -> bool {
        let of_role = || {
            self.0.roles.get(word(role)).is_some_and(|rows| rows.values().flatten().any(|name| name == tool))
        };
        role == AgentRole::Runtime || self.0.any_role.iter().any(|name| name == tool) || of_role()
    }
}

const fn word(role: AgentRole) -> &'static str {
    match role {
        AgentRole::Main => "main",
        AgentRole::ArchitectureDesigner => "architecture_designer",
        AgentRole::Scheduler => "scheduler",
        AgentRole::Executor => "executor",
        AgentRole::Reviewer => "reviewer",
        AgentRole::Debugger => "debugger",
        AgentRole::Compactor => "compactor",
        AgentRole::ExperienceMiner => "experience_miner",
        AgentRole::Runtime => "runtime",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_write_get_tools_that_write() {
        let sets = Toolsets::load();
        for (role, allowed) in [
            (AgentRole::Executor, true),
            (AgentRole::Debugger, true),
            (AgentRole::Runtime, true),
            (AgentRole::Main, false),
            (AgentRole::Reviewer, false),
            (AgentRole::ExperienceMiner, false),
        ] {
            for tool in ["fs.write", "fs.edit", "shell.run"] {
                assert_eq!(sets.allows(role, tool), allowed, "{role:?} {tool}");
            }
        }
        assert!(sets.visible(AgentRole::Main, "claude").contains("user.ask"));
        assert!(!sets.visible(AgentRole::Executor, "local").contains("fs.glob"));
        assert!(sets.visible(AgentRole::Executor, "openai").contains("fs.glob"));
    }
}
