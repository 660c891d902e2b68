//! The end of a call: its event and its envelope, without secrets.

use air_contracts::artifact::{ArtifactRef, INLINE_LIMIT, Stored};
use air_contracts::event::{DiagnosticRecorded, NewEvent, ToolCompleted, ToolFailed, ToolStarted};
use air_contracts::port::ToolOutcome;
use air_contracts::tool::{CallContext, ToolResultEnvelope, ToolStatus};
use air_contracts::{AirError, Result};
use air_rt::OnCancel;
use air_store::ToolRunRow;
use serde_json::Value;

use super::Inner;
use super::pipeline::Run;
use super::repeat::REMARK;
use crate::tool::{Failure, Step};

/// What is known about an end beside its result.
pub(super) struct Ending {
    pub tool: String,
    /// The normalised input, to see repetitions.
    pub input_text: String,
    pub elapsed: u64,
    pub may_write: bool,
    /// How it was found out, where a crash lay between.
    pub reconciled: &'static str,
}

/// The text that a model reads for an error.
pub(super) fn error_text(error: &AirError) -> String {
    let mut text = format!("error {}: {}", error.code, error.message);
    for hint in &error.hints {
        text.push('\n');
        text.push_str(hint);
    }
    text
}

impl Inner {
    /// Logs the result of a call and gives its envelope.
    pub(super) async fn finish(
        &self,
        run: &Run,
        ending: Ending,
        result: Step<ToolOutcome>,
    ) -> ToolResultEnvelope {
        let logged = match result {
            Ok(outcome) => {
                self.repeats.succeeded(&run.context);
                self.complete(run, &ending, outcome).await
            }
            Err(failure) => self.fail(run, &ending, *failure, None, Vec::new()).await,
        };
        match logged {
            Ok(envelope) => {
                self.discard(&envelope);
                envelope
            }
            // Without its event there is no result: the run is unfinished, and is reconciled at the next start.
            Err(error) => self.unrecorded(&ending.tool, error),
        }
    }

    /// Takes the folder of a command away once its result is in the log. One in the background keeps it.
    fn discard(&self, envelope: &ToolResultEnvelope) {
        let background = envelope.data.get("background").is_some();
        let Some(folder) = self.kit.runner.folder(envelope.run_id).filter(|_| !background) else { return };
        let remove = async move {
            // One that cannot go now is swept at a later start.
            let _ = crate::kit::blocking(move || folder.remove()).await;
        };
        drop(self.kit.deps.tasks.spawn("remove run folder", OnCancel::Finish, remove));
    }

    /// Logs a call that had no effect: it was refused, or it is wrong.
    pub(super) async fn refuse(
        &self,
        run: &Run,
        started: ToolStarted,
        failure: Box<Failure>,
        mut before: Vec<NewEvent>,
    ) -> ToolResultEnvelope {
        let ending = Ending {
            tool: started.tool.clone(),
            input_text: serde_json::to_string(&started.input).unwrap_or_default(),
            elapsed: 0,
            may_write: false,
            reconciled: "",
        };
        let mut started = started;
        let logged = async {
            before.extend(self.outline_input(run, &mut started).await?);
            self.fail(run, &ending, *failure, Some(Box::new(started)), before).await
        };
        logged.await.unwrap_or_else(|error| self.unrecorded(&ending.tool, error))
    }

    async fn complete(&self, run: &Run, ending: &Ending, outcome: ToolOutcome) -> Result<ToolResultEnvelope> {
        let kit = &self.kit;
        let content = kit.redact(&outcome.content);
        let summary = kit.redact(&outcome.summary);
        let mut events = self.artifact_events(run, &ending.tool, &outcome.artifacts);
        let stored = self.stored_text(run, &ending.tool, content.clone(), &mut events).await?;
        for diagnostic in &outcome.diagnostics {
            let (session_id, run_id) = (run.context.session_id, run.run_id);
            let body = DiagnosticRecorded { session_id, run_id, diagnostic: diagnostic.clone() };
            events.push(self.event(&run.context, &ending.tool, body));
        }
        let data = kit.redact_value(&outcome.data);
        let completed = ToolCompleted {
            run_id: run.run_id,
            summary: summary.clone(),
            content: stored,
            artifacts: outcome.artifacts.clone(),
            evidence: Vec::new(),
            exit_code: outcome.exit_code,
            written: outcome.written.clone(),
            may_have_written: ending.may_write && outcome.command.is_some(),
            duration_ms: ending.elapsed,
            reconciled: ending.reconciled.to_owned(),
            command: outcome.command,
            data: data.clone(),
        };
        events.push(self.event(&run.context, &ending.tool, completed));
        kit.deps.store.ingest(events).await?;
        Ok(ToolResultEnvelope {
            run_id: run.run_id,
            run_ref: run.n,
            tool: ending.tool.clone(),
            status: ToolStatus::Ok,
            summary,
            content,
            error: None,
            artifacts: outcome.artifacts,
            diagnostics: outcome.diagnostics,
            evidence: Vec::new(),
            exit_code: outcome.exit_code,
            written: outcome.written,
            duration_ms: ending.elapsed,
            data,
        })
    }

