//! `user.ask`: one question to the user.

use air_contracts::approval::ApprovalSubject;
use air_contracts::error::codes;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::desk::Question;
use crate::gate::Permit;
use crate::hash::sha256_parts;
use crate::kit::Kit;
use crate::tool::{Builtin, Call, Step, define, object, parse, plan_of};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    question: String,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    free_text: Option<bool>,
}

/// The tool.
pub(crate) struct Ask(ToolDefinition);

impl Ask {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "question": { "type": "string" },
                "options": { "type": "array", "items": { "type": "string" } },
                "free_text": { "type": "boolean", "description": "Whether an answer beside the options is fine" },
            }),
            &["question"],
        );
        let description = "Asks the user one question and waits for the answer, which may take days. Only for what neither the code nor the request tells and what changes the result.";
        // Asking again finds the question that is open.
        Self(define("user.ask", ToolCategory::User, EffectClass::Pure, "ask the user", description, schema))
    }
}

impl Builtin for Ask {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(&'a self, _: &'a Kit, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let typed: Input = parse("user.ask", &input)?;
            if typed.question.trim().is_empty() {
                return Err(AirError::new(
                    codes::TOOL_INVALID_INPUT,
                    "`user.ask`: `question` is empty. Nobody was asked.",
                ));
            }
            let title: String = typed.question.lines().next().unwrap_or_default().chars().take(120).collect();
            Ok(plan_of(input, title, Vec::new()))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("user.ask", &plan.input)?;
            let text = call.kit.redact(&input.question);
            let digest = sha256_parts([text.as_bytes(), input.options.join("\n").as_bytes()]);
            let free_text = input.free_text.unwrap_or(true);
            let subject = ApprovalSubject::Question { text, options: input.options, free_text };
            let (approval, answer) =
                call.kit.desk.ask(call, Question { subject, digest }, &mut Vec::new()).await?;
            let content = answer.answer.unwrap_or_default();
            let summary = format!("a{}: {}", approval.n, content.lines().next().unwrap_or_default());
            Ok(ToolOutcome { summary, content, ..ToolOutcome::default() })
        })
    }
}
