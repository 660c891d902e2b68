//! Questions to the user: asked, waited for, answered once, withdrawn.
//!
//! A question is a row of the log. What waits for it is nothing but the future of its call, so it can wait
//! for days, and over a restart: the call is made again then and finds its question by its id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use air_contracts::approval::{Approval, ApprovalAnswer, ApprovalState, ApprovalSubject};
use air_contracts::error::codes;
use air_contracts::event::{
    ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn, EventSource, NewEvent, SourceKind,
};
use air_contracts::ids::{ApprovalId, RefKind};
use air_contracts::permission::GrantScope;
use air_contracts::port::CancelScope;
use air_contracts::{AirError, Result, Timestamp};
use air_rt::OnCancel;
use air_store::ApprovalRow;
use tokio::sync::watch;

use crate::deps::ToolDeps;
use crate::gate::{Grants, cancelled};
use crate::tool::{Call, Step};

/// What is asked, and what the answer is bound to.
pub(crate) struct Question {
    pub subject: ApprovalSubject,
    pub digest: String,
}

#[derive(Debug, Clone)]
enum Resolution {
    Answered(ApprovalAnswer),
    Withdrawn(String),
}

type Waiters = HashMap<ApprovalId, watch::Sender<Option<Resolution>>>;

/// The desk of one project. Clones are the same desk.
#[derive(Clone)]
pub(crate) struct ApprovalDesk {
    deps: ToolDeps,
    waiters: Arc<Mutex<Waiters>>,
    /// Held while an answer is decided, so that the first one wins.
    deciding: Arc<tokio::sync::Mutex<()>>,
}

impl ApprovalDesk {
    /// A desk without questions.
    pub fn new(deps: ToolDeps) -> Self {
        Self { deps, waiters: Arc::default(), deciding: Arc::default() }
    }

    fn waiters(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, approval: &Approval, body: impl Into<air_contracts::event::EventBody>) -> NewEvent {
        let source = EventSource::new(SourceKind::Tool, "approval");
        NewEvent::new(approval.session_id, source, body).task(approval.task_id).agent(approval.agent_id)
    }

    /// Asks, or goes on with the question that an earlier life of this call has asked, and waits.
    pub async fn ask(
        &self,
        call: &Call<'_>,
        question: Question,
        before: &mut Vec<NewEvent>,
    ) -> Step<(Approval, ApprovalAnswer)> {
        let context = call.context;
        let known = self.deps.store.approval_by_call(context.turn_id, context.task_id, call.call_id).await?;
        let approval = match known {
            Some(row) if row.approval.digest == question.digest && row.state == ApprovalState::Answered => {
                let answer = row
                    .answer
                    .ok_or_else(|| AirError::internal("an answered question without its answer"))?;
                return Ok((row.approval, answer));
            }
            Some(row) if row.approval.digest == question.digest && row.state == ApprovalState::Open => {
                row.approval
            }
            Some(row) if row.state == ApprovalState::Open => {
                self.withdraw(&row, "what was asked has changed since: it is asked anew").await?;
                self.request(call, question, before).await?
            }
            _ => self.request(call, question, before).await?,
        };
        self.wait(call, approval).await
    }

    async fn request(
        &self,
        call: &Call<'_>,
        question: Question,
        before: &mut Vec<NewEvent>,
    ) -> Result<Approval> {
        let context = call.context;
        let approval = Approval {
            id: ApprovalId::from_uuid(self.deps.ids.next()),
            n: self.deps.store.next_ref(RefKind::Approval),
            session_id: context.session_id,
            turn_id: context.turn_id,
            task_id: context.task_id,
            agent_id: context.agent_id,
            run_id: call.run_id,
            call_id: call.call_id.to_owned(),
            digest: question.digest,
            subject: question.subject,
            asked_at: Timestamp::from_millis(self.deps.clock.millis()),
        };
        let mut events = std::mem::take(before);
        events.push(self.event(&approval, ApprovalRequested { approval: approval.clone() }));
        self.deps.store.ingest(events).await?;
        Ok(approval)
    }

