//! Makes a transcript acceptable to the Messages API, which refuses a whole request for one flaw.
//!
//! Turns alternate and begin with the user; every call is answered in the very next turn, results before
//! anything else, in the order of the calls; no text is empty. Whatever is changed is reported.

use std::collections::HashSet;

use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::{AirError, Result};
use serde_json::Value;

use super::wire::{Block, CacheControl, ImageSource, Placed, Turn};
use crate::catalogue::ModelRow;
use crate::names::NameMap;
use crate::report::ConversionReport;

const NO_OUTPUT: &str = "(no output)";
const INTERRUPTED: &str = "The call was interrupted: it has no result.";
const EARLIER: &str = "(earlier messages are left out)";
const CONTINUE: &str = "Continue.";

fn empty_object() -> &'static Value {
    static EMPTY: std::sync::OnceLock<Value> = std::sync::OnceLock::new();
    EMPTY.get_or_init(|| Value::Object(serde_json::Map::new()))
}

/// The context of one conversion.
pub(super) struct Sanitiser<'a, 'r> {
    pub names: &'a NameMap,
    pub row: &'r ModelRow,
    /// (message, block) pairs behind which a cache breakpoint is wanted.
    pub marks: &'r HashSet<(usize, usize)>,
    pub report: &'r mut ConversionReport,
}

