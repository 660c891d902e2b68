//! The tools there are, and which one a model means.

use std::collections::BTreeMap;
use std::sync::Arc;

use air_contracts::AirError;
use air_contracts::error::codes;

use crate::tool::Builtin;

/// Names of other agents' tools, as models know them, in lower case.
const ALIASES: &[(&str, &str)] = &[
    ("read", "fs.read"),
    ("read_file", "fs.read"),
    ("readfile", "fs.read"),
    ("view", "fs.read"),
    ("cat", "fs.read"),
    ("write", "fs.write"),
    ("write_file", "fs.write"),
    ("create_file", "fs.write"),
    ("edit", "fs.edit"),
    ("edit_file", "fs.edit"),
    ("multiedit", "fs.edit"),
    ("multi_edit", "fs.edit"),
    ("str_replace", "fs.edit"),
    ("str_replace_editor", "fs.edit"),
    ("replace", "fs.edit"),
    ("bash", "shell.run"),
    ("shell", "shell.run"),
    ("exec", "shell.run"),
    ("terminal", "shell.run"),
    ("run_command", "shell.run"),
    ("run_shell_command", "shell.run"),
    ("execute_command", "shell.run"),
    ("grep", "fs.search"),
    ("search", "fs.search"),
    ("search_file_content", "fs.search"),
    ("glob", "fs.glob"),
    ("find_files", "fs.glob"),
    ("ls", "fs.list"),
    ("list", "fs.list"),
    ("list_directory", "fs.list"),
    ("bashoutput", "process.output"),
    ("killshell", "process.kill"),
    ("killbash", "process.kill"),
    ("ask_user", "user.ask"),
    ("askuserquestion", "user.ask"),
    ("finish", "task.finish"),
];

/// Tools by canonical name.
#[derive(Default)]
pub(crate) struct Registry(BTreeMap<String, Arc<dyn Builtin>>);

impl Registry {
    /// Adds a tool; one of the same name is replaced.
    pub fn add(&mut self, tool: Arc<dyn Builtin>) {
        self.0.insert(tool.definition().name.clone(), tool);
    }

    /// All tools, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Builtin>> {
        self.0.values()
    }

    /// The tool that a name means, with the mapping where it is not the canonical or the wire name.
    pub fn find(&self, name: &str) -> Option<(Arc<dyn Builtin>, Option<String>)> {
        let name = name.trim();
        if let Some(tool) = self.0.get(name) {
            return Some((tool.clone(), None));
        }
        // Some servers put the namespace in front.
        let bare = name.rsplit(['/', ':']).next().unwrap_or(name);
        let bare = bare.strip_prefix("functions.").unwrap_or(bare);
        let by_wire = self.0.iter().find(|(canonical, _)| wire_name(canonical) == bare);
        if let Some((_, tool)) = by_wire {
            return Some((tool.clone(), None));
        }
        let lower = bare.to_ascii_lowercase().replace('-', "_");
        let known =
            ALIASES.iter().find(|(alias, _)| *alias == lower).map(|(_, canonical)| (*canonical).to_owned());
        let folded =
            || self.0.keys().find(|canonical| wire_name(canonical) == lower.replace('.', "_")).cloned();
        let canonical = known.or_else(folded)?;
        let tool = self.0.get(&canonical)?;
        Some((tool.clone(), Some(format!("{name} → {canonical}"))))
    }

    /// The error for a name that means nothing, with the names that this role may call.
    pub fn unknown(&self, name: &str, allowed: impl Fn(&str) -> bool) -> AirError {
        let names: Vec<String> = self
            .all()
            .filter(|tool| !tool.only_runtime() && allowed(&tool.definition().name))
            .map(|tool| format!("`{}`", tool.definition().name))
            .collect();
        let text = format!("there is no tool {name}. Nothing was done. The tools are {}.", names.join(", "));
        AirError::new(codes::TOOL_UNKNOWN, text)
    }
}

/// What goes over the wire for a canonical name: `fs_read`.
pub(crate) fn wire_name(canonical: &str) -> String {
    canonical.replace('.', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_models_use_are_understood() {
        let mut registry = Registry::default();
        for tool in crate::fs::tools().into_iter().chain(crate::shell::tools()) {
            registry.add(tool);
        }
        for (name, canonical) in [
            ("fs.read", Some("fs.read")),
            ("fs_read", Some("fs.read")),
            ("Read", Some("fs.read")),
            ("FS_READ", Some("fs.read")),
            ("bash", Some("shell.run")),
            ("functions.shell_run", Some("shell.run")),
            ("str_replace", Some("fs.edit")),
            ("teleport", None),
        ] {
            let found = registry.find(name).map(|(tool, _)| tool.definition().name.clone());
            assert_eq!(found.as_deref(), canonical, "{name}");
        }
    }
}