    async fn fail(
        &self,
        run: &Run,
        ending: &Ending,
        failure: Failure,
        refused: Option<Box<ToolStarted>>,
        mut events: Vec<NewEvent>,
    ) -> Result<ToolResultEnvelope> {
        let kit = &self.kit;
        let Failure { status, mut error, content, artifacts } = failure;
        let mut content = kit.redact(&content.unwrap_or_else(|| error_text(&error)));
        error.message = kit.redact(&error.message);
        // The lines of a file stand in the content; the error keeps what is short.
        error.hints =
            error.hints.iter().map(|hint| kit.redact(hint)).filter(|hint| hint.len() <= 300).collect();
        if status == ToolStatus::Error
            && self.repeats.failed(&run.context, &ending.tool, &ending.input_text, &error.code)
        {
            content.push('\n');
            content.push_str(REMARK);
        }
        events.extend(self.artifact_events(run, &ending.tool, &artifacts));
        let stored = self.stored_text(run, &ending.tool, content.clone(), &mut events).await?;
        let failed = ToolFailed {
            run_id: run.run_id,
            status,
            error: error.clone(),
            content: stored,
            artifacts: artifacts.clone(),
            duration_ms: ending.elapsed,
            reconciled: ending.reconciled.to_owned(),
            refused,
        };
        events.push(self.event(&run.context, &ending.tool, failed));
        kit.deps.store.ingest(events).await?;
        Ok(ToolResultEnvelope {
            run_id: run.run_id,
            run_ref: run.n,
            tool: ending.tool.clone(),
            status,
            summary: error.message.clone(),
            content,
            error: Some(error),
            artifacts,
            diagnostics: Vec::new(),
            evidence: Vec::new(),
            exit_code: None,
            written: Vec::new(),
            duration_ms: ending.elapsed,
            data: Value::Null,
        })
    }

    fn artifact_events(&self, run: &Run, tool: &str, artifacts: &[ArtifactRef]) -> Vec<NewEvent> {
        artifacts.iter().map(|artifact| self.artifact_event(run, tool, artifact)).collect()
    }

    fn artifact_event(&self, run: &Run, tool: &str, artifact: &ArtifactRef) -> NewEvent {
        let source = air_contracts::event::EventSource::new(air_contracts::event::SourceKind::Tool, tool);
        self.kit.deps.store.artifact_event(artifact, Some(run.context.session_id), Some(run.run_id), source)
    }

    async fn stored_text(
        &self,
        run: &Run,
        tool: &str,
        text: String,
        events: &mut Vec<NewEvent>,
    ) -> Result<Stored<String>> {
        let name = format!("result of r{}", run.n);
        let (stored, artifact) = self.kit.deps.store.store_value(text, &name).await?;
        events.extend(artifact.map(|artifact| self.artifact_event(run, tool, &artifact)));
        Ok(stored)
    }

    /// An input for the log, without secrets.
    pub(super) fn stored_input(&self, input: &Value) -> Stored<Value> {
        Stored::Inline { value: self.kit.redact_value(input) }
    }

    /// Moves a long input to an artifact; what comes back is the event of it.
    pub(super) async fn outline_input(
        &self,
        run: &Run,
        started: &mut ToolStarted,
    ) -> Result<Option<NewEvent>> {
        let Stored::Inline { value } = &started.input else { return Ok(None) };
        if value.to_string().len() <= INLINE_LIMIT {
            return Ok(None);
        }
        let name = format!("input of r{}", run.n);
        let (stored, artifact) = self.kit.deps.store.store_value(value.clone(), &name).await?;
        started.input = stored;
        Ok(artifact.map(|artifact| self.artifact_event(run, &started.tool, &artifact)))
    }

    /// The envelope of a run that has its result in the log.
    pub(super) async fn envelope_of(&self, _: &CallContext, row: ToolRunRow) -> Result<ToolResultEnvelope> {
        let content = match &row.content {
            Some(content) => self.kit.deps.store.load_value(content).await?,
            None => String::new(),
        };
        Ok(ToolResultEnvelope {
            run_id: row.started.run_id,
            run_ref: row.started.n,
            tool: row.started.tool,
            status: row.status.unwrap_or(ToolStatus::Interrupted),
            summary: row.summary,
            content,
            error: row.error,
            artifacts: row.artifacts,
            diagnostics: Vec::new(),
            evidence: row.evidence,
            exit_code: row.exit_code,
            written: row.written,
            duration_ms: row.duration_ms.unwrap_or(0),
            data: row.data,
        })
    }
}
