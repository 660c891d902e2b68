//! `task.finish`: a worker's claim, refused while the log contradicts it.

use std::sync::Weak;

use air_contracts::error::codes;
use air_contracts::ids::{RefKind, ShortRef};
use air_contracts::port::{BoxFuture, CallPlan, Tool, ToolHost, ToolOutcome};
use air_contracts::task::{AgentRole, TaskType};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition, ToolStatus};
use air_contracts::worker_result::{CriterionClaim, FinishClaim, WorkerStatus};
use air_contracts::{AirError, Result};
use air_store::EvidenceFilter;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{define, parse, plan, upgrade};
use crate::attempt::{Live, only_reads};
use crate::checks::checks_of;
use crate::scheduler::Scheduler;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Done,
    NoChange,
    Blocked,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    status: Status,
    summary: String,
    #[serde(default)]
    criteria: Vec<CriterionClaim>,
    #[serde(default)]
    risks: Vec<String>,
    #[serde(default)]
    blocker: Option<String>,
    #[serde(default)]
    follow_ups: Vec<String>,
    /// What the role adds: `{verdict, findings}` of a reviewer, `{cause}` of a debugger.
    #[serde(default)]
    result: Option<Value>,
}

impl Input {
    const fn worker_status(&self) -> WorkerStatus {
        match self.status {
            Status::Done => WorkerStatus::Done,
            Status::NoChange => WorkerStatus::NoChange,
            Status::Blocked => WorkerStatus::Blocked,
        }
    }
}

pub(super) struct TaskFinish {
    definition: ToolDefinition,
    scheduler: Weak<Scheduler>,
}

impl TaskFinish {
    pub(super) fn new(scheduler: Weak<Scheduler>) -> Self {
        let texts = json!({ "type": "array", "items": { "type": "string" } });
        let claim = json!({
            "type": "object",
            "properties": {
                "n": { "type": "integer" },
                "evidence": { "type": "array", "items": { "type": "string" }, "description": "r41, e3" }
            },
            "required": ["n"],
            "additionalProperties": false
        });
        let properties = json!({
            "status": { "type": "string", "enum": ["done", "no_change", "blocked"] },
            "summary": { "type": "string", "description": "for the user: the result first" },
            "criteria": { "type": "array", "items": claim },
            "risks": texts,
            "blocker": { "type": "string", "description": "what a person must decide or do" },
            "follow_ups": texts,
            "result": { "type": "object", "description": "reviewer: {verdict: accept|changes|cannot_tell, findings}; debugger: {cause}" }
        });
        let description = "Ends the task, alone in its turn. done and no_change are claims: the runtime runs the checks \
                           again. blocked ends work that needs a person.";
        let required = &["status", "summary"];
        let definition =
            define("task.finish", ToolCategory::Task, EffectClass::Pure, description, properties, required);
        Self { definition, scheduler }
    }

    /// Refuses a claim that the log contradicts.
    async fn judge(&self, context: &CallContext, input: &Input) -> Result<()> {
        let scheduler = upgrade(&self.scheduler)?;
        let Some(live) = scheduler.live(context.agent_id) else {
            return Err(refused("this caller has no task to finish.".to_owned()));
        };
        alone(&live)?;
        if input.summary.trim().is_empty() {
            return Err(refused("summary is empty. Say what came out, in one or two sentences.".to_owned()));
        }
        if live.seat.role == AgentRole::Reviewer && live.seat.task.spec.kind != TaskType::Review {
            return verdict(input);
        }
        match input.status {
            Status::Blocked if input.blocker.as_deref().is_none_or(|text| text.trim().is_empty()) => {
                Err(refused("status blocked needs blocker: what a person must decide or do.".to_owned()))
            }
            Status::Blocked => Ok(()),
            Status::Done | Status::NoChange => {
                let judge = Judge { scheduler: &scheduler, live: &live };
                judge.named_evidence(input).await?;
                judge.last_runs().await?;
                judge.did_something(input).await
            }
        }
    }
}

fn refused(text: String) -> AirError {
    AirError::new(codes::TOOL_NOT_ACCEPTED, text)
}

/// Beside a write or a run its outcome could not be known.
fn alone(live: &Live) -> Result<()> {
    let progress = live.progress();
    let others: Vec<&str> = progress
        .batch
        .iter()
        .map(String::as_str)
        .filter(|name| *name != "task.finish" && !only_reads(name))
        .collect();
    let twice = progress.batch.iter().filter(|name| *name == "task.finish").count() > 1;
    if others.is_empty() && !twice {
        return Ok(());
    }
    let beside = if others.is_empty() { "another `task.finish`".to_owned() } else { others.join(", ") };
    Err(refused(format!(
        "it stands beside {beside} in one turn, whose outcome it cannot know. Call it alone, afterwards."
    )))
}

fn verdict(input: &Input) -> Result<()> {
    let result = input.result.clone().unwrap_or_default();
    let findings = result.get("findings").and_then(Value::as_array).map_or(0, Vec::len);
    match result.get("verdict").and_then(Value::as_str) {
        Some("accept" | "cannot_tell") => Ok(()),
        Some("changes") if findings > 0 => Ok(()),
        Some("changes") => {
            Err(refused("verdict changes needs findings: what must change, with path and line.".to_owned()))
        }
        _ => Err(refused(
            "a review needs result {verdict: accept | changes | cannot_tell, findings}.".to_owned(),
        )),
    }
}

