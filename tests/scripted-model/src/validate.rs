//! What the vendor refuses, in the vendor's words where they are known.

use std::collections::HashSet;

use crate::request::{Block, Content, Message, Request};

/// Why a request is refused with status 400; `None`: it is accepted.
pub(crate) fn refusal(request: &Request<'_>) -> Option<String> {
    if request.max_tokens.is_none() {
        return Some("max_tokens: Field required".to_owned());
    }
    if request.temperature.is_some() {
        return Some("temperature: this model takes no sampling parameters".to_owned());
    }
    tools(request)
        .or_else(|| system(request))
        .or_else(|| turns(&request.messages))
        .or_else(|| breakpoints(request))
}

fn tools(request: &Request<'_>) -> Option<String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut seen = HashSet::new();
    for (index, tool) in request.tools.iter().enumerate() {
        if !(1..=64).contains(&tool.name.len()) || !tool.name.chars().all(legal) {
            return Some(format!(
                "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            ));
        }
        if !seen.insert(&tool.name) {
            return Some("tools: Tool names must be unique.".to_owned());
        }
    }
    None
}

fn system(request: &Request<'_>) -> Option<String> {
    let blocks = request.system.as_ref().map(Content::blocks).unwrap_or_default();
    let empty = blocks.iter().any(|block| block.text.as_deref().is_none_or(|text| text.trim().is_empty()));
    empty.then(|| "system: text content blocks must be non-empty".to_owned())
}

fn turns(messages: &[Message]) -> Option<String> {
    if messages.first()?.role != "user" {
        return Some("messages: first message must use the \"user\" role".to_owned());
    }
    if messages.last()?.role == "assistant" {
        return Some("This model does not support assistant message prefill.".to_owned());
    }
    for (index, message) in messages.iter().enumerate() {
        let previous = index.checked_sub(1).map(|before| &messages[before]);
        let problem = match previous {
            Some(before) if before.role == message.role => Some("roles must alternate".to_owned()),
            _ => blocks(message).or_else(|| pairing(previous, message)),
        };
        if let Some(problem) = problem {
            return Some(format!("messages.{index}: {problem}"));
        }
    }
    None
}

fn blocks(message: &Message) -> Option<String> {
    if let Content::Text(text) = &message.content {
        return text.trim().is_empty().then(|| "content must be non-empty".to_owned());
    }
    let blocks = message.content.blocks();
    if blocks.is_empty() {
        return Some("content must be non-empty".to_owned());
    }
    let empty = |block: &Block| {
        block.kind == "text" && block.text.as_deref().is_none_or(|text| text.trim().is_empty())
    };
    if blocks.iter().any(empty) {
        return Some("text content blocks must contain non-whitespace text".to_owned());
    }
    let unsigned =
        |block: &Block| block.kind == "thinking" && block.signature.as_deref().is_none_or(str::is_empty);
    blocks.iter().any(unsigned).then(|| "Invalid `signature` in `thinking` block".to_owned())
}

fn ids<'a>(message: &'a Message, kind: &'a str) -> impl Iterator<Item = &'a str> {
    let blocks = message.content.blocks().iter().filter(move |block| block.kind == kind);
    blocks.filter_map(|block| block.tool_use_id.as_deref().or(block.id.as_deref()))
}

fn pairing(previous: Option<&Message>, message: &Message) -> Option<String> {
    let calls: Vec<&str> = previous.map(|before| ids(before, "tool_use").collect()).unwrap_or_default();
    let results: Vec<&str> = ids(message, "tool_result").collect();
    let open: Vec<&str> = calls.iter().filter(|id| !results.contains(*id)).copied().collect();
    if !open.is_empty() {
        return Some(format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {}",
            open.join(", ")
        ));
    }
    if let Some(orphan) = results.iter().find(|id| !calls.contains(*id)) {
        return Some(format!("unexpected `tool_use_id` found in `tool_result` blocks: {orphan}"));
    }
    let kinds = message.content.blocks().iter().map(|block| block.kind == "tool_result");
    let late = kinds.skip_while(|is_result| *is_result).any(|is_result| is_result);
    late.then(|| "`tool_result` blocks must come first".to_owned())
}

fn breakpoints(request: &Request<'_>) -> Option<String> {
    let marked = |blocks: &[Block]| blocks.iter().filter(|block| block.cache_control.is_some()).count();
    let tools = request.tools.iter().filter(|tool| tool.cache_control.is_some()).count();
    let system = request.system.as_ref().map_or(0, |system| marked(system.blocks()));
    let messages: usize = request.messages.iter().map(|message| marked(message.content.blocks())).sum();
    let found = tools + system + messages;
    (found > 4).then(|| format!("A maximum of 4 blocks with cache_control may be provided. Found {found}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: &str, expected: Option<&str>) {
        let text = format!(r#"{{"model":"m","max_tokens":1,"messages":{messages}}}"#);
        let found = refusal(&serde_json::from_str(&text).unwrap());
        match expected {
            Some(part) => {
                assert!(found.as_deref().unwrap_or_default().contains(part), "{part:?} in {found:?}")
            }
            None => assert_eq!(found, None),
        }
    }

    #[test]
    fn flawed_transcripts_are_refused() {
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{}}]}"#;
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}"#;
        let user = r#"{"role":"user","content":"go"}"#;
        check(&format!("[{user},{call},{result}]"), None);
        check(&format!("[{user},{call},{user}]"), Some("without `tool_result`"));
        check(&format!("[{user},{call}]"), Some("prefill"));
        check(&format!("[{result}]"), Some("unexpected `tool_use_id`"));
        check(&format!("[{user},{user}]"), Some("alternate"));
        check(&format!("[{call},{result}]"), Some("first message"));
        check(r#"[{"role":"user","content":[{"type":"text","text":" "}]}]"#, Some("non-whitespace"));
    }
}
