//! The Main Agent: answers, looks things up, hands work over.

use air_context::{
    AssembledContext, MainInput, RequestInput, VolatileState, render_names, request, volatile_block,
};
use air_contracts::artifact::Stored;
use air_contracts::event::{AgentStarted, EventSource, NewEvent};
use air_contracts::ids::{AgentId, MessageId, RefKind, RequestId};
use air_contracts::message::{ContentBlock, Message, MessageRole};
use air_contracts::permission::ApproveMode;
use air_contracts::provider::{Completion, Effort, FoldedCall, ModelAssignment};
use air_contracts::session::SessionSettings;
use air_contracts::task::AgentRole;
use air_contracts::tool::{CallContext, ToolCall, ToolStatus};
use air_contracts::{AirError, Result};
use air_scheduler::model_call::{ModelCall, ModelCallDeps, call_model, unique_call_ids};
use air_store::{TaskRow, TurnRow};

use crate::conversation::{Conversation, OpenCalls, appended};
use crate::sessions::SessionsDeps;

/// Requests of one turn, at most: a question that needs more is work.
const MAX_REQUESTS: u32 = 40;

/// Why the agent stopped.
pub(crate) enum MainStop {
    /// This is what the user is told.
    Answered(String),
    /// Tasks were created.
    Delegated,
    Failed(AirError),
}

/// The agent of one turn.
pub(crate) struct MainAgent<'a> {
    deps: &'a SessionsDeps,
    turn: &'a TurnRow,
    settings: SessionSettings,
    agent_id: AgentId,
    assignment: ModelAssignment,
    context: AssembledContext,
    conversation: Conversation,
    /// Events that go with the next commit.
    pending: Vec<NewEvent>,
    requests: u32,
}

impl<'a> MainAgent<'a> {
    /// Assembles the context of a turn. Errors when no model can be selected.
    pub(crate) async fn new(deps: &'a SessionsDeps, turn: &'a TurnRow) -> Result<Self> {
        let settings = deps.store.session(turn.session_id).await?.settings;
        let wanted = turn.options.model.as_deref().or(settings.model.as_deref());
        let assignment = deps.gateway.select(AgentRole::Main, wanted)?;
        let tools = deps.executor.visible(AgentRole::Main, &assignment.matrix.family);
        let input = MainInput {
            session_id: turn.session_id,
            turn_id: turn.id,
            tools,
            matrix: &assignment.matrix,
            project_facts: (deps.project_facts)(),
        };
        let context = deps.context.assemble_main(input).await?;
        let mut pending = vec![deps.store.artifact_event(
            &context.base,
            Some(turn.session_id),
            None,
            EventSource::daemon(),
        )];
        let agent_id = agent_of(deps, turn, &assignment, &mut pending).await?;
        let open = OpenCalls {
            executor: deps.executor.as_ref(),
            context: call_context(deps, turn, &settings, agent_id),
            message_id: MessageId::from_uuid(deps.ids.next()),
        };
        let window =
            assignment.matrix.context_window.saturating_sub(assignment.matrix.max_output_tokens.min(32_000));
        let conversation =
            Conversation::load(&deps.store, &deps.context, &context, window, turn, open).await?;
        Ok(Self { deps, turn, settings, agent_id, assignment, context, conversation, pending, requests: 0 })
    }

    /// Its id.
    pub(crate) fn id(&self) -> AgentId {
        self.agent_id
    }

    /// Goes on until there is an answer, a task, or a failure that a repetition does not mend.
    pub(crate) async fn run(&mut self) -> Result<MainStop> {
        while self.requests < MAX_REQUESTS {
            self.requests += 1;
            let completion = match self.ask().await? {
                Ok(completion) => completion,
                Err(error) => return Ok(MainStop::Failed(error)),
            };
            if completion.calls.is_empty() {
                self.flush().await?;
                return Ok(MainStop::Answered(completion.message.plain_text()));
            }
            let delegated = self.call_tools(completion.calls).await?;
            if delegated {
                self.flush().await?;
                return Ok(MainStop::Delegated);
            }
        }
        let message = format!("the Main Agent made {MAX_REQUESTS} requests in this turn without an answer");
        Ok(MainStop::Failed(
            AirError::new(air_contracts::error::codes::BUDGET_REACHED, message).hint("air continue goes on"),
        ))
    }

    /// Tells the agent how the tasks ended, so that it can answer.
    pub(crate) async fn report(&mut self, tasks: &[TaskRow]) -> Result<()> {
        let lines: Vec<String> = tasks
            .iter()
            .map(|task| {
                let status = serde_json::to_value(task.status).unwrap_or_default();
                let told = if task.summary.is_empty() { &task.reason } else { &task.summary };
                format!("[k{} {}: {}] {told}", task.n, status.as_str().unwrap_or_default(), task.spec.title)
            })
            .collect();
        let text = format!(
            "[the tasks have ended]\n{}\nTell the user how it ended, from these results.",
            lines.join("\n")
        );
        self.say(MessageRole::User, vec![ContentBlock::text(text)], None).await?;
        self.flush().await
    }

