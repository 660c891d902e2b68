//! `process.list`, `process.output`, `process.kill`: commands that go on, and output that was left out.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::ids::ToolRunId;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use air_sandbox::{RunFolder, RunState};
use air_store::ToolRunRow;
use serde::Deserialize;
use serde_json::{Value, json};

use super::clean::{Clean, clean};
use super::end::seconds;
use crate::fs::cut_line;
use crate::gate::Permit;
use crate::kit::{Kit, blocking};
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

/// Bytes of one answer.
const MOST: usize = 20_000;
/// Bytes of output that are read for it.
const READ: usize = 16 * 1024 * 1024;

/// `process.list`.
pub(super) struct List(ToolDefinition);

/// `process.output`, with where each run was read up to.
pub(super) struct Output {
    definition: ToolDefinition,
    read_up_to: Mutex<HashMap<ToolRunId, usize>>,
}

/// `process.kill`.
pub(super) struct Kill(ToolDefinition);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputInput {
    id: String,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    wait_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KillInput {
    id: String,
}

impl List {
    /// With its texts.
    pub fn new() -> Self {
        let description = "Lists the commands of this session that run in the background.";
        Self(define(
            "process.list",
            ToolCategory::Shell,
            EffectClass::Pure,
            "look at own commands",
            description,
            object(json!({}), &[]),
        ))
    }
}

impl Output {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "id": { "type": "string", "description": "`r41`" },
                "offset": { "type": "integer", "minimum": 1, "description": "First line; absent: what is new" },
                "limit": { "type": "integer", "minimum": 1 },
                "wait_ms": { "type": "integer", "minimum": 0, "maximum": 600_000, "description": "Wait that long for something new" },
            }),
            &["id"],
        );
        let description = "Output of a command: what is new since the last call, or from a line on. 20 KB a call. Works for running and for ended commands.";
        let definition = define(
            "process.output",
            ToolCategory::Shell,
            EffectClass::Pure,
            "look at own commands",
            description,
            schema,
        );
        Self { definition, read_up_to: Mutex::default() }
    }
}

impl Kill {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(json!({ "id": { "type": "string", "description": "`r41`" } }), &["id"]);
        let description = "Ends a command that runs in the background, with everything that it started.";
        Self(define(
            "process.kill",
            ToolCategory::Shell,
            EffectClass::Pure,
            "end own commands",
            description,
            schema,
        ))
    }
}

/// A run of this session by what a model calls it.
async fn find(kit: &Kit, context: &CallContext, id: &str) -> Result<ToolRunRow> {
    let run_id = kit.deps.store.resolve_run(id.trim()).await?;
    let row = kit.deps.store.tool_run(run_id).await?;
    if row.started.session_id != context.session_id {
        return Err(AirError::new(codes::RUN_NOT_FOUND, format!("{id} is a run of another session")));
    }
    Ok(row)
}

async fn state_of(folder: &RunFolder) -> Result<RunState> {
    let folder = folder.clone();
    blocking(move || folder.state()).await?
}

impl Builtin for List {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(&'a self, _: &'a Kit, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move { Ok(plan_of(input, "commands in the background", Vec::new())) })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        _: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let mut text = String::new();
            let mut count = 0;
            for run_id in call.kit.runner.all() {
                let Some(folder) = call.kit.runner.folder(run_id) else { continue };
                let RunState::Running(_) = state_of(&folder).await? else { continue };
                let Ok(row) = call.kit.deps.store.tool_run(run_id).await else { continue };
                if row.started.session_id != call.context.session_id || run_id == call.run_id {
                    continue;
                }
                count += 1;
                let _ = write!(text, "\nr{} · {}", row.started.n, row.started.title);
            }
            let content =
                if count == 0 { "[nothing runs]".to_owned() } else { format!("[{count} running]{text}") };
            Ok(ToolOutcome { summary: format!("{count} running"), content, ..ToolOutcome::default() })
        })
    }
}

impl Builtin for Output {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn plan<'a>(&'a self, _: &'a Kit, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let OutputInput { id, .. } = parse("process.output", &input)?;
            Ok(plan_of(input, id, Vec::new()))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: OutputInput = parse("process.output", &plan.input)?;
            let row = find(call.kit, call.context, &input.id).await?;
            let known = self.known(row.started.run_id);
            let wait = Duration::from_millis(input.wait_ms.unwrap_or(0));
            let deadline = tokio::time::Instant::now() + wait;
            let mut pace = Duration::from_millis(30);
            let now = loop {
                let now = look(call, &row).await?;
                let news = now.lines.len() > known || input.offset.is_some() || !now.running;
                if news || tokio::time::Instant::now() >= deadline {
                    break now;
                }
                tokio::select! {
                    () = tokio::time::sleep(pace) => pace = (pace * 2).min(Duration::from_millis(500)),
                    reason = call.cancel.requested() => return Err(crate::gate::cancelled(&reason, "The command goes on.")),
                }
            };
            Ok(self.page(&row, &now, &input, known)?)
        })
    }
}

/// What is known of a run's output at one moment.
struct Now {
    facts: String,
    running: bool,
    lines: Vec<String>,
}