struct Judge<'a> {
    scheduler: &'a Scheduler,
    live: &'a Live,
}

impl Judge<'_> {
    /// Evidence that the worker names must exist, have passed, and be no older than the last write.
    async fn named_evidence(&self, input: &Input) -> Result<()> {
        let criteria = &self.live.seat.task.spec.acceptance_criteria;
        for claim in &input.criteria {
            let index = usize::try_from(claim.n).unwrap_or(usize::MAX).wrapping_sub(1);
            let Some(criterion) = criteria.get(index) else {
                return Err(refused(format!(
                    "there is no criterion {}: the task has {}.",
                    claim.n,
                    criteria.len()
                )));
            };
            for named in &claim.evidence {
                if let Some(problem) = self.problem(named.trim()).await? {
                    let text = format!(
                        "criterion {} \"{}\": {problem}. Run `check.run`, or finish with status blocked and say why.",
                        claim.n, criterion.text
                    );
                    return Err(refused(text));
                }
            }
        }
        Ok(())
    }

    /// What is wrong with a piece of named evidence.
    async fn problem(&self, named: &str) -> Result<Option<String>> {
        let seat = &self.live.seat;
        let store = &self.scheduler.deps.store;
        match named.parse::<ShortRef>().map(|short| short.kind) {
            Ok(RefKind::Evidence) => {
                let filter = EvidenceFilter { task: Some(seat.task.id), ..EvidenceFilter::default() };
                let known = store.evidence(filter).await?;
                let Some(found) = known.iter().find(|one| format!("e{}", one.evidence.n) == named) else {
                    return Ok(Some(format!("{named} is no evidence of this task")));
                };
                let writes = store.turn(seat.task.turn_id).await?.write_seq;
                let old = found.evidence.write_seq < writes;
                Ok(old.then(|| format!("{named} is older than the last write (write {writes})")))
            }
            Ok(RefKind::ToolRun) => {
                let Ok(id) = store.resolve_run(named).await else {
                    return Ok(Some(format!("{named} does not exist")));
                };
                let run = store.tool_run(id).await?;
                if run.turn_id != seat.task.turn_id {
                    return Ok(Some(format!("{named} belongs to an earlier message")));
                }
                if run.status != Some(ToolStatus::Ok) || run.exit_code.is_some_and(|code| code != 0) {
                    let how = run.exit_code.map_or_else(
                        || "did not succeed".to_owned(),
                        |code| format!("ended with exit {code}"),
                    );
                    return Ok(Some(format!("{named} {how}")));
                }
                let last_write = self.live.progress().last_write;
                Ok(last_write
                    .filter(|write| run.n < *write)
                    .map(|write| format!("{named} is older than the last write (r{write})")))
            }
            _ => Ok(Some(format!("{named} is neither a run (r41) nor evidence (e3)"))),
        }
    }

    /// A check that failed after the last write has the last word.
    async fn last_runs(&self) -> Result<()> {
        let deps = &self.scheduler.deps;
        let list = checks_of(&self.live.seat.task.spec, deps.executor.project_checks(&deps.workspace).await?);
        let progress = self.live.progress();
        for spec in &list.specs {
            let failed = progress.fresh(&spec.check.command).filter(|seen| !seen.passed);
            if let Some(seen) = failed {
                let what =
                    if seen.new.is_empty() { String::new() } else { format!(": {}", seen.new.join(", ")) };
                return Err(refused(format!(
                    "{} failed in r{}, after the last write{what}. Repair it and run `check.run` again, or finish with \
                     status blocked and say why.",
                    spec.check.name, seen.run_ref
                )));
            }
        }
        Ok(())
    }

    /// "Done" says that something was done.
    async fn did_something(&self, input: &Input) -> Result<()> {
        let seat = &self.live.seat;
        if input.status != Status::Done
            || seat.task.spec.kind != TaskType::Implement
            || self.live.progress().last_write.is_some()
        {
            return Ok(());
        }
        let deps = &self.scheduler.deps;
        let start = deps.store.last_checkpoint(seat.task.turn_id, Some(seat.task.id), "task_start").await?;
        let now = deps.executor.checkpoint(&seat.workspace, None).await?;
        if start.is_some_and(|start| start.checkpoint.tree != now.tree) {
            return Ok(());
        }
        Err(refused(
            "nothing was changed. If nothing needs to change, the status is no_change, with the reason; if it cannot be \
             done, it is blocked."
                .to_owned(),
        ))
    }
}

impl Tool for TaskFinish {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn plan<'a>(&'a self, context: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let parsed: Input = parse("task.finish", &input)?;
            self.judge(context, &parsed).await?;
            let title = parsed.summary.lines().next().unwrap_or_default().to_owned();
            Ok(plan(input, title))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a dyn ToolHost,
        _: &'a CallContext,
        plan: CallPlan,
    ) -> BoxFuture<'a, Result<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("task.finish", &plan.input)?;
            let status = input.worker_status();
            let content = match status {
                WorkerStatus::Blocked => "[taken over: the task waits for a person]",
                _ => "[taken over: the runtime now runs the checks itself]",
            };
            let claim = FinishClaim {
                summary: input.summary,
                criteria: input.criteria,
                risks: input.risks,
                blocker: input.blocker,
                follow_ups: input.follow_ups,
            };
            let data = json!({ "status": status, "claim": claim, "result": input.result });
            Ok(ToolOutcome {
                summary: plan.title,
                content: content.to_owned(),
                data,
                ..ToolOutcome::default()
            })
        })
    }
}
