//! The layers that go into the system prompt, L0–L4, and the record of every layer.

use air_contracts::event::{ContextConflict, LayerRecord, Omission};
use air_contracts::provider::{SystemBlock, ToolSpec};
use air_contracts::task::AgentRole;
use air_contracts::{AirError, Result};
use air_host::RuleFile;
use sha2::{Digest as _, Sha256};

use crate::names::render_names;
use crate::prompts;
use crate::tokens::estimate_tokens;

/// Bytes of rules that are sent whole; what is beyond is named by its headings, and can be read.
const RULES_WHOLE: usize = 8 * 1024;

/// Layers as they are collected.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    pub(crate) records: Vec<LayerRecord>,
    pub(crate) omissions: Vec<Omission>,
    pub(crate) conflicts: Vec<ContextConflict>,
}

impl Layers {
    /// Records a layer's text.
    pub(crate) fn add(&mut self, layer: &str, what: &str, from: &str, text: &str) {
        self.records.push(LayerRecord {
            layer: layer.to_owned(),
            what: what.to_owned(),
            tokens: estimate_tokens(text),
            hash: sha256(text.as_bytes()),
            from: from.to_owned(),
        });
    }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// L0–L4 as system blocks: built-in texts first, since they are the same for all projects; a cache breakpoint last.
pub(crate) fn system_blocks(
    role: AgentRole,
    rules: &[RuleFile],
    project_facts: &str,
    tools: &[ToolSpec],
    layers: &mut Layers,
) -> Result<Vec<SystemBlock>> {
    let Some(role_text) = prompts::role(role) else {
        return Err(AirError::internal(format!("no prompt for the role {role:?}")));
    };
    let mut core = prompts::RUNTIME.to_owned();
    if prompts::works(role) {
        core.push_str(prompts::WORK);
    }
    layers.add("L0", "runtime rules", "built in", &core);
    layers.add("L1", "role", "built in", role_text);
    let first = format!("{core}\n{role_text}");

    let mut second = String::new();
    if prompts::works(role) {
        layers.add("L2", "permission summary", "built in", prompts::PERMISSIONS);
        second.push_str(prompts::PERMISSIONS);
    }
    let rules_text = rules_block(rules, layers);
    let facts = project_facts.trim();
    let facts = if facts.is_empty() { String::new() } else { format!("# Project\n{facts}\n") };
    if !facts.is_empty() {
        layers.add("L4", "project facts", "scan of the project", &facts);
    }
    let blocks = [first, [second, rules_text].join(""), facts];
    let mut blocks: Vec<SystemBlock> = blocks
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| SystemBlock { text: render_names(text.trim(), tools).into_owned(), cache: false })
        .collect();
    if let Some(last) = blocks.last_mut() {
        last.cache = true;
    }
    Ok(blocks)
}

/// L3: the rule files, strongest last.
fn rules_block(rules: &[RuleFile], layers: &mut Layers) -> String {
    let mut text = String::new();
    let mut room = RULES_WHOLE;
    for rule in rules {
        let body = if rule.text.len() <= room {
            room -= rule.text.len();
            rule.text.trim_end().to_owned()
        } else {
            layers.omissions.push(Omission {
                what: format!("{}, {} bytes: only its headings", rule.name, rule.text.len()),
                why: format!("rules are sent whole up to {RULES_WHOLE} bytes in all"),
            });
            headings(rule)
        };
        if asks_for_bypass(&rule.text) {
            layers.conflicts.push(ContextConflict {
                kind: "policy".into(),
                what: format!("{} asks to go around permissions", rule.name),
                action: "the permission policy wins".into(),
            });
        }
        let part = format!("\n# Rules from {}\n{body}\n", rule.name);
        layers.add("L3", &rule.name, &rule.path.display().to_string(), &part);
        text.push_str(&part);
    }
    text
}

fn headings(rule: &RuleFile) -> String {
    let lines: Vec<&str> = rule.text.lines().filter(|line| line.starts_with('#')).take(60).collect();
    format!(
        "[{} bytes, only the headings are shown: read {} for the rest]\n{}",
        rule.text.len(),
        rule.name,
        lines.join("\n")
    )
}

/// A rule file that speaks against the permission engine by name. A hint for people, not a defence: the
/// engine does not read prompts.
fn asks_for_bypass(text: &str) -> bool {
    let lower = text.to_lowercase();
    let verbs = ["bypass", "ignore", "skip", "disable", "circumvent"];
    lower.lines().any(|line| line.contains("permission") && verbs.iter().any(|verb| line.contains(verb)))
}
