//! `artifact.create`: text that is kept beside the tree.

use air_contracts::Result;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::gate::Permit;
use crate::kit::Kit;
use crate::tool::{Builtin, Call, Step, define, object, parse, plan_of};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    name: String,
    content: String,
    #[serde(default)]
    media_type: Option<String>,
}

/// The tool.
pub(crate) struct Create(ToolDefinition);

impl Create {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({ "name": { "type": "string" }, "content": { "type": "string" }, "media_type": { "type": "string" } }),
            &["name", "content"],
        );
        let description = "Keeps a text beside the project: a report, a log, a plan. Files of the project are written with `fs.write`.";
        // Stored by its hash: the same content again is the same artifact.
        Self(define(
            "artifact.create",
            ToolCategory::Artifact,
            EffectClass::Pure,
            "keep an artifact",
            description,
            schema,
        ))
    }
}

impl Builtin for Create {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(&'a self, _: &'a Kit, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let Input { name, .. } = parse("artifact.create", &input)?;
            Ok(plan_of(input, name, Vec::new()))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("artifact.create", &plan.input)?;
            let media_type = input.media_type.unwrap_or_else(|| "text/plain".to_owned());
            let text = call.kit.redact(&input.content);
            let artifact =
                call.kit.deps.store.put_artifact(text.as_bytes(), &media_type, &input.name).await?;
            let content =
                format!("[kept {} · {} bytes · artifact {}]", input.name, artifact.size, artifact.short());
            Ok(ToolOutcome {
                summary: input.name,
                content,
                artifacts: vec![artifact],
                ..ToolOutcome::default()
            })
        })
    }
}