    async fn ask(&mut self) -> Result<Result<Completion, AirError>> {
        let request_id = RequestId::from_uuid(self.deps.ids.next());
        let item = MessageId::from_uuid(self.deps.ids.next());
        let input = RequestInput {
            request_id,
            request_ref: self.deps.store.next_ref(RefKind::Request),
            session_id: self.turn.session_id,
            turn_id: self.turn.id,
            task_id: None,
            agent_id: self.agent_id,
            role: AgentRole::Main,
            matrix: &self.assignment.matrix,
            transcript: &self.conversation.messages,
            from_message: self.conversation.from,
            through_message: self.conversation.through,
            volatile: volatile_block(&VolatileState::default()),
            effort: Some(Effort::Low),
        };
        let (request, assembled) = request(&self.context, input);
        self.pending.push(NewEvent::new(self.turn.session_id, EventSource::agent(self.agent_id), assembled));
        let deps = ModelCallDeps {
            store: self.deps.store.clone(),
            gateway: self.deps.gateway.clone(),
            clock: self.deps.clock.clone(),
        };
        let call = ModelCall {
            request,
            turn_id: self.turn.id,
            task_id: None,
            agent_id: self.agent_id,
            item,
            matrix: &self.assignment.matrix,
            max_cost_session: self.settings.limits.max_cost_usd,
            max_cost_turn: self.turn.options.max_cost_usd,
        };
        match call_model(&deps, call).await {
            Ok(mut answer) => {
                unique_call_ids(&mut answer.completion, &mut self.conversation.call_ids);
                self.pending.push(answer.usage_event);
                let content = answer.completion.message.content.clone();
                if !content.is_empty() {
                    self.say_as(item, MessageRole::Assistant, content, Some(request_id)).await?;
                }
                Ok(Ok(answer.completion))
            }
            Err(failure) => {
                self.pending.extend(failure.usage_event);
                self.flush().await?;
                Ok(Err(failure.error))
            }
        }
    }

    /// Runs the calls of an answer, in order. `true`: at least one task was created.
    async fn call_tools(&mut self, calls: Vec<FoldedCall>) -> Result<bool> {
        let mut results = Vec::with_capacity(calls.len());
        let mut shown = Vec::with_capacity(calls.len());
        let mut delegated = false;
        for call in calls {
            let Ok(input) = call.input else {
                let content =
                    "error invalid_input: the arguments are not a JSON object. Nothing was done.".to_owned();
                let block = ContentBlock::ToolResult { tool_use_id: call.id, content, is_error: true };
                results.push(block.clone());
                shown.push(block);
                continue;
            };
            let envelope = self
                .deps
                .executor
                .call(ToolCall {
                    context: call_context(self.deps, self.turn, &self.settings, self.agent_id),
                    call_id: call.id.clone(),
                    name: call.name,
                    input,
                    before: std::mem::take(&mut self.pending),
                })
                .await;
            delegated |= envelope.tool == "task.create" && envelope.status == ToolStatus::Ok;
            results.push(ContentBlock::ToolResultRef { tool_use_id: call.id.clone(), run: envelope.run_id });
            shown.push(ContentBlock::ToolResult {
                tool_use_id: call.id,
                content: render_names(&envelope.content, &self.context.tools).into_owned(),
                is_error: envelope.status != ToolStatus::Ok,
            });
        }
        let id = MessageId::from_uuid(self.deps.ids.next());
        let content = Stored::Inline { value: results };
        self.pending.push(appended(id, self.turn, Some(self.agent_id), None, MessageRole::User, content));
        self.conversation.push(id, Message { role: MessageRole::User, content: shown });
        Ok(delegated)
    }

    async fn say(
        &mut self,
        role: MessageRole,
        content: Vec<ContentBlock>,
        request: Option<RequestId>,
    ) -> Result<()> {
        let id = MessageId::from_uuid(self.deps.ids.next());
        self.say_as(id, role, content, request).await
    }

    async fn say_as(
        &mut self,
        id: MessageId,
        role: MessageRole,
        content: Vec<ContentBlock>,
        request: Option<RequestId>,
    ) -> Result<()> {
        let (stored, artifact) = self.deps.store.store_value(content.clone(), "message").await?;
        let source = EventSource::agent(self.agent_id);
        self.pending.extend(artifact.map(|artifact| {
            self.deps.store.artifact_event(&artifact, Some(self.turn.session_id), None, source)
        }));
        self.pending.push(appended(id, self.turn, Some(self.agent_id), request, role, stored));
        self.conversation.push(id, Message { role, content });
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        self.deps.store.ingest(std::mem::take(&mut self.pending)).await.map(drop)
    }
}

/// The Main Agent of a session is one row, whatever daemon it lives in.
async fn agent_of(
    deps: &SessionsDeps,
    turn: &TurnRow,
    assignment: &ModelAssignment,
    pending: &mut Vec<NewEvent>,
) -> Result<AgentId> {
    let known = deps.store.agents(Some(turn.session_id), true).await?;
    if let Some(main) = known.iter().find(|agent| agent.role == AgentRole::Main) {
        return Ok(main.id);
    }
    let agent_id = AgentId::from_uuid(deps.ids.next());
    let started = AgentStarted {
        session_id: turn.session_id,
        turn_id: turn.id,
        agent_id,
        n: deps.store.next_ref(RefKind::Agent),
        role: AgentRole::Main,
        model: assignment.matrix.model.clone(),
        workspace_id: deps.workspace.id,
        attempt: None,
        pid: None,
    };
    pending.push(NewEvent::new(turn.session_id, EventSource::daemon(), started).agent(agent_id));
    Ok(agent_id)
}

fn call_context(
    deps: &SessionsDeps,
    turn: &TurnRow,
    settings: &SessionSettings,
    agent_id: AgentId,
) -> CallContext {
    let approve: ApproveMode = turn.options.approve.unwrap_or(settings.approve);
    CallContext {
        session_id: turn.session_id,
        turn_id: turn.id,
        task_id: None,
        agent_id,
        attempt_id: None,
        role: AgentRole::Main,
        workspace_id: deps.workspace.id,
        workspace_root: deps.workspace.root.clone(),
        approve,
    }
}
