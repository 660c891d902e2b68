//! From a call to its result: find the tool, validate, gate, log, execute, log.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use air_contracts::AirError;
use air_contracts::error::codes;
use air_contracts::event::{EventSource, Intent, NewEvent, SourceKind, ToolStarted};
use air_contracts::ids::{RefKind, ToolRunId};
use air_contracts::permission::{Decision, PermissionDecision, RiskLevel};
use air_contracts::port::CallPlan;
use air_contracts::tool::{CallContext, ToolCall, ToolResultEnvelope, ToolStatus};
use air_rt::OnCancel;
use serde_json::Value;
use tokio::sync::watch;

use super::{CallKey, Inner};
use crate::cancel::{Cancel, LiveGuard};
use crate::gate::{Permit, admit};
use crate::input::normalise;
use crate::tool::{Builtin, Call, Step};

/// The identity of one call under way.
pub(super) struct Run {
    pub context: CallContext,
    pub call_id: String,
    pub run_id: ToolRunId,
    pub n: u64,
    pub cancel: Cancel,
}

impl Run {
    /// What a tool sees of it.
    pub fn call<'a>(&'a self, inner: &'a Inner) -> Call<'a> {
        Call {
            kit: &inner.kit,
            context: &self.context,
            call_id: &self.call_id,
            run_id: self.run_id,
            n: self.n,
            cancel: &self.cancel,
        }
    }
}

/// A call that is about to have its effect.
struct Ready {
    tool: Arc<dyn Builtin>,
    permit: Permit,
    plan: CallPlan,
}

/// Whether a caller runs the call, or waits for one who does.
pub(super) enum Place {
    Lead(watch::Sender<Option<ToolResultEnvelope>>),
    Follow(watch::Receiver<Option<ToolResultEnvelope>>),
}

/// Gives the place of a leader back, whatever happens to it.
pub(super) struct Leader {
    inner: Arc<Inner>,
    key: CallKey,
    sender: watch::Sender<Option<ToolResultEnvelope>>,
}

impl Leader {
    /// Of a place that was taken.
    pub fn new(inner: Arc<Inner>, key: CallKey, sender: watch::Sender<Option<ToolResultEnvelope>>) -> Self {
        Self { inner, key, sender }
    }

