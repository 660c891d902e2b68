//! One line of the log for people, with short references in place of ids.

use std::collections::HashMap;

use air_client_tui::text::amounts;
use air_client_tui::text::escape::visible_line;
use air_client_tui::text::layout::{cut, pad};
use air_client_tui::text::style::{Pen, Role};
use air_client_tui::text::words;
use air_contracts::approval::ApprovalSubject;
use air_contracts::event::{EventBody, RuntimeEvent};
use air_contracts::ids::{RefKind, ShortRef};
use jiff::tz::TimeZone;

/// The types that give an object its short reference.
pub(super) const NAMING: [&str; 8] = [
    "session.created",
    "turn.submitted",
    "task.created",
    "agent.started",
    "tool.started",
    "approval.requested",
    "evidence.recorded",
    "context.assembled",
];

/// Short references by id, as the log gave them.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    by_id: HashMap<String, ShortRef>,
    tools: HashMap<String, String>,
    zone: TimeZone,
}

impl Default for Names {
    fn default() -> Self {
        Self { by_id: HashMap::new(), tools: HashMap::new(), zone: TimeZone::system() }
    }
}

impl Names {
    /// Remembers the references that an event gives.
    pub(crate) fn learn(&mut self, event: &RuntimeEvent) {
        let named = match event.body() {
            Ok(EventBody::SessionCreated(body)) => (body.session_id.to_string(), RefKind::Session, body.n),
            Ok(EventBody::TurnSubmitted(body)) => (body.turn_id.to_string(), RefKind::Turn, body.n),
            Ok(EventBody::TaskCreated(body)) => (body.task.id.to_string(), RefKind::Task, body.n),
            Ok(EventBody::AgentStarted(body)) => (body.agent_id.to_string(), RefKind::Agent, body.n),
            Ok(EventBody::ToolStarted(body)) => {
                self.tools.insert(body.run_id.to_string(), format!("{} {}", body.tool, body.title));
                (body.run_id.to_string(), RefKind::ToolRun, body.n)
            }
            Ok(EventBody::ToolFailed(body)) => match body.refused {
                Some(refused) => {
                    self.tools.insert(body.run_id.to_string(), format!("{} {}", refused.tool, refused.title));
                    (body.run_id.to_string(), RefKind::ToolRun, refused.n)
                }
                None => return,
            },
            Ok(EventBody::ApprovalRequested(body)) => {
                (body.approval.id.to_string(), RefKind::Approval, body.approval.n)
            }
            Ok(EventBody::EvidenceRecorded(body)) => {
                (body.evidence.id.to_string(), RefKind::Evidence, body.evidence.n)
            }
            Ok(EventBody::ContextAssembled(body)) => (body.request_id.to_string(), RefKind::Request, body.n),
            _ => return,
        };
        let (id, kind, n) = named;
        self.by_id.insert(id, ShortRef::new(kind, n));
    }

    /// `20:14:02  1841  turn.submitted       t12  "why does …"`; cut to `columns` on a terminal.
    pub(crate) fn line(&self, event: &RuntimeEvent, pen: Pen, columns: Option<usize>) -> String {
        let (short, text) = match event.body() {
            Ok(body) => self.describe(&body),
            Err(error) => (String::new(), format!("unreadable: {}", error.message)),
        };
        let time = match columns {
            Some(_) => amounts::time_of_day(event.timestamp, &self.zone),
            None => amounts::stamp(event.timestamp),
        };
        let head = format!("{time}  {:>4}  {}  {}  ", event.seq, pad(&event.kind, 19), pad(&short, 3));
        let text = visible_line(&text);
        let Some(columns) = columns else { return format!("{head}{text}").trim_end().to_owned() };
        let room = columns.saturating_sub(air_client_tui::text::layout::cells(&head));
        let head = pen.paint(Role::Dim, &format!("{time}  {:>4}", event.seq))
            + &format!("  {}  {}  ", pad(&event.kind, 19), pad(&short, 3));
        format!("{head}{}", cut(&text, room, pen.ellipsis())).trim_end().to_owned()
    }

    fn short(&self, id: &impl ToString) -> String {
        self.by_id.get(&id.to_string()).map(ToString::to_string).unwrap_or_default()
    }

    fn tool(&self, id: &impl ToString) -> &str {
        self.tools.get(&id.to_string()).map_or("", String::as_str)
    }

    /// The object of an event and a text about it.
    fn describe(&self, body: &EventBody) -> (String, String) {
        match body {
            EventBody::TurnSubmitted(_)
            | EventBody::TurnStarted(_)
            | EventBody::TurnEnded(_)
            | EventBody::TurnResumed(_)
            | EventBody::RequirementChanged(_)
            | EventBody::SessionCreated(_)
            | EventBody::SessionConfigured(_)
            | EventBody::SessionClosed(_) => self.of_turn(body),
            EventBody::ToolStarted(_) | EventBody::ToolCompleted(_) | EventBody::ToolFailed(_) => {
                self.of_tool(body)
            }
            EventBody::TaskCreated(_)
            | EventBody::TaskStatusChanged(_)
            | EventBody::EvidenceRecorded(_)
            | EventBody::AgentStarted(_)
            | EventBody::AgentEnded(_)
            | EventBody::AgentLost(_) => self.of_task(body),
            _ => self.of_rest(body),
        }
    }