impl<'a> Sanitiser<'a, '_> {
    /// The turns to send. Fails for a transcript that still refers to stored results, or is empty.
    pub fn turns(mut self, messages: &'a [Message]) -> Result<Vec<Turn<'a>>> {
        let merged = self.convert(messages)?;
        let mut turns = self.pair(merged);
        self.begin_with_user(&mut turns);
        self.end_well(&mut turns);
        if turns.is_empty() {
            return Err(AirError::internal("a model request without any message"));
        }
        Ok(turns)
    }

    /// Converts blocks and merges adjacent turns of one role.
    fn convert(&mut self, messages: &'a [Message]) -> Result<Vec<Turn<'a>>> {
        let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len());
        for (m, message) in messages.iter().enumerate() {
            let mut content = Vec::with_capacity(message.content.len());
            for (b, block) in message.content.iter().enumerate() {
                if let Some(block) = self.block(message.role, block)? {
                    content.push(Placed::plain(block));
                }
                if self.marks.contains(&(m, b)) {
                    self.mark(&mut content);
                }
            }
            if content.is_empty() {
                self.report.noted("a message without content was left out");
                continue;
            }
            match turns.last_mut().filter(|last| last.role == message.role) {
                Some(last) => last.content.append(&mut content),
                None => turns.push(Turn { role: message.role, content }),
            }
        }
        Ok(turns)
    }

    fn mark(&mut self, content: &mut [Placed<'a>]) {
        match content.iter_mut().rev().find(|placed| placed.can_carry_mark()) {
            Some(placed) => placed.cache_control = Some(CacheControl::Ephemeral),
            None => self.report.noted("a cache breakpoint had no block to stand on"),
        }
    }

    fn block(&mut self, role: MessageRole, block: &'a ContentBlock) -> Result<Option<Block<'a>>> {
        let user = role == MessageRole::User;
        Ok(match block {
            ContentBlock::Text { text } if text.trim().is_empty() => {
                self.report.noted("an empty text was left out");
                None
            }
            ContentBlock::Text { text } => Some(Block::Text { text: text.into() }),
            ContentBlock::Thinking { signature, .. } if user || signature.is_empty() => {
                self.report.lossy("thinking without a signature was left out");
                None
            }
            ContentBlock::Thinking { thinking, signature } => Some(Block::Thinking { thinking, signature }),
            ContentBlock::RedactedThinking { data } if !user => Some(Block::RedactedThinking { data }),
            ContentBlock::ToolUse { id, name, input } if !user => Some(self.call(id, name, input)),
            ContentBlock::ToolResult { tool_use_id, content, is_error } if user => {
                let content = if content.trim().is_empty() { NO_OUTPUT } else { content };
                Some(Block::ToolResult { tool_use_id, content, is_error: *is_error })
            }
            ContentBlock::Image { media_type, data } if user && self.row.matrix.vision => {
                Some(Block::Image { source: ImageSource { media_type, data } })
            }
            ContentBlock::Image { media_type, .. } => {
                self.report
                    .lossy(format!("an image ({media_type}) became a note: the model takes none here"));
                Some(Block::Text { text: format!("(an image of type {media_type} is not shown)").into() })
            }
            ContentBlock::ToolResultRef { run, .. } => {
                return Err(AirError::internal(format!(
                    "the result of {run} was not put into the model request"
                )));
            }
            ContentBlock::RedactedThinking { .. }
            | ContentBlock::ToolUse { .. }
            | ContentBlock::ToolResult { .. } => {
                self.report.lossy("a block in a turn of the wrong role was left out");
                None
            }
        })
    }

    fn call(&mut self, id: &'a str, name: &'a str, input: &'a Value) -> Block<'a> {
        let input = if input.is_object() {
            input
        } else {
            self.report.lossy(format!("the input of call {id} is not an object and became an empty one"));
            empty_object()
        };
        Block::ToolUse { id, name: self.names.wire(name), input }
    }

    /// Puts the results of each turn's calls at the head of the next turn.
    fn pair(&mut self, merged: Vec<Turn<'a>>) -> Vec<Turn<'a>> {
        let mut turns: Vec<Turn<'a>> = Vec::with_capacity(merged.len() + 1);
        let mut open: Vec<&'a str> = Vec::new();
        for turn in merged {
            if turn.role == MessageRole::User {
                let calls = std::mem::take(&mut open);
                turns.push(self.answer(&calls, turn));
                continue;
            }
            open = turn
                .content
                .iter()
                .filter_map(|placed| match placed.block {
                    Block::ToolUse { id, .. } => Some(id),
                    _ => None,
                })
                .collect();
            turns.push(turn);
        }
        if !open.is_empty() {
            let none = Turn { role: MessageRole::User, content: Vec::new() };
            turns.push(self.answer(&open, none));
        }
        turns
    }

    fn answer(&mut self, calls: &[&'a str], turn: Turn<'a>) -> Turn<'a> {
        let mut results: Vec<Option<Placed<'a>>> = calls.iter().map(|_| None).collect();
        let mut rest = Vec::with_capacity(turn.content.len());
        for mut placed in turn.content {
            if let Block::ToolResult { tool_use_id, content, is_error } = placed.block {
                let slot =
                    calls.iter().position(|id| *id == tool_use_id).filter(|slot| results[*slot].is_none());
                if let Some(slot) = slot {
                    results[slot] = Some(placed);
                    continue;
                }
                self.report
                    .lossy(format!("the result of {tool_use_id} has no call before it and became text"));
                let kind = if is_error { "Failed result" } else { "Result" };
                placed.block = Block::Text { text: format!("{kind} of an earlier call: {content}").into() };
            }
            rest.push(placed);
        }
        let mut content = Vec::with_capacity(calls.len() + rest.len());
        for (id, result) in calls.iter().zip(results) {
            content.push(result.unwrap_or_else(|| {
                self.report.lossy(format!("call {id} has no result: it was given an error"));
                Placed::plain(Block::ToolResult { tool_use_id: id, content: INTERRUPTED, is_error: true })
            }));
        }
        content.append(&mut rest);
        Turn { role: MessageRole::User, content }
    }

    fn begin_with_user(&mut self, turns: &mut Vec<Turn<'a>>) {
        if turns.first().is_some_and(|turn| turn.role == MessageRole::Assistant) {
            self.report.lossy("the transcript began with the assistant: a user turn was put before it");
            turns.insert(0, user_turn(EARLIER));
        }
    }

    /// A final assistant turn is a beginning that the model has to go on with: not every model takes it,
    /// and none with white space at its end.
    fn end_well(&mut self, turns: &mut Vec<Turn<'a>>) {
        let Some(last) = turns.last_mut().filter(|turn| turn.role == MessageRole::Assistant) else { return };
        if let Some(Placed { block: Block::Text { text }, .. }) = last.content.last_mut()
            && text.trim_end().len() != text.len()
        {
            *text = text.trim_end().to_owned().into();
            self.report.noted("white space at the end of the last assistant turn was cut");
        }
        if !self.row.prefill {
            self.report.lossy("the transcript ended with the assistant: a user turn was put behind it");
            turns.push(user_turn(CONTINUE));
        }
    }
}

fn user_turn(text: &'static str) -> Turn<'static> {
    Turn { role: MessageRole::User, content: vec![Placed::plain(Block::Text { text: text.into() })] }
}
