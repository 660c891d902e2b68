//! `shell.run`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::event::Intent;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition, ToolStatus};
use air_contracts::{AirError, Result};
use air_rt::OnCancel;
use serde::Deserialize;
use serde_json::{Value, json};

use super::end::{CommandEnd, Ended, Report, report, seconds};
use super::follow::Follower;
use super::runner::{Request, Running, wait_for};
use crate::gate::{Permit, cancelled};
use crate::kit::Kit;
use crate::tool::{Builtin, Call, Failure, Step, define, effect, object, parse, plan_of};

const DEFAULT_TIMEOUT: u64 = 120_000;
const MOST_TIMEOUT: u64 = 3_600_000;
/// A command in the background that nobody ends.
const BACKGROUND_TIMEOUT: u64 = 24 * 3_600_000;
/// A command in the background that fails at once is told as such.
const FIRST_LOOK: Duration = Duration::from_millis(300);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    background: bool,
}

impl Input {
    fn cwd(&self, root: &Path) -> PathBuf {
        self.cwd.as_ref().map_or_else(|| root.to_path_buf(), |cwd| root.join(cwd))
    }

    fn timeout(&self) -> u64 {
        match (self.timeout_ms, self.background) {
            (Some(timeout), _) => timeout.clamp(1, MOST_TIMEOUT),
            (None, true) => BACKGROUND_TIMEOUT,
            (None, false) => DEFAULT_TIMEOUT,
        }
    }
}

/// The tool.
pub(super) struct Run(ToolDefinition);

impl Run {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "command": { "type": "string" },
                "description": { "type": "string", "description": "What it does, 5-10 words, for the user" },
                "cwd": { "type": "string", "description": "Folder, in place of the workspace root" },
                "timeout_ms": { "type": "integer", "minimum": 1, "maximum": MOST_TIMEOUT, "description": "Default 120000" },
                "background": { "type": "boolean", "description": "Go on after the call, for servers and watchers" },
            }),
            &["command"],
        );
        Self(define(
            "shell.run",
            ToolCategory::Shell,
            EffectClass::Command,
            "run commands in the sandbox",
            "Runs a bash command. Calls share no state: no cd, no variables. No input and no terminal. Output over 20 KB: both ends, the rest by `process.output`. Files are better read and changed with `fs.read`, `fs.search` and `fs.edit`.",
            schema,
        ))
    }
}

impl Builtin for Run {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(
        &'a self,
        _: &'a Kit,
        context: &'a CallContext,
        mut input: Value,
    ) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let typed: Input = parse("shell.run", &input)?;
            if typed.command.trim().is_empty() {
                return Err(AirError::new(
                    codes::TOOL_INVALID_INPUT,
                    "`shell.run`: `command` is empty. Nothing was run.",
                ));
            }
            if typed.command.contains('\0') {
                return Err(AirError::new(
                    codes::TOOL_INVALID_INPUT,
                    "`shell.run`: `command` holds a NUL character. Nothing was run.",
                ));
            }
            let cwd = typed.cwd(&context.workspace_root);
            let mut effects = Vec::new();
            if let Some(given) = &typed.cwd {
                let shown = crate::fs::relative(given, &context.workspace_root);
                input["cwd"] = Value::String(shown.clone());
                effects.push(effect(EffectKind::Read, shown));
            }
            let timeout_ms = typed.timeout();
            input["timeout_ms"] = timeout_ms.into();
            let mut plan = plan_of(input, title(&typed.command), effects);
            plan.command = Some((typed.command.clone(), cwd.clone()));
            plan.intent =
                Intent::Command { command: typed.command, cwd, timeout_ms, background: typed.background };
            Ok(plan)
        })
    }

    fn prepare<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: &'a mut CallPlan,
    ) -> BoxFuture<'a, Step<()>> {
        Box::pin(async move {
            let input: Input = parse("shell.run", &plan.input)?;
            let Some(given) = &input.cwd else { return Ok(()) };
            let cwd = permit.path(0)?.to_path_buf();
            let meta = std::fs::metadata(&cwd)
                .map_err(|error| crate::fs::file_error(given, &error, "Nothing was run."))?;
            if !meta.is_dir() {
                let text = format!("the cwd {given} is not a directory. Nothing was run.");
                return Err(AirError::new(codes::EDIT_NOT_A_DIRECTORY, text).into());
            }
            if let Intent::Command { command, cwd: intent, .. } = &mut plan.intent {
                *command = call.kit.redact(command);
                *intent = cwd;
            }
            Ok(())
        })
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("shell.run", &plan.input)?;
            let cwd = match input.cwd {
                Some(_) => permit.path(0)?.to_path_buf(),
                None => call.context.workspace_root.clone(),
            };
            let timeout_ms = input.timeout();
            let request = Request {
                command: input.command,
                cwd,
                env: Vec::new(),
                timeout_ms,
                background: input.background,
            };
            let mut running = call.kit.runner.start(permit, call, call.run_id, &request)?;
            if input.background && tokio::time::timeout(FIRST_LOOK, running.ended()).await.is_err() {
                return Ok(in_background(call, running));
            }
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

