//! Histories in which anything may happen that a running daemon may log, in any order.

use air_contracts::AirError;
use air_contracts::approval::{Approval, ApprovalAnswer, ApprovalDecision, ApprovalSubject};
use air_contracts::artifact::Stored;
use air_contracts::diagnostic::{Diagnostic, Severity};
use air_contracts::error::codes;
use air_contracts::event::*;
use air_contracts::evidence::{Evidence, EvidenceKind};
use air_contracts::ids::*;
use air_contracts::message::{ContentBlock, MessageRole};
use air_contracts::permission::{GrantScope, ScopeOffer};
use air_contracts::provider::TokenUsage;
use air_contracts::session::{SessionSettings, TurnStatus};
use air_contracts::task::{
    AgentRole, AttemptStatus, Blocker, CriterionOutcome, CriterionState, FailureClass, TaskStatus,
};
use air_contracts::time::Timestamp;
use air_contracts::tool::ToolStatus;
use air_contracts::workspace::{Checkpoint, WorkspaceKind, WorkspaceRef};
use air_rt::IdSource;

use crate::samples::{Cast, artifact, completed, status};

/// A history that grows by one event at a time; what events name exists.
pub struct History {
    ids: IdSource,
    n: u64,
    casts: Vec<Cast>,
    runs: Vec<(Cast, ToolRunId)>,
    approvals: Vec<(Cast, ApprovalId)>,
    pub events: Vec<NewEvent>,
}

/// One of several, by a random number.
fn pick<T: Clone>(all: &[T], random: u16) -> T {
    all[usize::from(random) % all.len()].clone()
}

impl History {
    pub fn new() -> Self {
        let mut history = Self {
            ids: IdSource::new(),
            n: 0,
            casts: Vec::new(),
            runs: Vec::new(),
            approvals: Vec::new(),
            events: Vec::new(),
        };
        history.cast();
        history.run(0);
        history.approval(0);
        history
    }

    fn number(&mut self) -> u64 {
        self.n += 1;
        self.n
    }

    /// A session with all that belongs to it.
    fn cast(&mut self) {
        let n = self.number();
        let cast = Cast::new(&self.ids, n);
        self.events.extend(cast.opening());
        let workspace = WorkspaceRef { id: cast.workspace, kind: WorkspaceKind::UserTree, root: "/p".into() };
        self.events.push(NewEvent::of_project(EventSource::scheduler(), WorkspaceCreated { workspace }));
        self.casts.push(cast);
    }

    fn run(&mut self, random: u16) {
        let cast = pick(&self.casts, random);
        let n = self.number();
        let (run, events) = cast.call(&self.ids, n);
        self.events.extend(events);
        self.runs.push((cast, run));
    }

    fn approval(&mut self, random: u16) {
        let (cast, run) = pick(&self.runs, random);
        let id = ApprovalId::from_uuid(self.ids.next());
        let scopes =
            vec![ScopeOffer { scope: GrantScope::Session, covers: "make".into(), key: "make".into() }];
        let approval = Approval {
            id,
            n: self.number(),
            session_id: cast.session,
            turn_id: cast.turn,
            task_id: random.is_multiple_of(2).then_some(cast.task),
            agent_id: cast.agent,
            run_id: run,
            call_id: "toolu_1".into(),
            digest: "d".into(),
            subject: ApprovalSubject::ToolCall {
                tool: "shell.run".into(),
                input: serde_json::json!({ "command": "make" }),
                effects: Vec::new(),
                reason: "unknown".into(),
                scopes,
            },
            asked_at: Timestamp::from_millis(5),
        };
        self.events.push(cast.event(ApprovalRequested { approval }));
        self.approvals.push((cast, id));
    }

    /// One more step; `kind` chooses what happens, `random` to whom.
    pub fn step(&mut self, kind: u16, random: u16) {
        let cast = pick(&self.casts, random);
        let event = match kind % 8 {
            0 => return self.cast(),
            1 => return self.run(random),
            2 => return self.approval(random),
            3 => self.conversation(cast, random),
            4 => self.work(cast, random),
            5 => self.tools(random),
            6 => self.requests(cast, random),
            _ => self.project(cast, random),
        };
        self.events.push(event);
    }

