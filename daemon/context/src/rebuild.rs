//! From the log back to what was sent, byte for byte.

use std::collections::HashMap;

use air_contracts::error::codes;
use air_contracts::ids::{RequestId, ToolRunId};
use air_contracts::message::{ContentBlock, Message};
use air_contracts::provider::{ModelRequest, ToolSpec};
use air_contracts::tool::ToolStatus;
use air_contracts::{AirError, Result};
use air_store::MessageRow;

use crate::assemble::{Base, ContextAssembler};
use crate::names::render_names;
use crate::request::{Parts, build};

impl ContextAssembler {
    /// Transcript rows as messages for a model: results in the place of their references, names as the model knows
    /// them. A run without a result counts as `interrupted`, so that every call is answered.
    pub async fn resolve_results(&self, rows: &[MessageRow], tools: &[ToolSpec]) -> Result<Vec<Message>> {
        let mut known: HashMap<ToolRunId, (String, bool)> = HashMap::new();
        let mut messages = Vec::with_capacity(rows.len());
        for row in rows {
            let mut content = Vec::with_capacity(row.content.len());
            for block in &row.content {
                let ContentBlock::ToolResultRef { tool_use_id, run } = block else {
                    content.push(block.clone());
                    continue;
                };
                if !known.contains_key(run) {
                    known.insert(*run, self.result_of(*run).await?);
                }
                let (text, is_error) = known.get(run).cloned().unwrap_or_default();
                content.push(ContentBlock::ToolResult {
                    tool_use_id: tool_use_id.clone(),
                    content: render_names(&text, tools).into_owned(),
                    is_error,
                });
            }
            messages.push(Message { role: row.role, content });
        }
        Ok(messages)
    }

    async fn result_of(&self, run: ToolRunId) -> Result<(String, bool)> {
        let row = self.store.tool_run(run).await?;
        let text = match &row.content {
            Some(stored) => self.store.load_value(stored).await?,
            None => "error interrupted: the outcome of this call is unknown".to_owned(),
        };
        Ok((text, row.status != Some(ToolStatus::Ok)))
    }

    /// The request as it was sent. `request.not_found` for an unknown id; `artifact.*` where its base is gone.
    pub async fn rebuild(&self, request: RequestId) -> Result<ModelRequest> {
        let record = self.store.request(request).await?;
        let assembled = record.assembled;
        let bytes = self.store.read_artifact(&assembled.base).await?;
        let base: Base = serde_json::from_slice(&bytes)
            .map_err(|error| AirError::new(codes::ARTIFACT_CORRUPT, format!("base of {request}: {error}")))?;
        let rows = self.store.messages(assembled.session_id, assembled.task_id).await?;
        let place = |id| rows.iter().position(|row| Some(row.id) == id);
        let end = match assembled.through_message {
            Some(_) => place(assembled.through_message).map_or(0, |at| at + 1),
            None => 0,
        };
        let start = place(assembled.from_message).unwrap_or(0).min(end);
        let transcript = self.resolve_results(&rows[start..end], &base.tools).await?;
        let mut request = build(Parts {
            context_system: base.system,
            context_tools: base.tools,
            head: &base.head,
            transcript: &transcript,
            volatile: &assembled.volatile,
        });
        request.request_id = assembled.request_id;
        request.session_id = assembled.session_id;
        request.model = assembled.model;
        request.role = assembled.role;
        request.max_output_tokens = assembled.max_output_tokens;
        request.effort = assembled.effort;
        Ok(request)
    }
}
