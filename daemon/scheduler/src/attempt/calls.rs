//! Calls of an answer, carried out in order, each with a result.

use air_context::render_names;
use air_contracts::artifact::Stored;
use air_contracts::error::codes;
use air_contracts::event::{Intent, ToolFailed, ToolStarted};
use air_contracts::ids::{RefKind, ToolRunId};
use air_contracts::ipc::{FinishedClaim, ParentMessage};
use air_contracts::permission::{Decision, PermissionDecision, RiskLevel};
use air_contracts::provider::FoldedCall;
use air_contracts::tool::{EffectClass, ToolCall, ToolResultEnvelope, ToolStatus};
use air_contracts::worker_result::{FinishClaim, WorkerStatus};
use air_contracts::{AirError, Result};
use serde_json::{Value, json};

use super::conversation::{Conversation, Finish};

/// Tools that change nothing: they need not wait for the baseline, and may stand beside `task.finish`.
const READS: [&str; 14] = [
    "fs.read",
    "fs.search",
    "fs.glob",
    "fs.list",
    "fs.stat",
    "git.status",
    "git.diff",
    "git.log",
    "memory.search",
    "process.output",
    "process.list",
    "task.list",
    "user.ask",
    "cpp.clangd.query",
];

/// Whether a tool leaves the world as it is.
pub(crate) fn only_reads(tool: &str) -> bool {
    READS.contains(&tool)
}

