//! `check.run`: the runtime's own checks on request, with what is new since the task began.

use std::fmt::Write as _;
use std::sync::{Arc, Weak};

use air_contracts::error::codes;
use air_contracts::port::{BoxFuture, CallPlan, Tool, ToolHost, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{define, parse, plan, upgrade};
use crate::attempt::{Live, Seen};
use crate::checks::{Baseline, CheckRun, CheckSpec, Checker, Origin, Purpose, checks_of};
use crate::scheduler::Scheduler;

/// Bytes of the whole answer.
const ANSWER: usize = 12 * 1024;

/// Failures of one check that are named.
const NAMED: usize = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    names: Vec<String>,
}

pub(super) struct CheckRunTool {
    definition: ToolDefinition,
    scheduler: Weak<Scheduler>,
}

impl CheckRunTool {
    pub(super) fn new(scheduler: Weak<Scheduler>) -> Self {
        let properties = json!({
            "names": { "type": "array", "items": { "type": "string" }, "description": "all where absent" }
        });
        let description = "Runs the checks of the project and of the criteria, as the runtime does at the end: new, fixed \
                           and known failures against the state before this task. Its run ids are evidence until the \
                           next write.";
        let definition =
            define("check.run", ToolCategory::Check, EffectClass::Pure, description, properties, &[]);
        Self { definition, scheduler }
    }
}

/// One check with its outcome.
struct Ran {
    spec: CheckSpec,
    run: CheckRun,
    new: Vec<String>,
    known: Vec<String>,
    fixed: Vec<String>,
}

impl Ran {
    fn of(spec: CheckSpec, run: CheckRun, baseline: &Baseline) -> Self {
        let before = baseline.of(&spec.check.command).map(|run| run.instances.clone()).unwrap_or_default();
        let fixed = before.iter().filter(|one| !run.instances.contains(one)).cloned().collect();
        let (known, new) = run.instances.iter().cloned().partition(|one| before.contains(one));
        Self { spec, run, new, known, fixed }
    }

    /// Names of its criteria, or its own.
    fn title(&self) -> String {
        match self.spec.origin {
            Origin::Criterion(n) => format!("criterion {n}"),
            Origin::Project | Origin::Extra => self.spec.check.name.clone(),
        }
    }

    fn head(&self) -> String {
        let run = &self.run;
        let how = match (&run.not_run, run.tests, run.exit_code) {
            (Some((_, why)), ..) => format!("not run: {why}"),
            (None, Some(tests), _) if tests.ran() > 0 => {
                format!("{} of {} tests passed", tests.passed, tests.ran())
            }
            (None, _, Some(code)) => format!("exit {code}"),
            (None, _, None) => "no exit code".to_owned(),
        };
        let verdict = if run.passed() { "pass" } else { "FAIL" };
        let mut text =
            format!("{verdict} {} · {how} · r{} · `{}`", self.title(), run.run_ref, self.spec.check.command);
        for (label, items) in [("new", &self.new), ("fixed", &self.fixed), ("known", &self.known)] {
            if !items.is_empty() {
                let _ = write!(text, "\n  {label}: {}", named(items));
            }
        }
        text
    }
}

fn named(items: &[String]) -> String {
    let mut text = items.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if items.len() > NAMED {
        let _ = write!(text, " and {} more", items.len() - NAMED);
    }
    text
}

impl Tool for CheckRunTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn plan<'a>(&'a self, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let names = parse::<Input>("check.run", &input)?.names;
            let title = if names.is_empty() { "all checks".to_owned() } else { names.join(" ") };
            Ok(plan(input, title))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a dyn ToolHost,
        context: &'a CallContext,
        plan: CallPlan,
    ) -> BoxFuture<'a, Result<ToolOutcome>> {
        Box::pin(async move {
            let scheduler = upgrade(&self.scheduler)?;
            let names = parse::<Input>("check.run", &plan.input)?.names;
            let live = scheduler.live(context.agent_id).ok_or_else(|| {
                AirError::new(codes::TOOL_INVALID_INPUT, "checks belong to a task, and this caller has none")
            })?;
            let baseline = scheduler.baselines.wait(live.seat.task.id).await;
            let specs = wanted(&scheduler, &live, &names).await?;
            if specs.is_empty() {
                let content =
                    "[no checks: this project and this task name no command that could prove anything]";
                let summary = "no checks".to_owned();
                return Ok(ToolOutcome { summary, content: content.to_owned(), ..ToolOutcome::default() });
            }
            let ran = run_all(&scheduler, context, specs, &baseline).await?;
            remember(&live, &ran);
            Ok(outcome(&ran))
        })
    }
}