    fn of_turn(&self, body: &EventBody) -> (String, String) {
        match body {
            EventBody::TurnSubmitted(body) => (self.short(&body.turn_id), format!("\"{}\"", body.text)),
            EventBody::TurnStarted(body) => (self.short(&body.turn_id), String::new()),
            EventBody::TurnEnded(body) => {
                let (_, word) = words::turn_status(body.status);
                (self.short(&body.turn_id), format!("{word}: {}", body.answer))
            }
            EventBody::TurnResumed(body) => {
                let note = body.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
                (self.short(&body.turn_id), format!("{}{note}", body.reason))
            }
            EventBody::RequirementChanged(body) => (self.short(&body.turn_id), format!("\"{}\"", body.text)),
            EventBody::SessionCreated(body) => {
                (self.short(&body.session_id), body.settings.title.clone().unwrap_or_default())
            }
            EventBody::SessionConfigured(body) => {
                (self.short(&body.session_id), body.settings.title.clone().unwrap_or_default())
            }
            EventBody::SessionClosed(body) => (self.short(&body.session_id), String::new()),
            _ => Default::default(),
        }
    }

    fn of_tool(&self, body: &EventBody) -> (String, String) {
        match body {
            EventBody::ToolStarted(body) => {
                (self.short(&body.run_id), format!("{} {}", body.tool, body.title))
            }
            EventBody::ToolCompleted(body) => {
                let exit = body.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
                let how = if body.reconciled.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", body.reconciled)
                };
                let tool = self.tool(&body.run_id);
                let name = tool.split(' ').next().unwrap_or_default();
                (self.short(&body.run_id), format!("{name} {}{exit}{how}", body.summary))
            }
            EventBody::ToolFailed(body) => {
                (self.short(&body.run_id), format!("{}: {}", self.tool(&body.run_id), body.error.message))
            }
            _ => Default::default(),
        }
    }

    fn of_task(&self, body: &EventBody) -> (String, String) {
        match body {
            EventBody::TaskCreated(body) => (self.short(&body.task.id), body.task.title.clone()),
            EventBody::TaskStatusChanged(body) => {
                let (_, word) = words::task_status(body.status);
                let why = if body.reason.is_empty() { String::new() } else { format!(": {}", body.reason) };
                (self.short(&body.task_id), format!("{word}{why}"))
            }
            EventBody::EvidenceRecorded(body) => {
                let evidence = &body.evidence;
                let text = format!("{} {}: {}", self.short(&evidence.task_id), evidence.claim, evidence.note);
                (self.short(&evidence.id), text)
            }
            EventBody::AgentStarted(body) => {
                let attempt = body.attempt.as_ref();
                let task = attempt.map(|one| format!(" {} attempt {}", self.short(&one.task_id), one.n));
                let text = format!("{}{} {}", words::role(body.role), task.unwrap_or_default(), body.model);
                (self.short(&body.agent_id), text)
            }
            EventBody::AgentEnded(body) => {
                (self.short(&body.agent_id), format!("{:?} {}", body.status, body.note).to_lowercase())
            }
            EventBody::AgentLost(body) => (self.short(&body.agent_id), body.reason.clone()),
            _ => Default::default(),
        }
    }

    fn of_rest(&self, body: &EventBody) -> (String, String) {
        match body {
            EventBody::RuntimeStarted(body) => (String::new(), format!("aird {}", body.version)),
            EventBody::MessageAppended(body) => {
                let owner =
                    body.task_id.as_ref().map_or_else(|| self.short(&body.turn_id), |task| self.short(task));
                (owner, format!("{:?}", body.role).to_lowercase())
            }
            EventBody::ApprovalRequested(body) => {
                let text = match &body.approval.subject {
                    ApprovalSubject::ToolCall { tool, reason, .. } => format!("{tool}: {reason}"),
                    ApprovalSubject::Question { text, .. } => text.clone(),
                };
                (self.short(&body.approval.id), text)
            }
            EventBody::ApprovalAnswered(body) => (
                self.short(&body.approval_id),
                format!("{}, by {}", words::answer(&body.answer), body.answer.by),
            ),
            EventBody::ApprovalWithdrawn(body) => (self.short(&body.approval_id), body.reason.clone()),
            EventBody::ContextAssembled(body) => {
                let text = format!(
                    "{} {}, {} tokens",
                    words::role(body.role),
                    body.model,
                    amounts::grouped(body.tokens.into())
                );
                (self.short(&body.request_id), text)
            }
            EventBody::UsageRecorded(body) => {
                let cost = body.cost_usd.map(|usd| format!(" {}", amounts::cost(usd))).unwrap_or_default();
                let prompt = amounts::tokens(body.usage.prompt_tokens());
                let output = amounts::tokens(body.usage.output_tokens.unwrap_or(0));
                (self.short(&body.request_id), format!("{prompt} in, {output} out{cost}"))
            }
            EventBody::ProviderWaiting(body) => (
                self.short(&body.turn_id),
                format!("{} until {}: {}", body.model, amounts::stamp(body.until), body.error.message),
            ),
            EventBody::ArtifactCreated(body) => {
                (String::new(), format!("{} {}", body.artifact.short(), body.artifact.name))
            }
            EventBody::WorkspaceCheckpointed(body) => (self.short(&body.turn_id), body.purpose.clone()),
            EventBody::DiagnosticRecorded(body) => {
                (self.short(&body.run_id), body.diagnostic.message.clone())
            }
            EventBody::Unknown { version, .. } => {
                (String::new(), format!("version {version}, not known here"))
            }
            _ => Default::default(),
        }
    }
}
