//! `approval/*`.

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{ApprovalAnswerParams, ApprovalListParams, Page};
use air_contracts::approval::{ApprovalAnswer, ApprovalDecision, ApprovalSubject};
use air_contracts::projection::ApprovalView;

use super::{optional_session, wrong};
use crate::daemon::Daemon;

pub async fn list(daemon: &Daemon, _: &Caller, params: ApprovalListParams) -> Result<Page<ApprovalView>> {
    let project = daemon.project(params.project_id).await?;
    let session = optional_session(&project.store, params.session.as_deref()).await?;
    project.store.approval_views(session, params.all).await.map(Page::whole)
}

pub async fn answer(daemon: &Daemon, caller: &Caller, params: ApprovalAnswerParams) -> Result<ApprovalView> {
    let project = daemon.project(params.project_id).await?;
    let id = project.store.resolve_approval(&params.approval).await?;
    let row = project.store.approval(id).await?;
    check(&row.approval.subject, &params)?;
    let answer = ApprovalAnswer {
        decision: params.decision,
        scope: params.scope,
        answer: params.answer,
        note: params.note,
        by: caller.name(),
        at: daemon.now(),
    };
    project.tools.answer_approval(id, answer).await?;
    project.store.approval_view(id).await
}

/// Whether the answer fits what was asked.
fn check(subject: &ApprovalSubject, params: &ApprovalAnswerParams) -> Result<()> {
    let name = &params.approval;
    match subject {
        ApprovalSubject::ToolCall { scopes, .. } => {
            let Some(decision) = params.decision else {
                return Err(wrong(format!("decision: {name} asks about a call: allow or deny"))
                    .hint(format!("air approve {name} · air deny {name}")));
            };
            let offered = params.scope.is_none_or(|scope| scopes.iter().any(|offer| offer.scope == scope));
            if decision == ApprovalDecision::Allow && !offered {
                let error = wrong(format!("scope: {name} does not offer it"));
                return Err(scopes.iter().fold(error, |error, offer| error.hint(offer.covers.clone())));
            }
            Ok(())
        }
        ApprovalSubject::Question { options, free_text, .. } => match &params.answer {
            // A question that is denied stays without an answer.
            None if params.decision == Some(ApprovalDecision::Deny) => Ok(()),
            None => {
                Err(wrong(format!("answer: {name} is a question")).hint(format!("air answer {name} \"…\"")))
            }
            Some(text) if *free_text || options.is_empty() || options.contains(text) => Ok(()),
            Some(text) => Err(wrong(format!("answer: {text} is none of its options"))
                .hint(format!("one of: {}", options.join(" · ")))),
        },
    }
}