async fn wanted(scheduler: &Scheduler, live: &Live, names: &[String]) -> Result<Vec<CheckSpec>> {
    let deps = &scheduler.deps;
    let list = checks_of(&live.seat.task.spec, deps.executor.project_checks(&deps.workspace).await?);
    if names.is_empty() {
        return Ok(list.specs);
    }
    let known: Vec<&str> = list.specs.iter().map(|spec| spec.check.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let message =
            format!("there is no check {unknown}. There are: {}. Nothing was run.", known.join(", "));
        return Err(AirError::new(codes::TOOL_INVALID_INPUT, message));
    }
    Ok(list.specs.into_iter().filter(|spec| names.contains(&spec.check.name)).collect())
}

async fn run_all(
    scheduler: &Arc<Scheduler>,
    context: &CallContext,
    specs: Vec<CheckSpec>,
    baseline: &Baseline,
) -> Result<Vec<Ran>> {
    let deps = &scheduler.deps;
    let write_seq = deps.store.turn(context.turn_id).await?.write_seq;
    let before = deps.executor.checkpoint(&deps.workspace, None).await?.tree;
    let checker = Checker {
        executor: &deps.executor,
        cache: &scheduler.cache,
        ids: &deps.ids,
        context: context.clone(),
    };
    let mut ran = Vec::with_capacity(specs.len());
    for spec in specs {
        let run = checker.run(&spec.check, Purpose::Worker).await;
        if run
            .not_run
            .as_ref()
            .is_some_and(|(status, _)| *status == air_contracts::tool::ToolStatus::Cancelled)
        {
            return Err(AirError::new(codes::TOOL_CANCELLED, format!("{} was stopped", spec.check.name)));
        }
        ran.push(Ran::of(spec, run, baseline));
    }
    // What was seen counts for a tree that stood still, or that only the checks themselves wrote to.
    let after = deps.executor.checkpoint(&deps.workspace, None).await?.tree;
    let still = before == after || {
        let changes = deps.executor.changes(&deps.workspace, &before, &after, &[]).await?;
        changes.files.iter().all(|file| baseline.products.contains(&file.path))
    };
    if still {
        for one in &mut ran {
            (one.run.tree, one.run.write_seq) = (after.clone(), write_seq);
            scheduler.cache.put(&one.spec.check, one.run.clone());
        }
    }
    Ok(ran)
}

/// For L9 and for `task.finish`.
fn remember(live: &Live, ran: &[Ran]) {
    let mut progress = live.progress();
    for one in ran {
        let seen = Seen { run_ref: one.run.run_ref, passed: one.run.passed(), new: one.new.clone() };
        progress.checks.insert(one.spec.check.name.clone(), seen.clone());
        progress.checks.insert(one.spec.check.command.clone(), seen);
    }
}

fn outcome(ran: &[Ran]) -> ToolOutcome {
    let failed = ran.iter().filter(|one| !one.run.passed()).count();
    let new: usize = ran.iter().map(|one| one.new.len()).sum();
    let summary = match failed {
        0 => format!("{} of {} checks pass", ran.len(), ran.len()),
        _ => format!("{failed} of {} checks fail, {new} new failures", ran.len()),
    };
    let mut content = format!("[{summary}]\n");
    for one in ran {
        let _ = writeln!(content, "{}", one.head());
    }
    let outputs: Vec<&Ran> =
        ran.iter().filter(|one| !one.run.passed() && !one.run.content.is_empty()).collect();
    let room = ANSWER.saturating_sub(content.len() + 200) / outputs.len().max(1);
    for one in outputs {
        let _ = writeln!(
            content,
            "\n{} (r{}):\n{}",
            one.title(),
            one.run.run_ref,
            crate::verify::tail(&one.run.content, room)
        );
    }
    let checks: Vec<Value> = ran
        .iter()
        .map(|one| {
            json!({
                "name": one.spec.check.name,
                "run": one.run.run_ref,
                "passed": one.run.passed(),
                "new": one.new,
                "fixed": one.fixed,
                "known": one.known,
            })
        })
        .collect();
    ToolOutcome {
        summary,
        content: content.trim_end().to_owned(),
        data: json!({ "checks": checks }),
        ..ToolOutcome::default()
    }
}
