//! Events as a real turn makes them, of realistic size.
#![allow(dead_code)]

use air_contracts::artifact::{ArtifactRef, Stored};
use air_contracts::event::*;
use air_contracts::ids::*;
use air_contracts::message::{ContentBlock, MessageRole};
use air_contracts::path::WirePath;
use air_contracts::permission::{Decision, Effect, EffectKind, PermissionDecision, RiskLevel};
use air_contracts::provider::TokenUsage;
use air_contracts::session::{SessionSettings, TurnOptions, TurnStatus};
use air_contracts::task::{AgentRole, TaskSpec, TaskStatus, TaskType};
use air_contracts::tool::EffectClass;
use air_rt::IdSource;
use serde_json::json;

/// The ids of a session with one turn, one task and its worker.
#[derive(Debug, Clone, Copy)]
pub struct Cast {
    pub session: SessionId,
    pub turn: TurnId,
    pub task: TaskId,
    pub agent: AgentId,
    pub attempt: AttemptId,
    pub workspace: WorkspaceId,
    pub base: ArtifactId,
    /// The number of all of them.
    pub n: u64,
}

impl Cast {
    pub fn new(ids: &IdSource, n: u64) -> Self {
        Self {
            session: SessionId::from_uuid(ids.next()),
            turn: TurnId::from_uuid(ids.next()),
            task: TaskId::from_uuid(ids.next()),
            agent: AgentId::from_uuid(ids.next()),
            attempt: AttemptId::from_uuid(ids.next()),
            workspace: WorkspaceId::from_uuid(ids.next()),
            base: ArtifactId::from_uuid(ids.next()),
            n,
        }
    }

    pub fn event(&self, body: impl Into<EventBody>) -> NewEvent {
        NewEvent::new(self.session, EventSource::agent(self.agent), body)
            .task(Some(self.task))
            .agent(self.agent)
    }

    pub fn plain(&self, body: impl Into<EventBody>) -> NewEvent {
        NewEvent::new(self.session, EventSource::daemon(), body)
    }

    /// Session, turn, task and worker exist.
    pub fn opening(&self) -> Vec<NewEvent> {
        vec![
            self.plain(SessionCreated {
                session_id: self.session,
                n: self.n,
                settings: SessionSettings::default(),
                forked_from: None,
            }),
            self.plain(self.submitted("Let the parser accept empty input, and add a test for it")),
            self.plain(TurnStarted { turn_id: self.turn }),
            self.plain(TaskCreated { session_id: self.session, n: self.n, task: self.spec() }),
            self.plain(AgentStarted {
                session_id: self.session,
                turn_id: self.turn,
                agent_id: self.agent,
                n: self.n,
                role: AgentRole::Executor,
                model: "anthropic/claude-sonnet-4-5".into(),
                workspace_id: self.workspace,
                attempt: Some(AttemptStarted { task_id: self.task, attempt_id: self.attempt, n: 1 }),
                pid: Some(4_242),
            }),
            self.plain(status(self.task, TaskStatus::Running)),
        ]
    }

    pub fn submitted(&self, text: &str) -> TurnSubmitted {
        TurnSubmitted {
            session_id: self.session,
            turn_id: self.turn,
            n: self.n,
            client_id: Some(format!("client-{}", self.n)),
            text: text.into(),
            attachments: Vec::new(),
            options: TurnOptions::default(),
        }
    }

    pub fn spec(&self) -> TaskSpec {
        TaskSpec {
            id: self.task,
            turn_id: self.turn,
            kind: TaskType::Implement,
            title: "accept empty input".into(),
            description: String::new(),
            user_text: "Let the parser accept empty input, and add a test for it".into(),
            part: None,
            acceptance_criteria: Vec::new(),
            scope: Default::default(),
            dependencies: Vec::new(),
            verification: Default::default(),
            constraints: Default::default(),
            context_refs: Vec::new(),
            output_contract: String::new(),
        }
    }

    /// What is committed before the effect of a call: the answer that asked for it, its usage, the call.
    pub fn call(&self, ids: &IdSource, n: u64) -> (ToolRunId, Vec<NewEvent>) {
        let run = ToolRunId::from_uuid(ids.next());
        let request = RequestId::from_uuid(ids.next());
        let call_id = format!("toolu_{:024x}", run.uuid().as_u128() & 0xffff_ffff_ffff_ffff_ffff);
        let command = format!("cmake --build build --target parser_test && ./build/parser_test --filter {n}");
        let content = vec![
            ContentBlock::text("The build needs another look; I run the tests of the parser again."),
            ContentBlock::ToolUse {
                id: call_id.clone(),
                name: "shell.run".into(),
                input: json!({ "command": command }),
            },
        ];
        let events = vec![
            self.event(self.message(ids, MessageRole::Assistant, content, Some(request))),
            self.event(UsageRecorded {
                request_id: request,
                session_id: self.session,
                turn_id: self.turn,
                task_id: Some(self.task),
                agent_id: self.agent,
                role: AgentRole::Executor,
                model: "anthropic/claude-sonnet-4-5".into(),
                usage: TokenUsage {
                    input_tokens: Some(12),
                    output_tokens: Some(140),
                    cache_read_tokens: Some(18_000 + n * 300),
                    cache_write_tokens: Some(300),
                },
                cost_usd: Some(0.0123),
            }),
            self.event(self.started(run, n, call_id, &command)),
        ];
        (run, events)
    }

