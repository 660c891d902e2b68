//! What an answer is bound to.

use air_contracts::port::CallPlan;
use air_contracts::tool::{CallContext, ToolDefinition};
use air_security::CommandAnalysis;

use crate::hash::{sha256_hex, sha256_parts};
use crate::kit::Kit;

/// SHA-256 over tool, normalised input, directory, names of the environment and script contents.
pub(super) fn of(
    kit: &Kit,
    context: &CallContext,
    definition: &ToolDefinition,
    plan: &CallPlan,
    analysis: Option<&CommandAnalysis>,
) -> String {
    let input = plan.input.to_string();
    let cwd =
        plan.command.as_ref().map_or(&context.workspace_root, |(_, cwd)| cwd).to_string_lossy().into_owned();
    let env = if plan.command.is_some() { names(kit) } else { String::new() };
    let scripts = analysis.map(scripts).unwrap_or_default();
    let parts = [definition.name.as_str(), input.as_str(), cwd.as_str(), env.as_str(), scripts.as_str()];
    sha256_parts(parts.iter().map(|part| part.as_bytes()))
}

fn names(kit: &Kit) -> String {
    let mut names: Vec<&str> = kit.env.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.join("\n")
}

/// The scripts that a command runs, with the hashes of their contents.
pub(super) fn scripts(analysis: &CommandAnalysis) -> String {
    let hash = |path: &std::path::PathBuf| {
        let content = std::fs::read(path).map_or_else(|_| "absent".to_owned(), |bytes| sha256_hex(&bytes));
        format!("{} {content}", path.display())
    };
    analysis.scripts.iter().map(hash).collect::<Vec<_>>().join("\n")
}
