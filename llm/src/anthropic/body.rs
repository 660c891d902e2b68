//! Builds the request body: names, cache breakpoints, thinking, and the sanitised turns.

use std::collections::HashSet;

use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::provider::{Effort, ModelRequest};
use air_contracts::{AirError, Result};

use super::sanitise::Sanitiser;
use super::wire::{Body, CacheControl, OutputConfig, System, Thinking, Tool};
use crate::catalogue::{ModelRow, ThinkingMode};
use crate::names::NameMap;
use crate::report::ConversionReport;

/// The API takes no more breakpoints than this.
const BREAKPOINTS: usize = 4;
/// The API takes no smaller thinking budget.
const LEAST_BUDGET: u32 = 1_024;

/// What a body is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Complete,
    CountTokens,
}

/// The body, the names in it, and what was changed.
pub(super) struct Built {
    pub json: Vec<u8>,
    pub names: NameMap,
    pub report: ConversionReport,
}

/// Builds and serialises the body for a request, once for all attempts.
pub(super) fn build(request: &ModelRequest, row: &ModelRow, purpose: Purpose) -> Result<Built> {
    let mut report = ConversionReport::default();
    let names = NameMap::new(&request.tools, &request.messages, &mut report);
    let (system_marks, marks) = breakpoints(request, row, &mut report);
    let sanitiser = Sanitiser { names: &names, row, marks: &marks, report: &mut report };
    let messages = sanitiser.turns(&request.messages)?;
    let max_tokens = request.max_output_tokens.clamp(1, row.matrix.max_output_tokens.max(1));
    if max_tokens < request.max_output_tokens {
        report.noted(format!("the limit of the answer was lowered to {max_tokens} tokens"));
    }
    let thinking = thinking(request, row, max_tokens, &mut report);
    let effort = request.effort.filter(|_| row.effort).map(effort_word);
    let complete = purpose == Purpose::Complete;
    let body = Body {
        model: model_name(&request.model),
        max_tokens: complete.then_some(max_tokens),
        stream: complete,
        tools: tools(request, &names),
        system: system(request, &system_marks, &mut report),
        thinking,
        output_config: effort.map(|effort| OutputConfig { effort }),
        messages,
    };
    let json = serde_json::to_vec(&body)
        .map_err(|error| AirError::internal(format!("the model request cannot be serialised: {error}")))?;
    Ok(Built { json, names, report })
}

/// The part behind `<provider>/`.
pub(super) fn model_name(model: &str) -> &str {
    model.split_once('/').map_or(model, |(_, name)| name)
}

fn tools<'a>(request: &'a ModelRequest, names: &'a NameMap) -> Vec<Tool<'a>> {
    let tool = |spec: &'a air_contracts::provider::ToolSpec| Tool {
        name: names.wire(&spec.name),
        description: &spec.description,
        input_schema: &spec.input_schema,
    };
    request.tools.iter().map(tool).collect()
}

fn system<'a>(
    request: &'a ModelRequest,
    marks: &HashSet<usize>,
    report: &mut ConversionReport,
) -> Vec<System<'a>> {
    let mut blocks: Vec<System<'a>> = Vec::with_capacity(request.system.len());
    for (index, block) in request.system.iter().enumerate() {
        let cache_control = marks.contains(&index).then_some(CacheControl::Ephemeral);
        if block.text.trim().is_empty() {
            report.noted("an empty part of the system prompt was left out");
            if let Some(last) = blocks.last_mut() {
                last.cache_control = last.cache_control.or(cache_control);
            }
            continue;
        }
        blocks.push(System { kind: "text", text: &block.text, cache_control });
    }
    blocks
}

/// Which breakpoints are sent: the last of the system prompt, which many requests share, then the newest.
fn breakpoints(
    request: &ModelRequest,
    row: &ModelRow,
    report: &mut ConversionReport,
) -> (HashSet<usize>, HashSet<(usize, usize)>) {
    let mut system: Vec<usize> =
        request.system.iter().enumerate().filter(|(_, block)| block.cache).map(|(index, _)| index).collect();
    let mut marks: Vec<(usize, usize)> =
        request.cache_marks.iter().map(|mark| (mark.message, mark.block)).collect();
    if !row.matrix.caching {
        return (HashSet::new(), HashSet::new());
    }
    marks.sort_unstable();
    marks.dedup();
    let wanted = system.len() + marks.len();
    let shared = system.pop();
    let newest = marks.into_iter().rev().take(BREAKPOINTS - usize::from(shared.is_some()));
    let marks: HashSet<(usize, usize)> = newest.collect();
    let left = BREAKPOINTS - marks.len() - usize::from(shared.is_some());
    let system: HashSet<usize> = system.into_iter().rev().take(left).chain(shared).collect();
    if system.len() + marks.len() < wanted {
        report.noted(format!("{wanted} cache breakpoints were wanted, {BREAKPOINTS} are sent"));
    }
    (system, marks)
}

fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

fn thinking(
    request: &ModelRequest,
    row: &ModelRow,
    max_tokens: u32,
    report: &mut ConversionReport,
) -> Option<Thinking> {
    let effort = request.effort?;
    match row.thinking {
        ThinkingMode::None => {
            report.noted("the model takes no thinking effort");
            None
        }
        ThinkingMode::Adaptive => Some(Thinking::Adaptive),
        ThinkingMode::Manual if !loop_has_thinking(&request.messages) => {
            report.noted("thinking stays off until the running tool loop ends");
            None
        }
        ThinkingMode::Manual => {
            let wanted = match effort {
                Effort::Low => 2_048,
                Effort::Medium => 8_192,
                Effort::High => 16_384,
            };
            let budget_tokens = wanted.min(max_tokens / 2);
            (budget_tokens >= LEAST_BUDGET).then_some(Thinking::Enabled { budget_tokens })
        }
    }
}

/// Whether every assistant turn of the running tool loop begins with signed thinking: with a budget set,
/// the API refuses one that does not, so thinking cannot be switched on inside a loop.
fn loop_has_thinking(messages: &[Message]) -> bool {
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult { .. });
    let in_loop = messages.iter().rev().take_while(|message| {
        message.role == MessageRole::Assistant || message.content.iter().any(is_result)
    });
    in_loop.filter(|message| message.role == MessageRole::Assistant).all(|message| {
        match message.content.first() {
            Some(ContentBlock::Thinking { signature, .. }) => !signature.is_empty(),
            Some(ContentBlock::RedactedThinking { .. }) => true,
            _ => false,
        }
    })
}
