//! Tool names: canonical with dots inside, as the model knows them outside.

use std::borrow::Cow;

use air_contracts::provider::ToolSpec;

/// The usual wire name of a tool: dots become underscores.
pub fn wire_name(canonical: &str) -> String {
    canonical.replace('.', "_")
}

/// The canonical name for what a model wrote, among the tools that it was shown.
pub fn canonical_name<'a>(wire: &str, tools: &'a [ToolSpec]) -> Option<&'a str> {
    tools.iter().find(|tool| tool.wire_name == wire || tool.name == wire).map(|tool| tool.name.as_str())
}

/// A text as a model reads it: each canonical name of a shown tool that stands in backquotes becomes its wire name.
pub fn render_names<'a>(text: &'a str, tools: &[ToolSpec]) -> Cow<'a, str> {
    if !text.contains('`') {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(open) = text[from..].find('`').map(|at| from + at) {
        let Some(close) = text[open + 1..].find('`').map(|at| open + 1 + at) else { break };
        match tools.iter().find(|tool| tool.name == text[open + 1..close] && tool.name != tool.wire_name) {
            Some(tool) => {
                out.push_str(&text[copied..=open]);
                out.push_str(&tool.wire_name);
                copied = close;
                from = close + 1;
            }
            // The closing quote may be the opening one of the next name.
            None => from = open + 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<ToolSpec> {
        ["fs.read", "check.run"]
            .map(|name| ToolSpec {
                name: name.into(),
                wire_name: wire_name(name),
                description: String::new(),
                input_schema: serde_json::json!({}),
            })
            .to_vec()
    }

    #[test]
    fn only_known_names_in_backquotes_are_rendered() {
        for (text, expected) in [
            ("use `fs.read` first", "use `fs_read` first"),
            ("`fs.read`, `check.run`", "`fs_read`, `check_run`"),
            ("fs.read and `git.diff` stay", "fs.read and `git.diff` stay"),
            ("`unclosed fs.read", "`unclosed fs.read"),
            ("a ` b `fs.read` c", "a ` b `fs_read` c"),
            ("ünï `fs.read`é", "ünï `fs_read`é"),
        ] {
            assert_eq!(render_names(text, &tools()), expected);
        }
        assert_eq!(canonical_name("fs_read", &tools()), Some("fs.read"));
        assert_eq!(canonical_name("rm", &tools()), None);
    }
}