    async fn wait(&self, call: &Call<'_>, approval: Approval) -> Step<(Approval, ApprovalAnswer)> {
        let mut receiver = {
            let mut waiters = self.waiters();
            waiters.entry(approval.id).or_insert_with(|| watch::Sender::new(None)).subscribe()
        };
        let mut guard = WaitGuard { desk: self.clone(), id: approval.id, settled: false };
        // The answer may have come before anybody waited.
        let row = self.deps.store.approval(approval.id).await?;
        let resolution = match (row.state, row.answer) {
            (ApprovalState::Answered, Some(answer)) => Resolution::Answered(answer),
            (ApprovalState::Withdrawn, _) => Resolution::Withdrawn("the question was withdrawn".to_owned()),
            _ => tokio::select! {
                resolution = resolved(&mut receiver) => resolution,
                reason = call.cancel.requested() => {
                    guard.settled = true;
                    self.withdraw_id(approval.id, &reason).await?;
                    Resolution::Withdrawn(reason)
                }
            },
        };
        guard.settled = true;
        match resolution {
            Resolution::Answered(answer) => Ok((approval, answer)),
            Resolution::Withdrawn(reason) => Err(cancelled(&reason, "Nothing was done.")),
        }
    }

    /// Takes an answer. The first one wins.
    pub async fn answer(&self, grants: &Grants, id: ApprovalId, answer: ApprovalAnswer) -> Result<()> {
        let _deciding = self.deciding.lock().await;
        let row = self.deps.store.approval(id).await?;
        refuse_settled(&row)?;
        let answer = checked(&row.approval, answer)?;
        let body = ApprovalAnswered { approval_id: id, answer: answer.clone() };
        self.deps.store.ingest(vec![self.event(&row.approval, body)]).await?;
        if answer.scope == Some(GrantScope::Project)
            && answer.decision == Some(air_contracts::approval::ApprovalDecision::Allow)
        {
            keep_grant(grants, &row.approval, &answer)?;
        }
        self.resolve(id, Resolution::Answered(answer));
        Ok(())
    }

    fn resolve(&self, id: ApprovalId, resolution: Resolution) {
        if let Some(waiter) = self.waiters().remove(&id) {
            waiter.send_replace(Some(resolution));
        }
    }

    async fn withdraw(&self, row: &ApprovalRow, reason: &str) -> Result<()> {
        let body = ApprovalWithdrawn { approval_id: row.approval.id, reason: reason.to_owned() };
        self.deps.store.ingest(vec![self.event(&row.approval, body)]).await?;
        self.resolve(row.approval.id, Resolution::Withdrawn(reason.to_owned()));
        Ok(())
    }

    async fn withdraw_id(&self, id: ApprovalId, reason: &str) -> Result<()> {
        let _deciding = self.deciding.lock().await;
        let row = self.deps.store.approval(id).await?;
        if row.state == ApprovalState::Open { self.withdraw(&row, reason).await } else { Ok(()) }
    }

    /// Withdraws the open questions of a scope.
    pub async fn withdraw_scope(&self, scope: CancelScope, reason: &str) -> Result<()> {
        let _deciding = self.deciding.lock().await;
        for row in self.deps.store.open_approvals(None).await? {
            if in_scope(scope, &row.approval) {
                self.withdraw(&row, reason).await?;
            }
        }
        Ok(())
    }
}

/// Withdraws the question of a call that is no longer waited for; at the end of the daemon it stays open.
struct WaitGuard {
    desk: ApprovalDesk,
    id: ApprovalId,
    settled: bool,
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        if self.settled || self.desk.deps.tasks.token().is_cancelled() {
            return;
        }
        let (desk, id) = (self.desk.clone(), self.id);
        let withdraw = async move {
            if let Err(error) = desk.withdraw_id(id, "the call that asked is gone").await {
                tracing::warn!(%error, %id, "a question could not be withdrawn");
            }
        };
        drop(self.desk.deps.tasks.spawn("withdraw approval", OnCancel::Finish, withdraw));
    }
}

