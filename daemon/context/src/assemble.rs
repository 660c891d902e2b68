//! Assembles a context, once for an attempt or a turn.

use std::sync::Arc;

use air_contracts::AirError;
use air_contracts::Result;
use air_contracts::artifact::ArtifactRef;
use air_contracts::event::{ContextConflict, LayerRecord, Omission};
use air_contracts::ids::{SessionId, TurnId};
use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::project::ProjectCheck;
use air_contracts::provider::{ProviderCapabilityMatrix, SystemBlock, ToolSpec};
use air_contracts::task::{AgentRole, TaskSpec, TaskStatus};
use air_host::RuleFile;
use air_store::Store;
use serde::{Deserialize, Serialize};

use crate::blocks::{CONVERSATION_BYTES, conversation_block, task_block};
use crate::layers::{Layers, system_blocks};
use crate::names::render_names;
use crate::tokens::{estimate_message, estimate_tokens};

/// Reads the rule files as they are now.
pub type RuleSource = Arc<dyn Fn() -> Vec<RuleFile> + Send + Sync>;

/// Assembles contexts for one project.
#[derive(Clone)]
pub struct ContextAssembler {
    pub(crate) store: Store,
    rules: RuleSource,
}

/// What stays the same for all requests of an attempt.
#[derive(Debug, Clone)]
pub struct AssembledContext {
    pub system: Vec<SystemBlock>,
    pub tools: Vec<ToolSpec>,
    /// What comes before the transcript.
    pub head: Vec<Message>,
    /// The three above, stored.
    pub base: ArtifactRef,
    pub layers: Vec<LayerRecord>,
    pub omissions: Vec<Omission>,
    pub conflicts: Vec<ContextConflict>,
    /// Estimated tokens of system, tools and head.
    pub head_tokens: u32,
}

/// The stored form of system, tools and head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Base {
    pub(crate) system: Vec<SystemBlock>,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) head: Vec<Message>,
}

/// What a worker's context is made of.
#[derive(Debug)]
pub struct WorkerInput<'a> {
    pub role: AgentRole,
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub task: &'a TaskSpec,
    pub task_ref: u64,
    pub tools: Vec<ToolSpec>,
    pub matrix: &'a ProviderCapabilityMatrix,
    pub project_facts: String,
    pub checks: &'a [ProjectCheck],
    /// The failure of the attempt before: what a debugger starts from.
    pub failure: Option<String>,
    /// The change that a reviewer judges.
    pub extra: Option<String>,
}

/// What the Main Agent's context is made of.
#[derive(Debug)]
pub struct MainInput<'a> {
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub tools: Vec<ToolSpec>,
    pub matrix: &'a ProviderCapabilityMatrix,
    pub project_facts: String,
}

impl ContextAssembler {
    /// An assembler over a project's log and rules.
    pub fn new(store: Store, rules: RuleSource) -> Self {
        Self { store, rules }
    }

    /// The context of a worker's attempt.
    pub async fn assemble_worker(&self, input: WorkerInput<'_>) -> Result<AssembledContext> {
        let mut layers = Layers::default();
        let mut tools = input.tools;
        prepare_tools(&mut tools);
        let system = system_blocks(input.role, &(self.rules)(), &input.project_facts, &tools, &mut layers)?;

        let mut blocks: Vec<String> = Vec::new();
        let earlier = self.earlier_messages(input.session_id, input.turn_id).await?;
        if let Some((text, left_out)) = conversation_block(&earlier, CONVERSATION_BYTES) {
            layers.add("L7", "earlier messages of the user", "conversation", &text);
            if left_out > 0 {
                layers.omissions.push(Omission {
                    what: format!("{left_out} earlier messages of the user"),
                    why: format!("a worker is given the newest {CONVERSATION_BYTES} bytes"),
                });
            }
            blocks.push(text);
        }
        let task = task_block(input.task, input.task_ref, input.checks);
        layers.add("L5", "task", &format!("k{}", input.task_ref), &task);
        blocks.push(task);
        for (layer, what, text) in
            [("L6", "change under review", input.extra), ("L8", "what failed before", input.failure)]
        {
            if let Some(text) = text {
                layers.add(layer, what, "log", &text);
                blocks.push(text);
            }
        }
        let content =
            blocks.iter().map(|text| ContentBlock::text(render_names(text.trim_end(), &tools))).collect();
        let head = vec![Message { role: MessageRole::User, content }];
        self.finish(system, tools, head, layers).await
    }

    /// The context of the Main Agent. Its transcript is the conversation.
    pub async fn assemble_main(&self, input: MainInput<'_>) -> Result<AssembledContext> {
        let mut layers = Layers::default();
        let mut tools = input.tools;
        prepare_tools(&mut tools);
        let system =
            system_blocks(AgentRole::Main, &(self.rules)(), &input.project_facts, &tools, &mut layers)?;
        self.finish(system, tools, Vec::new(), layers).await
    }

    async fn finish(
        &self,
        system: Vec<SystemBlock>,
        tools: Vec<ToolSpec>,
        head: Vec<Message>,
        mut layers: Layers,
    ) -> Result<AssembledContext> {
        let tool_text =
            serde_json::to_string(&tools).map_err(|error| AirError::internal(error.to_string()))?;
        layers.add("tools", &format!("{} tools", tools.len()), "built in", &tool_text);
        let tokens = system.iter().map(|block| estimate_tokens(&block.text)).sum::<u32>()
            + estimate_tokens(&tool_text)
            + head.iter().map(estimate_message).sum::<u32>();
        let base = Base { system, tools, head };
        let json = serde_json::to_vec(&base).map_err(|error| AirError::internal(error.to_string()))?;
        let artifact = self.store.put_artifact(&json, "application/json", "context base").await?;
        let Layers { mut records, omissions, conflicts } = layers;
        records.sort_by(|a, b| a.layer.cmp(&b.layer));
        Ok(AssembledContext {
            system: base.system,
            tools: base.tools,
            head: base.head,
            base: artifact,
            layers: records,
            omissions,
            conflicts,
            head_tokens: tokens,
        })
    }

    /// The user's messages before this turn, since the last turn with a completed task, oldest first.
    async fn earlier_messages(&self, session: SessionId, turn: TurnId) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        let mut turns = self.store.turns(session, 50).await?;
        turns.sort_by_key(|row| row.n);
        let this = turns.iter().find(|row| row.id == turn).map_or(u64::MAX, |row| row.n);
        for row in turns.iter().rev().filter(|row| row.n < this) {
            texts.push(row.text.clone());
            let tasks = self.store.tasks_of_turn(row.id).await?;
            if tasks.iter().any(|task| task.status == TaskStatus::Completed) {
                break;
            }
        }
        texts.reverse();
        Ok(texts)
    }
}

/// Sorted by name, texts with wire names: equal for all requests, so that caches hit.
fn prepare_tools(tools: &mut [ToolSpec]) {
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let shown = tools.to_vec();
    for tool in tools {
        tool.description = render_names(&tool.description, &shown).into_owned();
    }
}
