//! Canonical tool names and their names on the wire.
//!
//! Both large APIs allow only `^[a-zA-Z0-9_-]{1,64}$`, so that `fs.read` needs another name there. The
//! map is injective: two tools never share a wire name, and what a model calls is mapped back exactly.

use std::collections::HashMap;

use air_contracts::message::{ContentBlock, Message};
use air_contracts::provider::ToolSpec;

use crate::report::ConversionReport;

const LONGEST: usize = 64;

/// The names of one request, in both directions.
#[derive(Debug, Default)]
pub(crate) struct NameMap {
    to_wire: HashMap<String, String>,
    to_canonical: HashMap<String, String>,
}

impl NameMap {
    /// Names of the tools first, then of calls in the history whose tool is not offered any more.
    pub fn new(tools: &[ToolSpec], messages: &[Message], report: &mut ConversionReport) -> Self {
        let mut map = Self::default();
        for tool in tools {
            if is_legal(&tool.wire_name) && !map.to_canonical.contains_key(&tool.wire_name) {
                map.insert(&tool.name, tool.wire_name.clone());
            } else {
                let wire = map.free_name(&tool.name);
                report.noted(format!("tool {} is called {wire} on the wire", tool.name));
                map.insert(&tool.name, wire);
            }
        }
        let blocks = messages.iter().flat_map(|message| &message.content);
        for block in blocks {
            if let ContentBlock::ToolUse { name, .. } = block
                && !map.to_wire.contains_key(name)
            {
                let wire = map.free_name(name);
                map.insert(name, wire);
            }
        }
        map
    }

    /// The wire name of a tool that the request mentions.
    pub fn wire<'a>(&'a self, canonical: &'a str) -> &'a str {
        self.to_wire.get(canonical).map_or(canonical, String::as_str)
    }

    /// The canonical name; one that no tool has comes back as it is.
    pub fn canonical<'a>(&'a self, wire: &'a str) -> &'a str {
        self.to_canonical.get(wire).map_or(wire, String::as_str)
    }

    fn insert(&mut self, canonical: &str, wire: String) {
        self.to_canonical.insert(wire.clone(), canonical.to_owned());
        self.to_wire.insert(canonical.to_owned(), wire);
    }

    fn free_name(&self, canonical: &str) -> String {
        let plain: String = canonical.chars().map(|c| if is_legal_char(c) { c } else { '_' }).collect();
        if is_legal(&plain) && !self.to_canonical.contains_key(&plain) {
            return plain;
        }
        let stem = &plain[..plain.len().min(LONGEST - 9)];
        let mut salt = 0;
        loop {
            let name = format!("{stem}_{:08x}", fingerprint(canonical, salt));
            if !self.to_canonical.contains_key(&name) {
                return name;
            }
            salt += 1;
        }
    }
}

fn is_legal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_legal(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_legal_char)
}

/// FNV-1a, folded to 32 bits: the same in every process, so that prompt caches keep hitting.
fn fingerprint(text: &str, salt: u8) -> u32 {
    let bytes = text.bytes().chain(std::iter::once(salt));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, wire_name: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            wire_name: wire_name.into(),
            description: String::new(),
            input_schema: serde_json::json!({"type": "object"}),
        }
    }

    #[test]
    fn names_map_both_ways_without_collisions() {
        let long = format!("mcp.{}", "a".repeat(80));
        let tools = [
            tool("fs.read", "fs_read"),
            tool("fs_read", "fs_read"),
            tool(&format!("{long}.one"), ""),
            tool(&format!("{long}.two"), ""),
            tool("ключ", "ключ"),
        ];
        let old = Message {
            role: air_contracts::message::MessageRole::Assistant,
            content: vec![ContentBlock::ToolUse {
                id: "t".into(),
                name: "git.status".into(),
                input: serde_json::json!({}),
            }],
        };
        let map = NameMap::new(&tools, &[old], &mut ConversionReport::default());
        for name in tools.iter().map(|tool| tool.name.as_str()).chain(["git.status"]) {
            assert!(is_legal(map.wire(name)), "{name}: {}", map.wire(name));
            assert_eq!(map.canonical(map.wire(name)), name);
        }
        assert_eq!(map.wire("fs.read"), "fs_read");
        assert_eq!(map.wire("git.status"), "git_status");
        assert_eq!(map.canonical("no_such_tool"), "no_such_tool");
    }
}
