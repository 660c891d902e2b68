//! `task.list`: how the tasks of a session stand.

use std::sync::Weak;

use air_contracts::Result;
use air_contracts::port::{BoxFuture, CallPlan, Tool, ToolHost, ToolOutcome};
use air_contracts::task::CriterionState;
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use serde_json::{Value, json};

use super::{define, plan, upgrade};
use crate::scheduler::{Scheduler, word};

/// Tasks that are listed.
const LISTED: usize = 50;

pub(super) struct TaskList {
    definition: ToolDefinition,
    scheduler: Weak<Scheduler>,
}

impl TaskList {
    pub(super) fn new(scheduler: Weak<Scheduler>) -> Self {
        let description =
            "Lists the tasks of this session, newest last: state, result, how many criteria are proved.";
        let definition =
            define("task.list", ToolCategory::Task, EffectClass::Pure, description, json!({}), &[]);
        Self { definition, scheduler }
    }
}

impl Tool for TaskList {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn plan<'a>(&'a self, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move { Ok(plan(input, "")) })
    }

    fn execute<'a>(
        &'a self,
        _: &'a dyn ToolHost,
        context: &'a CallContext,
        _: CallPlan,
    ) -> BoxFuture<'a, Result<ToolOutcome>> {
        Box::pin(async move {
            let store = &upgrade(&self.scheduler)?.deps.store;
            let mut rows = store.tasks_of_session(context.session_id).await?;
            rows.sort_by_key(|row| row.n);
            let skipped = rows.len().saturating_sub(LISTED);
            let mut lines = vec![format!("[{} tasks]", rows.len())];
            for row in rows.iter().skip(skipped) {
                let proved = |state| matches!(state, CriterionState::Proved | CriterionState::Reviewed);
                let shown = row.criteria.iter().filter(|one| proved(one.state)).count();
                let told = if row.summary.is_empty() { &row.reason } else { &row.summary };
                let told = told.lines().next().unwrap_or_default();
                let (state, of) = (word(row.status), row.criteria.len());
                lines.push(format!(
                    "k{} {state} · {} · {shown} of {of} proved · {told}",
                    row.n, row.spec.title
                ));
            }
            if skipped > 0 {
                lines.push(format!("[{skipped} older tasks left out]"));
            }
            let summary = format!("{} tasks", rows.len());
            Ok(ToolOutcome { summary, content: lines.join("\n"), ..ToolOutcome::default() })
        })
    }
}
