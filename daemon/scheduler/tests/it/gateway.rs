//! A model that says what the test wrote down for its role.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use air_contracts::error::codes;
use air_contracts::port::{BoxStream, ModelGateway};
use air_contracts::provider::{
    BlockStart, ModelAssignment, ModelRequest, Price, ProviderCapabilityMatrix, ProviderError,
    ProviderStreamEvent, StopReason, TokenUsage,
};
use air_contracts::task::AgentRole;
use air_contracts::{AirError, Result};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

/// One answer.
#[derive(Clone)]
pub enum Reply {
    Text(String),
    /// (id, tool, input as text).
    Calls(Vec<(String, String, String)>),
    /// Half a text, then an error that may be tried again.
    Cut(String),
    Fail(AirError),
    Hang,
}

pub fn text(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

pub fn call(id: &str, tool: &str, input: Value) -> Reply {
    calls(&[(id, tool, input)])
}

pub fn calls(calls: &[(&str, &str, Value)]) -> Reply {
    Reply::Calls(
        calls.iter().map(|(id, tool, input)| ((*id).into(), (*tool).into(), input.to_string())).collect(),
    )
}

pub struct Script {
    replies: Mutex<BTreeMap<AgentRole, VecDeque<Reply>>>,
    pub requests: Mutex<Vec<ModelRequest>>,
    pub selectable: Mutex<Vec<AgentRole>>,
}

impl Script {
    pub fn new() -> Self {
        let roles = vec![AgentRole::Executor, AgentRole::Debugger, AgentRole::Reviewer];
        Self { replies: Mutex::default(), requests: Mutex::default(), selectable: Mutex::new(roles) }
    }

    pub fn say(&self, role: AgentRole, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().entry(role).or_default().extend(replies);
    }

    pub fn left(&self, role: AgentRole) -> usize {
        self.replies.lock().unwrap().get(&role).map_or(0, VecDeque::len)
    }

    pub fn requests_of(&self, role: AgentRole) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().iter().filter(|request| request.role == role).cloned().collect()
    }
}

pub fn matrix() -> ProviderCapabilityMatrix {
    ProviderCapabilityMatrix {
        model: "fake/model".into(),
        family: "claude".into(),
        context_window: 200_000,
        max_output_tokens: 8_000,
        tools: true,
        vision: false,
        thinking: false,
        caching: true,
        // A dollar for each answer of a million tokens.
        price: Some(Price { input: 0.0, output: 1.0, cache_read: 0.0, cache_write: 0.0 }),
        source: "test".into(),
    }
}

impl ModelGateway for Script {
    fn select(&self, role: AgentRole, _: Option<&str>) -> Result<ModelAssignment> {
        if !self.selectable.lock().unwrap().contains(&role) {
            return Err(AirError::new(codes::PROVIDER_NONE_CONFIGURED, "no model to talk to"));
        }
        Ok(ModelAssignment { matrix: matrix(), reason: "test".into() })
    }

    fn complete(&self, request: &ModelRequest) -> BoxStream<'static, ProviderStreamEvent> {
        let reply = self.replies.lock().unwrap().get_mut(&request.role).and_then(VecDeque::pop_front);
        self.requests.lock().unwrap().push(request.clone());
        let over = || Reply::Fail(AirError::new(codes::PROVIDER_INVALID_REQUEST, "the script is over"));
        let events = match reply.unwrap_or_else(over) {
            Reply::Hang => return stream::pending().boxed(),
            Reply::Text(text) => spoken(&text, &[], StopReason::EndTurn),
            Reply::Calls(calls) => spoken("", &calls, StopReason::ToolUse),
            Reply::Cut(text) => {
                let mut events = spoken(&text, &[], StopReason::EndTurn);
                events.truncate(2);
                events
            }
            Reply::Fail(error) => {
                let error = ProviderError { error, retry_after_ms: None, partial: false };
                vec![ProviderStreamEvent::Error { error }]
            }
        };
        stream::iter(events).boxed()
    }
}

fn spoken(text: &str, calls: &[(String, String, String)], reason: StopReason) -> Vec<ProviderStreamEvent> {
    let mut events = Vec::new();
    let mut index = 0;
    if !text.is_empty() {
        events.push(ProviderStreamEvent::BlockStart { index, block: BlockStart::Text });
        events.push(ProviderStreamEvent::TextDelta { index, text: text.into() });
        events.push(ProviderStreamEvent::BlockStop { index });
        index += 1;
    }
    for (id, name, json) in calls {
        let block = BlockStart::ToolUse { id: id.clone(), name: name.clone() };
        events.push(ProviderStreamEvent::BlockStart { index, block });
        events.push(ProviderStreamEvent::ToolInputDelta { index, json: json.clone() });
        events.push(ProviderStreamEvent::BlockStop { index });
        index += 1;
    }
    let usage =
        TokenUsage { input_tokens: Some(100), output_tokens: Some(1_000_000), ..TokenUsage::default() };
    events.push(ProviderStreamEvent::Usage { usage });
    events.push(ProviderStreamEvent::Stop { reason });
    events
}
