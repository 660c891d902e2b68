//! `check.exec`: the runtime runs a check. No model sees it; `check.run` goes through it.

use std::path::PathBuf;

use air_contracts::AirError;
use air_contracts::Result;
use air_contracts::error::codes;
use air_contracts::event::Intent;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::project::CheckKind;
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition, ToolStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::counts::counts;
use super::detect::TIMEOUT;
use super::instances::instances;
use crate::gate::Permit;
use crate::kit::Kit;
use crate::shell::{CommandEnd, Ended, Follower, Request, report, wait_for};
use crate::tool::{Builtin, Call, Failure, Step, define, object, parse, plan_of};

/// Its name.
pub(crate) const CHECK_TOOL: &str = "check.exec";

/// What a check is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Purpose {
    Baseline,
    Verify,
    /// In an empty folder: a check that passes there proves nothing.
    Control,
    Worker,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    name: String,
    #[serde(default, rename = "claim")]
    _claim: String,
    command: String,
    #[serde(default, rename = "kind")]
    _kind: CheckKind,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default, rename = "defined_by")]
    _defined_by: Vec<String>,
    purpose: Purpose,
}

/// The tool.
pub(super) struct Check(ToolDefinition);

impl Check {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "name": { "type": "string" },
                "claim": { "type": "string" },
                "command": { "type": "string" },
                "kind": { "type": "string", "enum": ["configure", "build", "test", "lint", "other"] },
                "timeout_ms": { "type": "integer", "minimum": 1 },
                "defined_by": { "type": "array", "items": { "type": "string" } },
                "purpose": { "type": "string", "enum": ["baseline", "verify", "control", "worker"] },
            }),
            &["name", "command", "purpose"],
        );
        let description = "Runs a check of the project for the runtime.";
        Self(define(
            CHECK_TOOL,
            ToolCategory::Check,
            EffectClass::Command,
            "run checks in the sandbox",
            description,
            schema,
        ))
    }
}

fn directory(kit: &Kit, context: &CallContext, purpose: Purpose) -> PathBuf {
    match purpose {
        Purpose::Control => kit.deps.temp_dir().join("control").join(context.turn_id.hex()),
        _ => context.workspace_root.clone(),
    }
}

impl Builtin for Check {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn only_runtime(&self) -> bool {
        true
    }

    fn plan<'a>(
        &'a self,
        kit: &'a Kit,
        context: &'a CallContext,
        mut input: Value,
    ) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let typed: Input = parse(CHECK_TOOL, &input)?;
            let timeout_ms = typed.timeout_ms.unwrap_or(TIMEOUT);
            input["timeout_ms"] = timeout_ms.into();
            kit.checks(&context.workspace_root).await?; // so that the gate knows the project's own
            let cwd = directory(kit, context, typed.purpose);
            let mut plan = plan_of(input, format!("{}: {}", typed.name, typed.command), Vec::new());
            plan.command = Some((typed.command.clone(), cwd.clone()));
            plan.intent = Intent::Command { command: typed.command, cwd, timeout_ms, background: false };
            Ok(plan)
        })
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse(CHECK_TOOL, &plan.input)?;
            let cwd = directory(call.kit, call.context, input.purpose);
            let build = match input.purpose {
                Purpose::Control => {
                    let _ = std::fs::remove_dir_all(&cwd); // what an earlier control left
                    make(&cwd)?;
                    cwd.join(".build")
                }
                _ => call.kit.deps.build_dir(call.context),
            };
            make(&build)?;
            let request = Request {
                command: input.command,
                cwd,
                env: vec![("AIR_BUILD_DIR".to_owned(), build.to_string_lossy().into_owned())],
                timeout_ms: input.timeout_ms.unwrap_or(TIMEOUT),
                background: false,
            };
            let mut running = call.kit.runner.start(permit, call, call.run_id, &request)?;
            let ended = wait_for(&mut running, call.cancel, Follower::new(call)).await?;
            let end = CommandEnd { ended, folder: Some(running.folder), cancelled: call.cancel.reason() };
            conclude(call, &plan.input, end).await
        })
    }

    fn conclude<'a>(
        &'a self,
        call: &'a Call<'a>,
        input: &'a Value,
        end: CommandEnd,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(conclude(call, input, end))
    }
}

fn make(folder: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| AirError::io(folder.display(), &error))
}

async fn conclude(call: &Call<'_>, input: &Value, end: CommandEnd) -> Step<ToolOutcome> {
    let typed: Input = parse(CHECK_TOOL, input)?;
    let Ended::Finished(record) = &end.ended else {
        let text = format!("the check {} was interrupted: its outcome is unknown", typed.name);
        return Err(AirError::new(codes::TOOL_INTERRUPTED, text).into());
    };
    if let Some(error) = &record.spawn_error {
        return Err(
            AirError::new(codes::TOOL_SPAWN_FAILED, format!("the check {}: {error}", typed.name)).into()
        );
    }
    let report = report(call, Some(record), end.folder.as_ref()).await?;
    let artifacts = report.artifact.into_iter().collect();
    let stopped = if record.cancelled {
        let reason = end.cancelled.as_deref().unwrap_or("it was told to end");
        Some((ToolStatus::Cancelled, AirError::new(codes::TOOL_CANCELLED, format!("cancelled: {reason}"))))
    } else if record.timed_out {
        Some((
            ToolStatus::Error,
            AirError::new(
                codes::TOOL_TIMED_OUT,
                format!("the check {} was stopped at its time limit", typed.name),
            ),
        ))
    } else {
        None
    };
    if let Some((status, error)) = stopped {
        let content = format!("{}\nerror {}: {}", report.text, error.code, error.message);
        return Err(Box::new(Failure { status, error, content: Some(content), artifacts }));
    }
    let passed = record.exit_code == Some(0);
    let build = call.kit.deps.build_dir(call.context);
    let found =
        if passed { Vec::new() } else { instances(&report.output, &call.context.workspace_root, &build) };
    let purpose = input.get("purpose").cloned().unwrap_or_default();
    let data = json!({ "name": typed.name, "purpose": purpose, "tests": counts(&report.output), "instances": found });
    Ok(ToolOutcome {
        summary: format!("{}: {}", typed.name, report.facts),
        content: report.text,
        artifacts,
        exit_code: report.outcome.exit_code,
        command: Some(report.outcome),
        data,
        ..ToolOutcome::default()
    })
}