    /// Hands the result to all who wait.
    pub fn give(&self, envelope: &ToolResultEnvelope) {
        self.sender.send_replace(Some(envelope.clone()));
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.inner.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

impl Inner {
    /// Takes the place of the first caller, or that of a follower.
    pub(super) fn place(&self, key: &CallKey) -> Place {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(receiver) = calls.get(key) {
            return Place::Follow(receiver.clone());
        }
        let (sender, receiver) = watch::channel(None);
        calls.insert(key.clone(), receiver);
        Place::Lead(sender)
    }

    /// Waits for the result of the leader; `None` when it went away without one.
    pub(super) async fn follow(
        mut receiver: watch::Receiver<Option<ToolResultEnvelope>>,
    ) -> Option<ToolResultEnvelope> {
        loop {
            if let Some(envelope) = receiver.borrow_and_update().clone() {
                return Some(envelope);
            }
            if receiver.changed().await.is_err() {
                return receiver.borrow().clone();
            }
        }
    }

    /// The whole way of a call.
    pub(super) async fn call(self: Arc<Self>, call: ToolCall) -> ToolResultEnvelope {
        let key = (call.context.turn_id, call.context.task_id, call.call_id.clone());
        let sender = loop {
            match self.place(&key) {
                Place::Lead(sender) => break sender,
                Place::Follow(receiver) => {
                    if let Some(envelope) = Self::follow(receiver).await {
                        return envelope;
                    }
                }
            }
        };
        let leader = Leader::new(self.clone(), key, sender);
        self.lead(call, leader).await
    }

    async fn lead(self: Arc<Self>, call: ToolCall, leader: Leader) -> ToolResultEnvelope {
        let ToolCall { context, call_id, name, input, mut before } = call;
        if let Some(fenced) = self.fenced(&context, &name) {
            leader.give(&fenced);
            return fenced;
        }
        let store = &self.kit.deps.store;
        match store.tool_run_by_call(context.turn_id, context.task_id, &call_id).await {
            Ok(Some(row)) => {
                let envelope = self.clone().settle(context, row).await;
                leader.give(&envelope);
                return envelope;
            }
            Ok(None) => {}
            Err(error) => {
                let envelope = self.unrecorded(&name, error);
                leader.give(&envelope);
                return envelope;
            }
        }
        let run = Run {
            context,
            call_id,
            run_id: ToolRunId::from_uuid(self.kit.deps.ids.next()),
            n: store.next_ref(RefKind::ToolRun),
            cancel: Cancel::new(),
        };
        let guard = self.kit.live.enter(run.run_id, &run.context, &run.cancel);
        let mut started = self.blank(&run, &name, &input);
        match self.make_ready(&run, &name, input, &mut started, &mut before).await {
            Ok(ready) => self.carry_out(run, ready, started, before, leader, guard).await,
            Err(failure) => {
                let fenced = self.fenced(&run.context, &name);
                let envelope = match fenced {
                    Some(fenced) => fenced,
                    None => self.refuse(&run, started, failure, before).await,
                };
                leader.give(&envelope);
                envelope
            }
        }
    }

    /// Everything before the effect.
    async fn make_ready(
        &self,
        run: &Run,
        name: &str,
        input: Value,
        started: &mut ToolStarted,
        before: &mut Vec<NewEvent>,
    ) -> Step<Ready> {
        let role = run.context.role;
        let (tool, mapped) = {
            let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
            registry
                .find(name)
                .ok_or_else(|| registry.unknown(name, |name| self.toolsets.allows(role, name)))?
        };
        let definition = tool.definition();
        started.tool.clone_from(&definition.name);
        started.class = definition.class;
        started.aliases.extend(mapped);
        if !self.toolsets.allows(role, &definition.name)
            || (tool.only_runtime() && role != air_contracts::task::AgentRole::Runtime)
        {
            let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
            let mut error = registry.unknown(name, |name| self.toolsets.allows(role, name));
            error.message = format!("`{}` is not a tool of this role. {}", definition.name, error.message);
            return Err(AirError::new(codes::TOOL_DENIED, error.message).into());
        }
        let normalised = normalise(&definition.name, &definition.input_schema, input)?;
        started.aliases.extend(normalised.mapped);
        started.input = self.stored_input(&normalised.value);
        self.kit.seen.load(&self.kit.deps.store, &run.context).await?;
        let call = run.call(self);
        let (permit, mut plan) = admit(tool.as_ref(), &call, &normalised.value, before).await?;
        started.decision = permit.decision().clone();
        started.title = self.kit.redact(&plan.title);
        started.class = plan.class.unwrap_or(definition.class);
        tool.prepare(&permit, &call, &mut plan).await?;
        started.intent = self.redacted_intent(&plan.intent);
        started.input = self.stored_input(&plan.input);
        if let Some(reason) = run.cancel.reason() {
            return Err(crate::gate::cancelled(&reason, "Nothing was done."));
        }
        Ok(Ready { tool, permit, plan })
    }

    /// Logs the start, then executes in a task of its own: a caller that goes away does not stop it.
    async fn carry_out(
        self: Arc<Self>,
        run: Run,
        ready: Ready,
        mut started: ToolStarted,
        mut before: Vec<NewEvent>,
        leader: Leader,
        guard: LiveGuard,
    ) -> ToolResultEnvelope {
        // It may have been given up while a person was asked.
        if let Some(fenced) = self.fenced(&run.context, &started.tool) {
            leader.give(&fenced);
            return fenced;
        }
        let tool_name = started.tool.clone();
        let input_text = ready.plan.input.to_string();
        let logged = async {
            before.extend(self.outline_input(&run, &mut started).await?);
            before.push(self.event(&run.context, &tool_name, started));
            self.kit.deps.store.ingest(before).await
        };
        if let Err(error) = logged.await {
            let envelope = self.unrecorded(&tool_name, error);
            leader.give(&envelope);
            return envelope;
        }
        let inner = self.clone();
        let work = async move {
            let _guard = guard;
            let begun = Instant::now();
            let call = run.call(&inner);
            let result = ready.tool.execute(&ready.permit, &call, ready.plan).await;
            let elapsed = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let may_write = ready.permit.may_write();
            let ending =
                super::finish::Ending { tool: tool_name, input_text, elapsed, may_write, reconciled: "" };
            let envelope = inner.finish(&run, ending, result).await;
            leader.give(&envelope);
            envelope
        };
        match self.kit.deps.tasks.spawn("tool run", OnCancel::Abort, work).await {
            Ok(Some(envelope)) => envelope,
            // The daemon stops: the run stays unfinished in the log, and the next daemon looks at it.
            _ => self.unrecorded("", AirError::new(codes::DAEMON_STOPPING, "the daemon stops")),
        }
    }

    /// The refusal of a call whose attempt was given up. It is not a run: another attempt may make the
    /// same call.
    pub(super) fn fenced(&self, context: &CallContext, name: &str) -> Option<ToolResultEnvelope> {
        let attempt = context.attempt_id?;
        let live = self.kit.deps.attempt_live.as_ref()?;
        if live(attempt) {
            return None;
        }
        tracing::warn!(%attempt, tool = name, "a call of an attempt that was given up is refused");
        let text = format!("{attempt} no longer holds this task: its calls are refused. Nothing was done.");
        Some(self.unrecorded(name, AirError::new(codes::ATTEMPT_FENCED, text)))
    }

    /// The envelope of a call that is not in the log.
    pub(super) fn unrecorded(&self, tool: &str, error: AirError) -> ToolResultEnvelope {
        let status =
            if error.is(codes::DAEMON_STOPPING) { ToolStatus::Interrupted } else { ToolStatus::Error };
        ToolResultEnvelope {
            run_id: ToolRunId::from_uuid(self.kit.deps.ids.next()),
            run_ref: 0,
            tool: tool.to_owned(),
            status,
            summary: error.message.clone(),
            content: super::finish::error_text(&error),
            error: Some(error),
            artifacts: Vec::new(),
            diagnostics: Vec::new(),
            evidence: Vec::new(),
            exit_code: None,
            written: Vec::new(),
            duration_ms: 0,
            data: Value::Null,
        }
    }

    /// `tool.started` of a call of which nothing is known yet.
    fn blank(&self, run: &Run, name: &str, input: &Value) -> ToolStarted {
        let decision = PermissionDecision {
            decision: Decision::Deny,
            level: RiskLevel::Unknown,
            reason: String::new(),
            effects: Vec::new(),
            scopes: Vec::new(),
            granted_by: None,
        };
        ToolStarted {
            run_id: run.run_id,
            n: run.n,
            session_id: run.context.session_id,
            turn_id: run.context.turn_id,
            task_id: run.context.task_id,
            agent_id: run.context.agent_id,
            attempt_id: run.context.attempt_id,
            workspace_id: run.context.workspace_id,
            call_id: run.call_id.clone(),
            tool: name.to_owned(),
            input: self.stored_input(input),
            aliases: Vec::new(),
            class: air_contracts::tool::EffectClass::Pure,
            intent: Intent::None,
            decision,
            title: name.to_owned(),
        }
    }

    fn redacted_intent(&self, intent: &Intent) -> Intent {
        match intent {
            Intent::Command { command, cwd, timeout_ms, background } => Intent::Command {
                command: self.kit.redact(command),
                cwd: cwd.clone(),
                timeout_ms: *timeout_ms,
                background: *background,
            },
            other => other.clone(),
        }
    }

    /// An event about a call.
    pub(super) fn event(
        &self,
        context: &CallContext,
        tool: &str,
        body: impl Into<air_contracts::event::EventBody>,
    ) -> NewEvent {
        let source = EventSource::new(SourceKind::Tool, tool);
        NewEvent::new(context.session_id, source, body).task(context.task_id).agent(context.agent_id)
    }
}
