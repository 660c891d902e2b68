//! What a typed line does: a message, a slash command, or the answer to a question.

use air_contracts::api::{
    ApprovalAnswerMethod, ApprovalAnswerParams, SessionRefParams, TurnContinue, TurnContinueParams,
    TurnInterrupt, TurnSubmit, TurnSubmitParams,
};
use air_contracts::approval::ApprovalDecision;
use air_contracts::error::codes;
use air_contracts::permission::GrantScope;
use air_contracts::projection::ApprovalView;
use air_contracts::session::TurnOptions;
use air_contracts::{AirError, Result};

use super::Plain;
use crate::rpc::ProjectionClientExt as _;
use crate::text::question::{Choice, choice, whole};

/// Whether the loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Stay,
    Leave,
}

impl Plain {
    pub(super) async fn take_line(&mut self, line: &str) -> Result<Next> {
        let line = line.trim();
        if let Some(approval) = self.view.take_reason() {
            let note = (!line.is_empty()).then(|| line.to_owned());
            self.answer(&approval, Some(ApprovalDecision::Deny), None, None, note).await?;
            return Ok(Next::Stay);
        }
        if line.is_empty() {
            return Ok(Next::Stay);
        }
        if let Some(command) = line.strip_prefix('/') {
            return self.slash(command).await;
        }
        if let Some((approval, choice)) =
            self.view.oldest_question().and_then(|one| choice(&one, line).map(|c| (one, c)))
        {
            self.choose(approval, choice).await?;
            return Ok(Next::Stay);
        }
        self.submit(line).await?;
        Ok(Next::Stay)
    }

    async fn slash(&mut self, command: &str) -> Result<Next> {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let rest = rest.trim();
        match verb {
            "quit" | "q" => return Ok(Next::Leave),
            "stop" => self.stop().await?,
            "continue" => self.go_on(rest).await?,
            "approve" | "deny" | "answer" => self.answer_by_id(verb, rest).await?,
            "approvals" => self.view.repeat_questions(),
            "tasks" => self.view.tasks(),
            "help" | "?" => self.view.help(),
            _ => {
                return Err(AirError::new(codes::USAGE_VALUE, format!("/{verb}: no such command"))
                    .hint("/stop /continue /approve /deny /answer /approvals /tasks /quit"));
            }
        }
        Ok(Next::Stay)
    }

    async fn submit(&mut self, text: &str) -> Result<()> {
        let first = self.session.is_none();
        let params = TurnSubmitParams {
            project_id: self.project.id,
            session: self.session.clone().unwrap_or_else(|| "new".to_owned()),
            client_id: None,
            text: text.to_owned(),
            attachments: Vec::new(),
            options: TurnOptions::default(),
            ephemeral: false,
        };
        let sent = self.client.call::<TurnSubmit>(params).await?;
        self.session = Some(sent.session_id.to_string());
        let queued = if sent.queued { ", after the one before it" } else { "" };
        self.view.line(&format!("{} sent to {}{queued}", sent.turn, sent.session));
        if first { self.follow(Some(sent.seq)).await } else { Ok(()) }
    }

    fn session(&self) -> Result<String> {
        self.session.clone().ok_or_else(|| AirError::new(codes::SESSION_NOT_FOUND, "there is no session yet"))
    }

    async fn stop(&mut self) -> Result<()> {
        let params = SessionRefParams { project_id: self.project.id, session: self.session()? };
        let stopped = self.client.call::<TurnInterrupt>(params).await?;
        let text = if stopped.turn_id.is_some() {
            "stopped; say what to change, or /continue"
        } else {
            "nothing runs"
        };
        self.view.line(text);
        Ok(())
    }

    async fn go_on(&mut self, note: &str) -> Result<()> {
        let note = (!note.is_empty()).then(|| note.to_owned());
        let params = TurnContinueParams {
            project_id: self.project.id,
            session: self.session()?,
            note,
            max_cost_usd: None,
        };
        let resumed = self.client.call::<TurnContinue>(params).await?;
        self.view.line(&format!("{} goes on", resumed.turn));
        Ok(())
    }

    async fn choose(&mut self, approval: ApprovalView, choice: Choice) -> Result<()> {
        match choice {
            Choice::Allow(scope) => {
                self.answer(&approval, Some(ApprovalDecision::Allow), Some(scope), None, None).await
            }
            Choice::Deny => self.answer(&approval, Some(ApprovalDecision::Deny), None, None, None).await,
            Choice::Answer(text) => self.answer(&approval, None, None, Some(text), None).await,
            Choice::DenyWhy => {
                self.view.ask_reason(approval);
                Ok(())
            }
            Choice::View => {
                self.view.line(&whole(&approval));
                Ok(())
            }
        }
    }

    /// `approve a7 session`, `deny a7 why`, `answer a7 text`.
    async fn answer_by_id(&mut self, verb: &str, rest: &str) -> Result<()> {
        let (id, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let rest = rest.trim().to_owned();
        let text = (!rest.is_empty()).then(|| rest.clone());
        let mut params = blank(self, id);
        match verb {
            "approve" => {
                params.decision = Some(ApprovalDecision::Allow);
                params.scope = Some(match rest.as_str() {
                    "" | "once" => GrantScope::Once,
                    "session" => GrantScope::Session,
                    "project" => GrantScope::Project,
                    other => {
                        let message = format!("{other}: not one of once, session, project");
                        return Err(AirError::new(codes::USAGE_VALUE, message));
                    }
                });
            }
            "deny" => (params.decision, params.note) = (Some(ApprovalDecision::Deny), text),
            _ => params.answer = text,
        }
        self.client.call::<ApprovalAnswerMethod>(params).await?;
        Ok(())
    }

    async fn answer(
        &mut self,
        approval: &ApprovalView,
        decision: Option<ApprovalDecision>,
        scope: Option<GrantScope>,
        answer: Option<String>,
        note: Option<String>,
    ) -> Result<()> {
        let params =
            ApprovalAnswerParams { decision, scope, answer, note, ..blank(self, &approval.id.to_string()) };
        self.client.call::<ApprovalAnswerMethod>(params).await?;
        Ok(())
    }
}

fn blank(plain: &Plain, approval: &str) -> ApprovalAnswerParams {
    ApprovalAnswerParams {
        project_id: plain.project.id,
        approval: approval.to_owned(),
        decision: None,
        answer: None,
        scope: None,
        note: None,
    }
}