    pub fn message(
        &self,
        ids: &IdSource,
        role: MessageRole,
        content: Vec<ContentBlock>,
        request_id: Option<RequestId>,
    ) -> MessageAppended {
        MessageAppended {
            message_id: MessageId::from_uuid(ids.next()),
            session_id: self.session,
            turn_id: self.turn,
            task_id: Some(self.task),
            agent_id: Some(self.agent),
            request_id,
            role,
            content: Stored::Inline { value: content },
        }
    }

    pub fn started(&self, run: ToolRunId, n: u64, call_id: String, command: &str) -> ToolStarted {
        let effects = ["build", "exec"]
            .map(|target| Effect { kind: EffectKind::Exec, target: format!("{target} ./build/parser_test") });
        ToolStarted {
            run_id: run,
            n,
            session_id: self.session,
            turn_id: self.turn,
            task_id: Some(self.task),
            agent_id: self.agent,
            attempt_id: Some(self.attempt),
            workspace_id: self.workspace,
            call_id,
            tool: "shell.run".into(),
            input: Stored::Inline { value: json!({ "command": command, "timeout_ms": 120_000 }) },
            aliases: Vec::new(),
            class: EffectClass::Command,
            intent: Intent::Command {
                command: command.into(),
                cwd: "/home/someone/projects/parser".into(),
                timeout_ms: 120_000,
                background: false,
            },
            decision: PermissionDecision {
                decision: Decision::Allow,
                level: RiskLevel::ProjectWrite,
                reason: "builds inside the project".into(),
                effects: effects.to_vec(),
                scopes: Vec::new(),
                granted_by: None,
            },
            title: command.into(),
        }
    }

    /// What is committed after it: the result, the message that carries it, the next request.
    pub fn result(&self, ids: &IdSource, n: u64, run: ToolRunId, output: &str) -> Vec<NewEvent> {
        let refer = ContentBlock::ToolResultRef { tool_use_id: format!("toolu_{n}"), run };
        vec![
            self.event(completed(run, output)),
            self.event(self.message(ids, MessageRole::User, vec![refer], None)),
            self.event(self.assembled(ids, n)),
        ]
    }

    pub fn assembled(&self, ids: &IdSource, n: u64) -> ContextAssembled {
        let layer = |name: &str| LayerRecord {
            layer: name.into(),
            what: "runtime rules".into(),
            tokens: 900,
            hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into(),
            from: "built in".into(),
        };
        ContextAssembled {
            request_id: RequestId::from_uuid(ids.next()),
            n,
            session_id: self.session,
            turn_id: self.turn,
            task_id: Some(self.task),
            agent_id: self.agent,
            role: AgentRole::Executor,
            model: "anthropic/claude-sonnet-4-5".into(),
            base: ArtifactRef {
                id: self.base,
                hash: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752".into(),
                size: 11_000,
                media_type: "application/json".into(),
                name: "request base".into(),
            },
            layers: vec![layer("L0"), layer("L4"), layer("L6")],
            omissions: Vec::new(),
            conflicts: Vec::new(),
            from_message: None,
            through_message: Some(MessageId::from_uuid(ids.next())),
            volatile: "<state>turn 12, 3 files changed, budget 0.41 of 2.00 USD</state>".into(),
            max_output_tokens: 16_000,
            effort: None,
            tokens: 20_000,
            context_window: 200_000,
            hash: "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13".into(),
        }
    }

    pub fn ended(&self, status: TurnStatus, answer: &str) -> TurnEnded {
        TurnEnded { turn_id: self.turn, status, answer: answer.into(), blockers: Vec::new(), error: None }
    }
}

pub fn status(task: TaskId, status: TaskStatus) -> TaskStatusChanged {
    TaskStatusChanged {
        task_id: task,
        status,
        reason: String::new(),
        summary: None,
        criteria: None,
        changed_files: None,
        foreign_files: None,
        blocker: None,
        note: None,
    }
}

pub fn completed(run: ToolRunId, output: &str) -> ToolCompleted {
    ToolCompleted {
        run_id: run,
        summary: "exit 0 in 1.2 s".into(),
        content: Stored::Inline { value: output.into() },
        artifacts: Vec::new(),
        evidence: Vec::new(),
        exit_code: Some(0),
        written: vec![WirePath::Path("build/parser_test".into())],
        may_have_written: true,
        duration_ms: 1_204,
        reconciled: String::new(),
        command: Some(CommandOutcome {
            exit_code: Some(0),
            signal: None,
            timed_out: false,
            output_bytes: output.len() as u64,
            survivors: 0,
            wall_ms: 1_204,
        }),
        data: serde_json::Value::Null,
    }
}

pub fn artifact(ids: &IdSource, size: u16) -> ArtifactRef {
    ArtifactRef {
        id: ArtifactId::from_uuid(ids.next()),
        hash: format!("{size:064x}"),
        size: u64::from(size),
        media_type: "text/plain".into(),
        name: "n".into(),
    }
}
