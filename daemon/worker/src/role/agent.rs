//! The loop as a state machine: what the parent says, and what follows.

use std::collections::VecDeque;

use air_contracts::AirError;
use air_contracts::error::codes;
use air_contracts::ids::TaskId;
use air_contracts::ipc::{AgentStart, FinishedClaim, IPC_VERSION, IpcCall, ParentMessage, WorkerMessage};
use air_contracts::provider::StopReason;
use air_contracts::tool::ToolStatus;
use air_contracts::worker_result::{FinishClaim, WorkerStatus};

/// Refused claims in a row before the attempt is given up.
const MAX_REFUSALS: u32 = 3;

/// Answers in a row that were cut at their limit before the attempt is given up.
const MAX_CUTS: u32 = 3;

const FINISH: &str = "task.finish";

/// One agent.
#[derive(Default)]
pub struct Agent {
    task: Option<TaskId>,
    model_calls: u32,
    max_model_calls: u32,
    /// Calls of the last answer that have no result yet; the first one runs.
    open: VecDeque<IpcCall>,
    answered: Vec<String>,
    last_text: String,
    /// Answers in text that did not finish the task.
    texts: u32,
    cuts: u32,
    refusals: u32,
    over: bool,
}

impl Agent {
    /// Whether it has said its last word.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Takes a message and gives the answer to it.
    pub fn take(&mut self, message: ParentMessage) -> Vec<WorkerMessage> {
        match message {
            ParentMessage::AgentStart(start) => self.start(&start, 0),
            ParentMessage::AgentResume { start, model_calls } => self.start(&start, model_calls),
            ParentMessage::LlmDone { error: Some(error), .. } => {
                self.end(WorkerStatus::Failed, String::new(), Some(error))
            }
            ParentMessage::LlmDone { text, calls, stop, error: None } => self.answer(text, calls, stop),
            ParentMessage::ToolResult { call_id, status, finished, .. } => {
                self.result(call_id, status, finished)
            }
            ParentMessage::AgentCancel { .. } => self.end(WorkerStatus::Cancelled, String::new(), None),
            ParentMessage::Ping { .. } => vec![super::heartbeat()],
            ParentMessage::LlmDelta { .. } => Vec::new(),
        }
    }

    fn start(&mut self, start: &AgentStart, model_calls: u32) -> Vec<WorkerMessage> {
        self.task = Some(start.task.id);
        if start.ipc_version != IPC_VERSION {
            let message = format!(
                "the parent speaks version {} of the protocol, this worker {IPC_VERSION}",
                start.ipc_version
            );
            return self.end(
                WorkerStatus::Failed,
                String::new(),
                Some(AirError::new(codes::IPC_PROTOCOL, message)),
            );
        }
        // The limit is one of this attempt: what earlier ones asked is told, not charged.
        self.max_model_calls = start.max_model_calls.saturating_add(model_calls);
        self.model_calls = model_calls;
        self.ask(None)
    }

    fn ask(&mut self, reminder: Option<&str>) -> Vec<WorkerMessage> {
        if self.model_calls >= self.max_model_calls {
            let message = format!("the attempt has made its {} requests to the model", self.max_model_calls);
            return self.end(
                WorkerStatus::Failed,
                String::new(),
                Some(AirError::new(codes::BUDGET_REACHED, message)),
            );
        }
        self.model_calls += 1;
        let answered = std::mem::take(&mut self.answered);
        let request = WorkerMessage::LlmRequest { answered, reminder: reminder.map(str::to_owned) };
        match self.model_calls {
            1 => vec![request],
            made => vec![WorkerMessage::Checkpoint { model_calls: made - 1 }, request],
        }
    }

    fn answer(&mut self, text: String, calls: Vec<IpcCall>, stop: StopReason) -> Vec<WorkerMessage> {
        if !text.trim().is_empty() {
            self.last_text = text;
        }
        if !calls.is_empty() {
            self.cuts = 0;
            self.open = calls.into();
            return self.next_call();
        }
        match stop {
            StopReason::MaxTokens => self.cut(),
            StopReason::PauseTurn => self.ask(None),
            StopReason::Refusal | StopReason::ContentFilter => {
                let error = AirError::new(codes::PROVIDER_INVALID_REQUEST, "the model declined to answer");
                self.end(WorkerStatus::Failed, String::new(), Some(error))
            }
            StopReason::ContextWindow => {
                let error =
                    AirError::new(codes::PROVIDER_CONTEXT_TOO_LONG, "the context of the model is full");
                self.end(WorkerStatus::Failed, String::new(), Some(error))
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::StopSequence | StopReason::Other => {
                self.text()
            }
        }
    }

    fn cut(&mut self) -> Vec<WorkerMessage> {
        self.cuts += 1;
        if self.cuts > MAX_CUTS {
            let error = AirError::new(
                codes::TOOL_INVALID_INPUT,
                format!("{MAX_CUTS} answers in a row were cut at their limit"),
            );
            return self.end(WorkerStatus::Failed, String::new(), Some(error));
        }
        self.ask(Some("the answer was cut at its limit: go on in smaller steps"))
    }

    /// A text that finishes nothing: once a reminder, then it is taken for the summary and the checks decide.
    fn text(&mut self) -> Vec<WorkerMessage> {
        self.texts += 1;
        if self.texts == 1 {
            return self.ask(Some("the task is open: go on, or end it with `task.finish`"));
        }
        let summary = std::mem::take(&mut self.last_text);
        self.end(WorkerStatus::Done, summary, None)
    }

    fn next_call(&mut self) -> Vec<WorkerMessage> {
        match self.open.front() {
            Some(call) => vec![WorkerMessage::ToolCall { call_id: call.call_id.clone() }],
            None => self.ask(None),
        }
    }

    fn result(
        &mut self,
        call_id: String,
        status: ToolStatus,
        finished: Option<FinishedClaim>,
    ) -> Vec<WorkerMessage> {
        if self.open.front().is_none_or(|call| call.call_id != call_id) {
            let error = AirError::new(
                codes::IPC_PROTOCOL,
                format!("a result came for {call_id}, which does not run"),
            );
            return self.end(WorkerStatus::Failed, String::new(), Some(error));
        }
        if let Some(FinishedClaim { status, claim }) = finished {
            return self.last_word(status, claim, None);
        }
        let name = self.open.pop_front().map(|call| call.name).unwrap_or_default();
        self.answered.push(call_id);
        self.refusals = if name == FINISH && status != ToolStatus::Ok { self.refusals + 1 } else { 0 };
        if self.refusals >= MAX_REFUSALS {
            let error = AirError::new(
                codes::TOOL_NOT_ACCEPTED,
                format!("{MAX_REFUSALS} claims in a row were refused"),
            );
            return self.end(WorkerStatus::Failed, String::new(), Some(error));
        }
        self.next_call()
    }

    fn end(&mut self, status: WorkerStatus, summary: String, error: Option<AirError>) -> Vec<WorkerMessage> {
        self.last_word(status, FinishClaim { summary, ..FinishClaim::default() }, error)
    }

    fn last_word(
        &mut self,
        status: WorkerStatus,
        claim: FinishClaim,
        error: Option<AirError>,
    ) -> Vec<WorkerMessage> {
        self.over = true;
        // Without a task there was no start, so there is nothing to report on.
        let Some(task_id) = self.task else { return Vec::new() };
        vec![WorkerMessage::WorkerResult { task_id, status, claim, error }]
    }
}