    fn conversation(&mut self, cast: Cast, random: u16) -> NewEvent {
        let turn_id = cast.turn;
        let ends =
            [TurnStatus::Completed, TurnStatus::Failed, TurnStatus::Interrupted, TurnStatus::Cancelled];
        match random % 10 {
            0 => {
                let settings =
                    SessionSettings { title: Some(format!("title {random}")), ..Default::default() };
                cast.plain(SessionConfigured { session_id: cast.session, settings })
            }
            1 => cast.plain(SessionClosed { session_id: cast.session }),
            2 => {
                // A session with several turns.
                let turn_id = TurnId::from_uuid(self.ids.next());
                cast.plain(TurnSubmitted { turn_id, n: self.number(), ..cast.submitted("and another thing") })
            }
            3 => cast.plain(TurnStarted { turn_id }),
            4 => cast.plain(cast.ended(pick(&ends, random / 10), "it is so")),
            5 => cast.plain(TurnResumed { turn_id, reason: "continue".into(), note: Some("go on".into()) }),
            6 => cast.plain(TurnResumed { turn_id, reason: "continue".into(), note: None }),
            7 => cast.plain(RequirementChanged { turn_id, text: "in Rust".into() }),
            _ => {
                let role = pick(&[MessageRole::User, MessageRole::Assistant], random / 10);
                let content =
                    vec![ContentBlock::text(if random.is_multiple_of(3) { "" } else { "ä \"text\" \\ \n" })];
                let mut message = cast.message(&self.ids, role, content, None);
                if random.is_multiple_of(4) {
                    message.task_id = None;
                }
                if random.is_multiple_of(5) {
                    message.content = Stored::Artifact { artifact: artifact(&self.ids, random) };
                }
                cast.event(message)
            }
        }
    }

    fn work(&mut self, cast: Cast, random: u16) -> NewEvent {
        match random % 8 {
            0 => {
                let mut task = cast.spec();
                task.id = TaskId::from_uuid(self.ids.next());
                task.dependencies = vec![cast.task, cast.task];
                cast.plain(TaskCreated { session_id: cast.session, n: self.number(), task })
            }
            1 | 2 => cast.plain(self.status(cast, random / 8)),
            3 => cast.plain(AgentStarted {
                session_id: cast.session,
                turn_id: cast.turn,
                agent_id: AgentId::from_uuid(self.ids.next()),
                n: self.number(),
                role: AgentRole::Main,
                model: "local/qwen".into(),
                workspace_id: cast.workspace,
                attempt: None,
                pid: None,
            }),
            4 => cast.plain(AgentEnded {
                agent_id: cast.agent,
                attempt_id: Some(cast.attempt),
                status: pick(&[AttemptStatus::Succeeded, AttemptStatus::Failed], random / 8),
                failure_class: random.is_multiple_of(3).then_some(FailureClass::Tool),
                note: "n".into(),
                failure_instances: vec!["i".into()],
            }),
            5 => cast.plain(AgentLost {
                agent_id: cast.agent,
                attempt_id: Some(cast.attempt),
                reason: "silent".into(),
            }),
            6 => cast
                .plain(EvidenceRecorded { session_id: cast.session, evidence: self.evidence(cast, random) }),
            _ => cast.plain(ProviderWaiting {
                session_id: cast.session,
                turn_id: cast.turn,
                agent_id: cast.agent,
                model: "local/qwen".into(),
                error: AirError::new(codes::PROVIDER_OVERLOADED, "overloaded"),
                until: Timestamp::from_millis(i64::from(random)),
            }),
        }
    }

    fn status(&mut self, cast: Cast, random: u16) -> TaskStatusChanged {
        let all = [TaskStatus::Ready, TaskStatus::Running, TaskStatus::Blocked, TaskStatus::Completed];
        let mut changed = status(cast.task, pick(&all, random));
        changed.reason = if random.is_multiple_of(2) { String::new() } else { format!("reason {random}") };
        changed.summary = random.is_multiple_of(3).then(|| format!("summary {random}"));
        changed.note = random.is_multiple_of(7).then(|| "note".into());
        changed.criteria = random.is_multiple_of(4).then(|| {
            let state = CriterionState::Proved;
            vec![CriterionOutcome {
                text: "c".into(),
                check: None,
                state,
                evidence: Vec::new(),
                note: String::new(),
            }]
        });
        changed.blocker = random.is_multiple_of(5).then(|| Blocker {
            task_id: cast.task,
            kind: "verification".into(),
            summary: "s".into(),
            evidence: Vec::new(),
            options: Vec::new(),
        });
        changed
    }

    fn evidence(&mut self, cast: Cast, random: u16) -> Evidence {
        let tool_run = pick(&self.runs, random).1;
        let kinds = [
            EvidenceKind::CheckPassed { tool_run, baseline: None },
            EvidenceKind::Diff { paths: Vec::new() },
            EvidenceKind::Review { verdict: "good".into() },
        ];
        Evidence {
            id: EvidenceId::from_uuid(self.ids.next()),
            n: self.number(),
            task_id: cast.task,
            claim: "all tests pass".into(),
            kind: pick(&kinds, random / 8),
            tree: "t".into(),
            write_seq: u64::from(random % 4),
            command: None,
            exit_code: Some(0),
            tests: None,
            tests_before: None,
            artifact: random.is_multiple_of(2).then(|| artifact(&self.ids, random)),
            weaker: false,
            note: "exit 0".into(),
        }
    }

