//! Going on where an earlier attempt stopped: its transcript, with a result for every call.

use std::collections::BTreeSet;

use air_contracts::Result;
use air_contracts::approval::ApprovalState;
use air_contracts::ids::AgentId;
use air_contracts::message::{ContentBlock, MessageRole};
use air_contracts::provider::FoldedCall;
use air_contracts::task::{AttemptStatus, FailureClass};
use air_contracts::tool::{ToolCall, ToolResultEnvelope};
use air_store::{AttemptRow, MessageRow};
use serde_json::Value;

use super::conversation::Conversation;

/// The agents whose messages are one transcript: the last attempt before `n`, and those that it went on from.
pub(crate) fn chain(attempts: &[AttemptRow], n: u32) -> BTreeSet<AgentId> {
    let mut before: Vec<&AttemptRow> = attempts.iter().filter(|attempt| attempt.n < n).collect();
    before.sort_by_key(|attempt| std::cmp::Reverse(attempt.n));
    let mut agents = BTreeSet::new();
    for attempt in before {
        if !agents.is_empty() && !goes_on(attempt) {
            break;
        }
        agents.insert(attempt.agent_id);
    }
    agents
}

fn goes_on(attempt: &AttemptRow) -> bool {
    let cut_short = matches!(attempt.status, AttemptStatus::Lost | AttemptStatus::Cancelled);
    let blameless = matches!(
        attempt.failure_class,
        Some(FailureClass::Provider | FailureClass::Budget | FailureClass::LostWorker)
    );
    cut_short || blameless
}

impl Conversation {
    /// Loads the transcript and finds out what became of its open calls. Returns how many requests were made.
    pub(crate) async fn resume(&mut self, rows: &[MessageRow], agents: &BTreeSet<AgentId>) -> Result<u32> {
        let own: Vec<MessageRow> = rows
            .iter()
            .filter(|row| row.agent_id.is_some_and(|agent| agents.contains(&agent)))
            .cloned()
            .collect();
        let scheduler = std::sync::Arc::clone(&self.scheduler);
        let task = self.seat().task.id;
        self.transcript = scheduler.deps.context.resolve_results(&own, &self.context.tools).await?;
        self.from = own.first().map(|row| row.id);
        self.through = own.last().map(|row| row.id);
        let filter = air_store::ToolRunFilter { task: Some(task), ..Default::default() };
        for run in scheduler.deps.store.tool_runs(filter).await? {
            self.live.progress().take_row(&run);
        }
        if let Some(last) = own.last().filter(|row| row.role == MessageRole::Assistant) {
            self.open_calls(&last.content).await?;
        }
        if self.batch.is_empty() && self.finish.is_none() {
            self.finish = self.finished_before(&own).await?;
        }
        let requests = own.iter().filter(|row| row.role == MessageRole::Assistant).count();
        Ok(u32::try_from(requests).unwrap_or(u32::MAX))
    }

    /// Calls without a result: what was started is reconciled, what waits for an answer waits on, the rest was never
    /// begun.
    async fn open_calls(&mut self, content: &[ContentBlock]) -> Result<()> {
        for block in content {
            if let ContentBlock::ToolUse { id, name, input } = block {
                self.batch.push(FoldedCall { id: id.clone(), name: name.clone(), input: Ok(input.clone()) });
            }
        }
        for call in self.batch.clone() {
            if let Some(envelope) = self.found(&call).await? {
                self.take(&call.id, envelope);
            }
        }
        self.close_batch().await;
        self.flush().await
    }

    async fn found(&self, call: &FoldedCall) -> Result<Option<ToolResultEnvelope>> {
        let deps = &self.scheduler.deps;
        let context = self.seat().call_context();
        let task = context.task_id;
        if let Some(envelope) = deps.executor.recover(context.clone(), &call.id).await {
            return Ok(Some(envelope));
        }
        let asked = deps.store.approval_by_call(context.turn_id, task, &call.id).await?;
        if asked.is_none_or(|approval| approval.state == ApprovalState::Withdrawn) {
            return Ok(None);
        }
        let input = call.input.clone().unwrap_or_else(|_| Value::Object(serde_json::Map::new()));
        let (call_id, name) = (call.id.clone(), call.name.clone());
        Ok(Some(deps.executor.call(ToolCall { context, call_id, name, input, before: Vec::new() }).await))
    }

    /// Whether the transcript ends in an accepted `task.finish`: then there is nothing to ask the model.
    async fn finished_before(&self, own: &[MessageRow]) -> Result<Option<super::conversation::Finish>> {
        let Some(last) = own.last().filter(|row| row.role == MessageRole::User) else { return Ok(None) };
        let Some(ContentBlock::ToolResultRef { run, .. }) = last.content.last() else { return Ok(None) };
        let run = self.scheduler.deps.store.tool_run(*run).await?;
        let accepted = run.tool == "task.finish" && run.status == Some(air_contracts::tool::ToolStatus::Ok);
        Ok(accepted.then(|| super::calls::finish_from(&run.data)).flatten())
    }
}