async fn resolved(receiver: &mut watch::Receiver<Option<Resolution>>) -> Resolution {
    loop {
        if let Some(resolution) = receiver.borrow_and_update().clone() {
            return resolution;
        }
        if receiver.changed().await.is_err() {
            // The sender goes only after it has sent.
            return receiver
                .borrow()
                .clone()
                .unwrap_or(Resolution::Withdrawn("nobody waits for it".to_owned()));
        }
    }
}

fn refuse_settled(row: &ApprovalRow) -> Result<()> {
    let n = row.approval.n;
    match row.state {
        ApprovalState::Open => Ok(()),
        ApprovalState::Answered => {
            let by = row.answer.as_ref().map(|answer| format!(" by {}", answer.by)).unwrap_or_default();
            Err(AirError::new(
                codes::APPROVAL_ANSWERED,
                format!("a{n} is answered already{by}; the first answer holds"),
            ))
        }
        ApprovalState::Withdrawn => {
            let text =
                format!("a{n} was withdrawn: nobody waits for an answer, and this one changed nothing");
            Err(AirError::new(codes::APPROVAL_WITHDRAWN, text).hint("air approvals"))
        }
    }
}

/// An answer that fits its question, or what is wrong with it.
fn checked(approval: &Approval, mut answer: ApprovalAnswer) -> Result<ApprovalAnswer> {
    let n = approval.n;
    let wrong = |text: String| AirError::new(codes::USAGE_VALUE, text);
    match &approval.subject {
        ApprovalSubject::ToolCall { scopes, .. } => {
            if answer.decision.is_none() {
                return Err(wrong(format!("a{n} asks for a yes or a no"))
                    .hint(format!("air approve a{n}, or air deny a{n}")));
            }
            let scope = answer.scope.unwrap_or(GrantScope::Once);
            if scope != GrantScope::Once && !scopes.iter().any(|offer| offer.scope == scope) {
                let text =
                    format!("a{n} can be answered for this call only: what it does cannot be told ahead");
                return Err(wrong(text).hint(format!("air approve a{n}")));
            }
            answer.scope = Some(scope);
        }
        ApprovalSubject::Question { options, free_text, .. } => {
            let text = answer.answer.as_deref().map(str::trim).unwrap_or_default();
            if text.is_empty() {
                return Err(wrong(format!("a{n} is a question: it takes a text"))
                    .hint(format!("air answer a{n} TEXT")));
            }
            let by_number = text.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
            let by_text = options.iter().find(|option| option.eq_ignore_ascii_case(text));
            match by_text.or(by_number) {
                Some(option) => answer.answer = Some(option.clone()),
                None if *free_text || options.is_empty() => answer.answer = Some(text.to_owned()),
                None => return Err(wrong(format!("a{n} takes one of: {}", options.join(", ")))),
            }
        }
    }
    Ok(answer)
}

fn keep_grant(grants: &Grants, approval: &Approval, answer: &ApprovalAnswer) -> Result<()> {
    let ApprovalSubject::ToolCall { scopes, .. } = &approval.subject else { return Ok(()) };
    let Some(offer) = scopes.iter().find(|offer| offer.scope == GrantScope::Project) else { return Ok(()) };
    grants.add(crate::gate::Grant {
        key: offer.key.clone(),
        covers: offer.covers.clone(),
        approval: approval.id,
        by: answer.by.clone(),
        at: answer.at,
    })
}

fn in_scope(scope: CancelScope, approval: &Approval) -> bool {
    match scope {
        CancelScope::Run(id) => id == approval.run_id,
        CancelScope::Agent(id) => id == approval.agent_id,
        CancelScope::Task(id) => Some(id) == approval.task_id,
        CancelScope::Turn(id) => id == approval.turn_id,
        CancelScope::Session(id) => id == approval.session_id,
    }
}