/// The result of a call, as the next request holds it.
pub(crate) struct Answer {
    pub(crate) run: ToolRunId,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Conversation {
    /// Runs a call of the last answer and says what the worker is told of it.
    pub(crate) async fn call(&mut self, call_id: &str) -> Result<ParentMessage> {
        let Some(call) = self.batch.iter().find(|call| call.id == call_id).cloned() else {
            return Err(AirError::new(
                codes::IPC_PROTOCOL,
                format!("{call_id} is no call of the last answer"),
            ));
        };
        if self.answers.contains_key(call_id) {
            return Err(AirError::new(codes::IPC_PROTOCOL, format!("{call_id} was called twice")));
        }
        let input = match &call.input {
            Ok(input) => input.clone(),
            Err(text) => return Ok(self.invalid_json(&call, text)),
        };
        let seat = self.seat().clone();
        if !only_reads(&call.name) && call.name != "task.finish" {
            // What the checks say of the tree before the first write must not be mixed with that write.
            self.scheduler.baselines.wait(seat.task.id).await;
        }
        let target = call
            .input
            .as_ref()
            .ok()
            .and_then(|input| input.get("id"))
            .and_then(Value::as_str)
            .map(str::to_owned);
        let before = std::mem::take(&mut self.pending);
        let envelope = self
            .scheduler
            .deps
            .executor
            .call(ToolCall {
                context: seat.call_context(),
                call_id: call.id.clone(),
                name: call.name.clone(),
                input,
                before: before.clone(),
            })
            .await;
        if envelope.run_ref == 0 {
            // The log does not know it: the daemon stops, or the attempt was given up.
            let unknown = || AirError::new(codes::INTERNAL, envelope.summary.clone());
            let error = envelope.error.clone().unwrap_or_else(unknown);
            if self.scheduler.stopping() {
                // The next daemon finds out whether it began.
                return Err(error);
            }
            self.pending = before;
            return Ok(self.refuse(&call, envelope.status, error, envelope.content));
        }
        self.live.progress().watch(&envelope, target.as_deref());
        Ok(self.take(&call.id, envelope))
    }

    /// Takes over a result.
    pub(crate) fn take(&mut self, call_id: &str, envelope: ToolResultEnvelope) -> ParentMessage {
        self.live.progress().take(&envelope);
        let finish = finish_of(&envelope);
        let answer = Answer {
            run: envelope.run_id,
            text: render_names(&envelope.content, &self.context.tools).into_owned(),
            is_error: envelope.status != ToolStatus::Ok,
        };
        self.answers.insert(call_id.to_owned(), answer);
        self.finish.clone_from(&finish);
        ParentMessage::ToolResult {
            call_id: call_id.to_owned(),
            status: envelope.status,
            summary: envelope.summary,
            finished: finish.map(|finish| finish.claim),
        }
    }

    fn invalid_json(&mut self, call: &FoldedCall, text: &str) -> ParentMessage {
        let start: String = text.chars().take(80).collect();
        let message = format!("the input of `{}` is not a JSON object: {start}", call.name);
        let error = AirError::new(codes::TOOL_INVALID_INPUT, message);
        let content = format!(
            "error {}: {}. Nothing was run. Send the call again as one JSON object.",
            error.code, error.message
        );
        self.refuse(call, ToolStatus::Error, error, content)
    }

    /// The result of a call that began and was given up.
    pub(crate) async fn left_behind(&self, call: &FoldedCall) -> Option<Answer> {
        let store = &self.scheduler.deps.store;
        let task = &self.seat().task;
        let run = store.tool_run_by_call(task.turn_id, Some(task.id), &call.id).await.ok().flatten()?;
        let text = match &run.content {
            Some(stored) => store.load_value(stored).await.ok()?,
            None => "error interrupted: the outcome of this call is unknown".to_owned(),
        };
        let text = render_names(&text, &self.context.tools).into_owned();
        Some(Answer { run: run.run_id, text, is_error: run.status != Some(ToolStatus::Ok) })
    }

    /// The result of a call that was never made.
    pub(crate) fn not_started(&mut self, call: &FoldedCall) -> Answer {
        let error = AirError::new(codes::TOOL_NOT_STARTED, format!("{} was not started", call.name));
        let content =
            "error not_started: the work was stopped before this call began. Nothing was done.".to_owned();
        self.refuse(call, ToolStatus::Cancelled, error, content);
        self.answers.remove(&call.id).unwrap_or_else(|| Answer {
            run: ToolRunId::from_uuid(self.scheduler.deps.ids.next()),
            text: String::new(),
            is_error: true,
        })
    }

    /// Records a call that does not reach the executor.
    fn refuse(
        &mut self,
        call: &FoldedCall,
        status: ToolStatus,
        error: AirError,
        content: String,
    ) -> ParentMessage {
        let seat = self.seat().clone();
        let deps = &self.scheduler.deps;
        let run_id = ToolRunId::from_uuid(deps.ids.next());
        let refused = ToolStarted {
            run_id,
            n: deps.store.next_ref(RefKind::ToolRun),
            session_id: seat.task.session_id,
            turn_id: seat.task.turn_id,
            task_id: Some(seat.task.id),
            agent_id: seat.agent_id,
            attempt_id: seat.call_context().attempt_id,
            workspace_id: seat.workspace.id,
            call_id: call.id.clone(),
            tool: call.name.clone(),
            input: Stored::Inline { value: json!({}) },
            aliases: Vec::new(),
            class: EffectClass::Pure,
            intent: Intent::None,
            decision: PermissionDecision {
                decision: Decision::Deny,
                level: RiskLevel::Safe,
                reason: error.message.clone(),
                effects: Vec::new(),
                scopes: Vec::new(),
                granted_by: None,
            },
            title: call.name.clone(),
        };
        let summary = error.message.clone();
        self.pending.push(seat.event(ToolFailed {
            run_id,
            status,
            error,
            content: Stored::Inline { value: content.clone() },
            artifacts: Vec::new(),
            duration_ms: 0,
            reconciled: String::new(),
            refused: Some(Box::new(refused)),
        }));
        let text = render_names(&content, &self.context.tools).into_owned();
        self.answers.insert(call.id.clone(), Answer { run: run_id, text, is_error: true });
        ParentMessage::ToolResult { call_id: call.id.clone(), status, summary, finished: None }
    }
}

/// What an accepted `task.finish` said; `None` for any other result.
fn finish_of(envelope: &ToolResultEnvelope) -> Option<Finish> {
    if envelope.tool != "task.finish" || envelope.status != ToolStatus::Ok {
        return None;
    }
    finish_from(&envelope.data)
}

/// Reads it from the data of the run.
pub(crate) fn finish_from(data: &Value) -> Option<Finish> {
    let status: WorkerStatus = serde_json::from_value(data.get("status")?.clone()).ok()?;
    let claim: FinishClaim = serde_json::from_value(data.get("claim")?.clone()).ok()?;
    let result = data.get("result").cloned().unwrap_or(Value::Null);
    Some(Finish { claim: FinishedClaim { status, claim }, result })
}