    fn tools(&mut self, random: u16) -> NewEvent {
        let (cast, run_id) = pick(&self.runs, random);
        let (_, approval_id) = pick(&self.approvals, random);
        let failed = |refused, run_id, status| ToolFailed {
            run_id,
            status,
            error: AirError::new(codes::TOOL_DENIED, "denied"),
            content: Stored::Inline { value: "denied".into() },
            artifacts: Vec::new(),
            duration_ms: 1,
            reconciled: String::new(),
            refused,
        };
        match random % 7 {
            0 | 1 => {
                let mut done = completed(run_id, "output");
                done.may_have_written = random.is_multiple_of(3);
                if random.is_multiple_of(5) {
                    done.written.clear();
                    done.command = None;
                }
                done.artifacts = vec![artifact(&self.ids, random)];
                cast.event(done)
            }
            2 => cast.event(failed(None, run_id, ToolStatus::Interrupted)),
            3 => {
                let run_id = ToolRunId::from_uuid(self.ids.next());
                let started = cast.started(run_id, self.number(), "toolu_x".into(), "rm -rf /");
                cast.event(failed(Some(Box::new(started)), run_id, ToolStatus::Denied))
            }
            4 => {
                let answer = ApprovalAnswer {
                    decision: Some(pick(&[ApprovalDecision::Allow, ApprovalDecision::Deny], random / 7)),
                    scope: Some(pick(&[GrantScope::Once, GrantScope::Session], random / 7)),
                    answer: None,
                    note: None,
                    by: "test".into(),
                    at: Timestamp::from_millis(9),
                };
                cast.event(ApprovalAnswered { approval_id, answer })
            }
            5 => cast.event(ApprovalWithdrawn { approval_id, reason: "cancelled".into() }),
            _ => cast.event(DiagnosticRecorded {
                session_id: cast.session,
                run_id,
                diagnostic: Diagnostic {
                    id: DiagnosticId::from_uuid(self.ids.next()),
                    tool: "gcc".into(),
                    severity: Severity::Error,
                    message: "expected ';'".into(),
                    file: None,
                    line: Some(3),
                    column: None,
                    code: None,
                    signature: "s".into(),
                    instance: "i".into(),
                    notes: Vec::new(),
                },
            }),
        }
    }

    fn requests(&mut self, cast: Cast, random: u16) -> NewEvent {
        let message = || MessageId::from_uuid(cast.turn.uuid());
        match random % 6 {
            0 => {
                let n = self.number();
                cast.event(cast.assembled(&self.ids, n))
            }
            1 => cast.event(UsageRecorded {
                request_id: RequestId::from_uuid(self.ids.next()),
                session_id: cast.session,
                turn_id: cast.turn,
                task_id: None,
                agent_id: cast.agent,
                role: AgentRole::Main,
                model: "local/qwen".into(),
                usage: TokenUsage { input_tokens: Some(u64::from(random)), ..TokenUsage::default() },
                cost_usd: pick(&[None, Some(0.1), Some(f64::NAN), Some(1e-9)], random / 6),
            }),
            2 => cast.event(SummaryCreated {
                summary_id: SummaryId::from_uuid(self.ids.next()),
                session_id: cast.session,
                task_id: Some(cast.task),
                from_message: message(),
                to_message: message(),
                artifact: artifact(&self.ids, random),
            }),
            3 => cast.event(ContextCompactionRequested {
                session_id: cast.session,
                task_id: None,
                tokens: 9,
                limit: 5,
            }),
            4 => cast.event(ContextCompactionCompleted {
                session_id: cast.session,
                summary_id: None,
                tokens_before: 9,
                tokens_after: 5,
            }),
            _ => cast.event(ArchitectureImpactCompleted {
                session_id: cast.session,
                task_id: None,
                summary: "none".into(),
            }),
        }
    }

    fn project(&mut self, cast: Cast, random: u16) -> NewEvent {
        let (workspace_id, into) = (cast.workspace, cast.workspace);
        let body: EventBody = match random % 7 {
            0 => RuntimeStarted {
                instance_id: InstanceId::from_uuid(self.ids.next()),
                version: "0.1.0".into(),
            }
            .into(),
            1 => WorkspaceCheckpointed {
                workspace_id,
                turn_id: cast.turn,
                task_id: random.is_multiple_of(2).then_some(cast.task),
                purpose: "turn_start".into(),
                checkpoint: Checkpoint { git_ref: String::new(), tree: "t".into() },
            }
            .into(),
            2 => WorkspaceMergeStarted { workspace_id, into }.into(),
            3 => WorkspaceMergeCompleted { workspace_id, into, tree: "t".into() }.into(),
            4 => WorkspaceMergeConflicted { workspace_id, into, paths: Vec::new() }.into(),
            5 => ArtifactCreated { artifact: artifact(&self.ids, random), session_id: None, run_id: None }
                .into(),
            _ => EventBody::Unknown {
                kind: "moon.rose".into(),
                version: 1 + u32::from(random % 3),
                payload: serde_json::json!({ "over": ["the hill", random] }),
            },
        };
        NewEvent::of_project(EventSource::daemon(), body)
    }
}