async fn look(call: &Call<'_>, row: &ToolRunRow) -> Result<Now> {
    let store = &call.kit.deps.store;
    if let Some(folder) = call.kit.runner.folder(row.started.run_id) {
        let state = state_of(&folder).await?;
        let running = matches!(state, RunState::Running(_));
        let facts = match state {
            RunState::Running(_) => {
                let now = air_contracts::Timestamp::from_millis(call.kit.deps.clock.millis());
                format!("running · {}", seconds(now.millis_since(row.started_at)))
            }
            RunState::Finished(record) => match (record.exit_code, record.signal) {
                _ if record.cancelled => "ended".to_owned(),
                _ if record.timed_out => "timed out".to_owned(),
                (Some(code), _) => format!("exit {code} · {}", seconds(record.wall_ms)),
                (None, signal) => format!("killed by signal {}", signal.unwrap_or(0)),
            },
            RunState::Vanished => "outcome unknown".to_owned(),
            RunState::NotStarted => "not started".to_owned(),
        };
        let kept = blocking(move || folder.output(READ / 2, READ / 2)).await??;
        let mut bytes = kept.head;
        bytes.extend_from_slice(&kept.tail);
        return Ok(Now { facts, running, lines: lines_of(call.kit, &bytes) });
    }
    let facts = row.exit_code.map_or_else(|| row.summary.clone(), |code| format!("exit {code}"));
    let lines = match (row.artifacts.first(), &row.content) {
        (Some(artifact), _) => lines_of(call.kit, &store.read_artifact(artifact).await?),
        // Output that is not too long stands in the result, below its header.
        (None, Some(content)) => {
            store.load_value(content).await?.lines().skip(1).map(str::to_owned).collect()
        }
        (None, None) => Vec::new(),
    };
    Ok(Now { facts, running: false, lines })
}

fn lines_of(kit: &Kit, bytes: &[u8]) -> Vec<String> {
    match clean(bytes) {
        Clean::Text(text) => kit.redact(&text).lines().map(|line| cut_line(line.as_bytes(), 2_000)).collect(),
        Clean::Binary => vec![format!("[binary output, {} bytes]", bytes.len())],
    }
}

impl Output {
    fn known(&self, run_id: ToolRunId) -> usize {
        let table = self.read_up_to.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(&run_id).copied().unwrap_or(0)
    }

    fn page(&self, row: &ToolRunRow, now: &Now, input: &OutputInput, known: usize) -> Result<ToolOutcome> {
        let total = now.lines.len();
        let first = input.offset.map_or(known, |offset| offset - 1);
        if input.offset.is_some() && first >= total && total > 0 {
            let text = format!("r{} has {total} lines, offset is {}.", row.started.n, first + 1);
            return Err(AirError::new(codes::READ_OFFSET_OUT_OF_RANGE, text));
        }
        let mut body = String::new();
        let mut last = first.min(total);
        for line in now.lines.iter().skip(first).take(input.limit.unwrap_or(usize::MAX)) {
            if body.len() + line.len() > MOST && !body.is_empty() {
                break;
            }
            body.push('\n');
            body.push_str(line);
            last += 1;
        }
        let mut table = self.read_up_to.lock().unwrap_or_else(PoisonError::into_inner);
        table.insert(row.started.run_id, last);
        let nothing = if now.running {
            "\n[no new output]"
        } else if total == 0 {
            "\n[no output]"
        } else {
            "\n[no further output]"
        };
        let range = if body.is_empty() {
            String::new()
        } else {
            format!(" · lines {}-{last} of {total}", first + 1)
        };
        let mut content = format!("[{}{range} · r{}]", now.facts, row.started.n);
        content.push_str(if body.is_empty() { nothing } else { &body });
        if last < total {
            let _ = write!(content, "\n[{} lines left: offset {}]", total - last, last + 1);
        }
        Ok(ToolOutcome {
            summary: now.facts.clone(),
            content,
            data: json!({ "running": now.running }),
            ..ToolOutcome::default()
        })
    }
}

impl Builtin for Kill {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(&'a self, _: &'a Kit, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let KillInput { id } = parse("process.kill", &input)?;
            Ok(plan_of(input, id.clone(), vec![effect(EffectKind::Signal, id)]))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let KillInput { id } = parse("process.kill", &plan.input)?;
            let row = find(call.kit, call.context, &id).await?;
            let n = row.started.n;
            let done = |what: &str| {
                Ok(ToolOutcome {
                    summary: what.to_owned(),
                    content: format!("[r{n} {what}]"),
                    ..ToolOutcome::default()
                })
            };
            let Some(folder) = call.kit.runner.folder(row.started.run_id) else {
                return done("had ended already");
            };
            let asked = folder.clone();
            if !blocking(move || asked.cancel()).await?? {
                return done("had ended already");
            }
            let mut running = call.kit.runner.adopt(folder)?;
            match tokio::time::timeout(Duration::from_secs(8), running.ended()).await {
                Ok(()) => done("was ended"),
                Err(_) => done("was told to end and has not ended yet"),
            }
        })
    }
}
