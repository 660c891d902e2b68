//! What a built-in tool is, and what it sees of its call.

use std::sync::Arc;

use air_contracts::artifact::ArtifactRef;
use air_contracts::error::codes;
use air_contracts::event::Intent;
use air_contracts::ids::ToolRunId;
use air_contracts::permission::{Effect, EffectKind};
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition, ToolStatus};
use air_contracts::{AirError, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::gate::Permit;
use crate::kit::Kit;
use crate::shell::CommandEnd;

/// One call under way.
pub(crate) struct Call<'a> {
    pub kit: &'a Arc<Kit>,
    pub context: &'a CallContext,
    pub call_id: &'a str,
    pub run_id: ToolRunId,
    /// The number in `r41`.
    pub n: u64,
    pub cancel: &'a Cancel,
}

/// Why a call failed, with what the model reads where that is more than the error.
#[derive(Debug)]
pub(crate) struct Failure {
    pub status: ToolStatus,
    pub error: AirError,
    /// Replaces the rendered error.
    pub content: Option<String>,
    pub artifacts: Vec<ArtifactRef>,
}

impl Failure {
    /// A failure that the status of its class stands for.
    pub fn of(error: AirError) -> Box<Self> {
        let status = match error.code.as_str() {
            codes::TOOL_DENIED | codes::TOOL_DENIED_BY_USER => ToolStatus::Denied,
            codes::TOOL_CANCELLED | codes::TOOL_NOT_STARTED => ToolStatus::Cancelled,
            codes::TOOL_INTERRUPTED => ToolStatus::Interrupted,
            _ => ToolStatus::Error,
        };
        Box::new(Self { status, error, content: None, artifacts: Vec::new() })
    }
}

impl From<AirError> for Box<Failure> {
    fn from(error: AirError) -> Self {
        Failure::of(error)
    }
}

/// What a step of a tool gives.
pub(crate) type Step<T> = std::result::Result<T, Box<Failure>>;

/// A tool of this crate. What it does to the world it does with a [`Permit`], which only the gate makes.
pub(crate) trait Builtin: Send + Sync {
    /// What it is.
    fn definition(&self) -> &ToolDefinition;

    /// Reads the normalised input and says what the call would do. Looks at nothing outside.
    fn plan<'a>(
        &'a self,
        kit: &'a Kit,
        context: &'a CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<CallPlan>>;

    /// Reads what is needed to say what will be written, after the gate let it through and before
    /// `tool.started`. A failure here had no effect.
    fn prepare<'a>(&'a self, _: &'a Permit, _: &'a Call<'a>, _: &'a mut CallPlan) -> BoxFuture<'a, Step<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Has the effect.
    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>>;

    /// Turns the end of this tool's command into its result; also for a command of an earlier daemon.
    fn conclude<'a>(
        &'a self,
        _call: &'a Call<'a>,
        _input: &'a Value,
        _end: CommandEnd,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        let name = self.definition().name.clone();
        Box::pin(async move { Err(AirError::internal(format!("{name} runs no command")).into()) })
    }

    /// Whether no model may call it, only the runtime itself.
    fn only_runtime(&self) -> bool {
        false
    }
}

/// A definition with the fields that all tools of this crate have in common.
pub(crate) fn define(
    name: &str,
    category: ToolCategory,
    class: EffectClass,
    permission: &str,
    description: &str,
    input_schema: Value,
) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        version: 1,
        description: description.to_owned(),
        input_schema,
        output_schema: json!({ "type": "string" }),
        category,
        class,
        permissions: vec![permission.to_owned()],
        streaming: class == EffectClass::Command,
    }
}

/// An input schema: an object that takes nothing else.
pub(crate) fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Reads a normalised input as the type of the tool.
pub(crate) fn parse<T: DeserializeOwned>(tool: &str, input: &Value) -> Result<T> {
    T::deserialize(input).map_err(|error| {
        AirError::new(codes::TOOL_INVALID_INPUT, format!("`{tool}`: {error}. Nothing was done."))
    })
}

/// A plan of a call that touches one path or none.
pub(crate) fn plan_of(input: Value, title: impl Into<String>, effects: Vec<Effect>) -> CallPlan {
    CallPlan { input, intent: Intent::None, effects, command: None, title: title.into(), class: None }
}

/// One effect.
pub(crate) fn effect(kind: EffectKind, target: impl Into<String>) -> Effect {
    Effect { kind, target: target.into() }
}
