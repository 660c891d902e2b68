//! The gate: every call passes here, and only here is a [`Permit`] made.

mod digest;
mod grants;
mod judge;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use air_contracts::approval::{ApprovalDecision, ApprovalSubject};
use air_contracts::error::codes;
use air_contracts::event::NewEvent;
use air_contracts::permission::{Decision, PermissionDecision, SandboxPolicy};
use air_contracts::port::CallPlan;
use air_contracts::tool::CallContext;
use air_contracts::{AirError, Result};
use air_security::{Boundaries, PathOp, classify_path};
use serde_json::Value;

pub(crate) use grants::{Grant, Grants};
use judge::Judgement;

use crate::desk::Question;
use crate::kit::Kit;
use crate::tool::{Builtin, Call, Failure, Step};

/// What a call may do. There is no way to get one but through [`admit`].
#[derive(Debug)]
pub(crate) struct Permit {
    decision: PermissionDecision,
    /// Resolved paths of the effects that name one, in their order.
    paths: Vec<PathBuf>,
    sandbox: SandboxPolicy,
    may_write: bool,
}

impl Permit {
    /// The decision, for the record.
    pub fn decision(&self) -> &PermissionDecision {
        &self.decision
    }

    /// The resolved path of the `index`th effect on a path.
    pub fn path(&self, index: usize) -> Result<&Path> {
        self.paths
            .get(index)
            .map(PathBuf::as_path)
            .ok_or_else(|| AirError::internal("a permit without its path"))
    }

    /// What the kernel holds a command of this call to.
    pub fn sandbox(&self) -> &SandboxPolicy {
        &self.sandbox
    }

    /// Whether a command of this call may have written something.
    pub fn may_write(&self) -> bool {
        self.may_write
    }

    /// Judges files that a search comes upon.
    pub fn read_filter(&self, call: &Call<'_>) -> ReadFilter {
        ReadFilter { kit: call.kit.clone(), boundaries: call.kit.boundaries(call.context) }
    }
}

/// Leaves out what a read of its own would have to ask for: secrets in a search.
pub(crate) struct ReadFilter {
    kit: Arc<Kit>,
    boundaries: Boundaries,
}

impl ReadFilter {
    /// Whether a file may be read without a question.
    pub fn allows(&self, path: &Path) -> bool {
        classify_path(path, PathOp::Read, &self.boundaries, &self.kit.facts).decision <= Decision::Announce
    }
}

/// Lets a call through, asks, or refuses. What comes back is the plan that was judged: it is made again
/// after each answer, and an answer holds only while its digest is the one that was shown.
pub(crate) async fn admit(
    tool: &dyn Builtin,
    call: &Call<'_>,
    input: &Value,
    before: &mut Vec<NewEvent>,
) -> Step<(Permit, CallPlan)> {
    let mut answered: Option<(String, String)> = None;
    loop {
        let plan = tool.plan(call.kit, call.context, input.clone()).await?;
        let judgement = judge::judge(call.kit, call.context, tool.definition(), &plan).await?;
        if let Some(error) = judgement.invalid {
            return Err(error.into());
        }
        match judgement.decision.decision {
            Decision::Allow | Decision::Announce => return Ok((permit(judgement, None), plan)),
            Decision::Deny => return Err(denied(&plan, &judgement.decision, call.context).into()),
            Decision::Ask => {}
        }
        if let Some((digest, by)) = answered.take()
            && digest == judgement.digest
        {
            return Ok((permit(judgement, Some(by)), plan));
        }
        let by = ask(tool, call, &plan, &judgement, before).await?;
        answered = Some((judgement.digest, by));
    }
}

/// A permit for a run that had passed the gate before a crash: what is denied now stays denied, nothing is
/// asked a second time.
pub(crate) async fn readmit(tool: &dyn Builtin, call: &Call<'_>, input: &Value) -> Step<(Permit, CallPlan)> {
    let plan = tool.plan(call.kit, call.context, input.clone()).await?;
    let judgement = judge::judge(call.kit, call.context, tool.definition(), &plan).await?;
    if judgement.decision.decision == Decision::Deny {
        return Err(denied(&plan, &judgement.decision, call.context).into());
    }
    Ok((permit(judgement, None), plan))
}

/// Judges a command that a tool runs under the permit of its call; what would have to be asked is refused.
pub(crate) async fn admit_command(
    outer: &Permit,
    call: &Call<'_>,
    command: &str,
    cwd: &Path,
) -> Result<Permit> {
    let verdict = judge::judge_command(call.kit, call.context, command, cwd).await?;
    if verdict.decision.decision > Decision::Announce && verdict.decision.decision > outer.decision.decision {
        let text = format!("the tool's command `{command}`: {} Nothing was run.", verdict.decision.reason);
        return Err(AirError::new(codes::TOOL_DENIED, text));
    }
    Ok(permit(verdict, None))
}

fn permit(judgement: Judgement, answered_by: Option<String>) -> Permit {
    let Judgement { mut decision, paths, mut sandbox, may_write, wants_network, opens, .. } = judgement;
    if let Some(by) = answered_by {
        decision.granted_by = Some(by);
    }
    // The network is for what was judged as such and let through.
    sandbox.network = wants_network;
    sandbox.writable.extend(opens);
    Permit { decision, paths, sandbox, may_write }
}

/// Asks the user and returns who said yes: `a7`.
async fn ask(
    tool: &dyn Builtin,
    call: &Call<'_>,
    plan: &CallPlan,
    judgement: &Judgement,
    before: &mut Vec<NewEvent>,
) -> Step<String> {
    let subject = ApprovalSubject::ToolCall {
        tool: tool.definition().name.clone(),
        input: call.kit.redact_value(&plan.input),
        effects: judgement.decision.effects.clone(),
        reason: judgement.decision.reason.clone(),
        scopes: judgement.decision.scopes.clone(),
    };
    let question = Question { subject, digest: judgement.digest.clone() };
    let (approval, answer) = call.kit.desk.ask(call, question, before).await?;
    if answer.decision == Some(ApprovalDecision::Allow) {
        return Ok(format!("a{}", approval.n));
    }
    let note =
        answer.note.as_deref().filter(|note| !note.is_empty()).map(|note| format!(" The user says: {note}"));
    let text = format!("the user said no to {}.{} Nothing was done.", plan.title, note.unwrap_or_default());
    Err(AirError::new(codes::TOOL_DENIED_BY_USER, text).into())
}

fn denied(plan: &CallPlan, decision: &PermissionDecision, context: &CallContext) -> AirError {
    use air_contracts::permission::ApproveMode;
    let reason = decision.reason.trim_end_matches('.');
    let nothing = if plan.command.is_some() { "Nothing was run." } else { "Nothing was done." };
    let text = format!("{}: {reason}. {nothing}", plan.title.lines().next().unwrap_or_default());
    let hint = match context.approve {
        ApproveMode::Safe => {
            "This session asks nobody (`--approve safe`): what would need a yes is refused. Reads, and writes inside the project, go through."
        }
        _ => "No approval can allow it. If the task needs it, finish as blocked and say so.",
    };
    AirError::new(codes::TOOL_DENIED, text).hint(hint)
}

/// The failure of a call that was cancelled while it waited or ran.
pub(crate) fn cancelled(reason: &str, what_not: &str) -> Box<Failure> {
    Failure::of(AirError::new(codes::TOOL_CANCELLED, format!("cancelled: {reason}. {what_not}")))
}