/// The first line of a command, for people.
fn title(command: &str) -> String {
    let command = command.trim();
    let line = command.lines().next().unwrap_or_default();
    let short: String = line.chars().take(160).collect();
    if short.len() < command.len() { format!("{short} …") } else { short }
}

/// Hands a command over to a task of its own, which reaps its launcher and ends it on a cancel.
pub(crate) fn in_background(call: &Call<'_>, mut running: Running) -> ToolOutcome {
    let n = call.n;
    let cancel = call.cancel.clone();
    let guard = call.kit.live.enter(call.run_id, call.context, &cancel);
    let folder = running.folder.clone();
    let watch = async move {
        let _guard = guard;
        tokio::select! {
            () = running.ended() => {}
            _ = cancel.requested() => {
                if let Err(error) = crate::kit::blocking(move || folder.cancel()).await.and_then(|asked| asked) {
                    tracing::warn!(%error, "a command in the background could not be ended");
                }
                running.ended().await;
            }
        }
    };
    drop(call.kit.deps.tasks.spawn("background command", OnCancel::Abort, watch));
    let content = format!(
        "[running in the background · r{n}]\n[`process.output` r{n} shows its output, `process.kill` r{n} ends it]"
    );
    ToolOutcome {
        summary: "running in the background".to_owned(),
        content,
        data: json!({ "background": true }),
        ..ToolOutcome::default()
    }
}

/// From the end of a command to the result of the call.
async fn conclude(call: &Call<'_>, input: &Value, end: CommandEnd) -> Step<ToolOutcome> {
    let record = match &end.ended {
        Ended::Finished(record) => Some(record.as_ref()),
        _ => None,
    };
    if let Some(error) = record.and_then(|record| record.spawn_error.as_ref()) {
        return Err(AirError::new(codes::TOOL_SPAWN_FAILED, format!("{error}. Nothing was run.")).into());
    }
    let report = report(call, record, end.folder.as_ref()).await?;
    let timeout = input.get("timeout_ms").and_then(Value::as_u64).unwrap_or(DEFAULT_TIMEOUT);
    match failure(&end, record.is_some_and(|record| record.timed_out), timeout) {
        Some((status, error)) => Err(failed(status, error, report)),
        None => Ok(ToolOutcome {
            summary: report.facts,
            content: report.text,
            artifacts: report.artifact.into_iter().collect(),
            exit_code: report.outcome.exit_code,
            command: Some(report.outcome),
            ..ToolOutcome::default()
        }),
    }
}

/// Whether the end of a command is a failure of the call, and what is said.
fn failure(end: &CommandEnd, timed_out: bool, timeout_ms: u64) -> Option<(ToolStatus, AirError)> {
    let interrupted =
        |text: &str| Some((ToolStatus::Interrupted, AirError::new(codes::TOOL_INTERRUPTED, text)));
    match (&end.ended, &end.cancelled) {
        (Ended::Finished(record), reason) if record.cancelled => {
            let reason = reason.as_deref().unwrap_or("it was told to end");
            let error = cancelled(reason, "The command was ended; its output so far is above.").error;
            Some((ToolStatus::Cancelled, error))
        }
        (Ended::Lingering, reason) => {
            let reason = reason.as_deref().unwrap_or("it was told to end");
            Some((ToolStatus::Cancelled, cancelled(reason, "The command has not ended yet.").error))
        }
        (Ended::Finished(_), _) if timed_out => {
            let text = format!(
                "stopped after {}, output so far above. Longer: timeout_ms. A server or watcher: background true.",
                seconds(timeout_ms)
            );
            Some((ToolStatus::Error, AirError::new(codes::TOOL_TIMED_OUT, text)))
        }
        (Ended::Finished(_), _) => None,
        (Ended::Vanished, _) => interrupted(
            "the machine or the launcher went down while the command ran: its outcome is unknown, its output so far is above. It was not run again.",
        ),
        (Ended::NotStarted, _) => {
            interrupted("the runtime went down before the command began. Nothing was run.")
        }
    }
}

fn failed(status: ToolStatus, error: AirError, report: Report) -> Box<Failure> {
    let content = format!("{}\nerror {}: {}", report.text, error.code, error.message);
    Box::new(Failure {
        status,
        error,
        content: Some(content),
        artifacts: report.artifact.into_iter().collect(),
    })
}
