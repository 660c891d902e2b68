//! `task.create`: work is handed over, with the user's own words.

use std::fmt::Write as _;
use std::sync::Weak;

use air_contracts::error::codes;
use air_contracts::port::{BoxFuture, CallPlan, Tool, ToolHost, ToolOutcome};
use air_contracts::task::{Criterion, TaskType};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{define, parse, plan, upgrade};
use crate::deps::TaskDraft;
use crate::scheduler::Scheduler;

/// Tasks of one call, at most.
const MAX_TASKS: usize = 12;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    tasks: Vec<Draft>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    criteria: Vec<Criterion>,
    #[serde(default, rename = "type")]
    kind: Option<TaskType>,
    #[serde(default)]
    scope: Vec<String>,
    #[serde(default)]
    depends_on: Vec<usize>,
    #[serde(default)]
    context: Vec<String>,
    #[serde(default)]
    part: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    title: String,
    #[serde(default)]
    criteria: Vec<Criterion>,
    #[serde(default, rename = "type")]
    kind: Option<TaskType>,
    #[serde(default)]
    scope: Vec<String>,
    /// Numbers of tasks in this call, from 1.
    #[serde(default)]
    depends_on: Vec<usize>,
    #[serde(default)]
    context: Vec<String>,
    #[serde(default)]
    part: Option<String>,
}

pub(super) struct TaskCreate {
    definition: ToolDefinition,
    scheduler: Weak<Scheduler>,
}

impl TaskCreate {
    pub(super) fn new(scheduler: Weak<Scheduler>) -> Self {
        let criterion = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "one observable sentence" },
                "check": { "type": "string", "description": "shell command that exits 0 when it holds" }
            },
            "required": ["text"],
            "additionalProperties": false
        });
        // What several tasks need beyond one is said in words: their whole schema would double that of one, which is
        // the usual case.
        let properties = json!({
            "title": { "type": "string" },
            "criteria": { "type": "array", "items": criterion },
            "type": { "type": "string", "enum": ["implement", "build", "test", "review", "debug", "design"] },
            "scope": { "type": "array", "items": { "type": "string" }, "description": "globs it may write" },
            "context": { "type": "array", "items": { "type": "string" } },
            "tasks": {
                "type": "array",
                "items": { "type": "object" },
                "description": "instead of one: several independent tasks with the fields above, each with part (its \
                                part of the message) and depends_on (numbers in this list, from 1)"
            }
        });
        let description = "Hands work to a worker. The user's message goes with it, word for word: give a title, and \
                           criteria only as far as the message says or implies them. One task by default.";
        let definition =
            define("task.create", ToolCategory::Task, EffectClass::Logged, description, properties, &[]);
        Self { definition, scheduler }
    }
}

fn drafts(input: &Value) -> Result<Vec<TaskDraft>> {
    let input: Input = parse("task.create", input)?;
    let invalid = |text: String| AirError::new(codes::TASK_INVALID, text);
    let list = match (input.title, input.tasks.is_empty()) {
        (Some(title), true) => vec![Draft {
            title,
            criteria: input.criteria,
            kind: input.kind,
            scope: input.scope,
            depends_on: input.depends_on,
            context: input.context,
            part: input.part,
        }],
        (None, false) => input.tasks,
        (Some(_), false) => {
            return Err(invalid("give either a title, or tasks. Nothing was created.".to_owned()));
        }
        (None, true) => return Err(invalid("give a title. Nothing was created.".to_owned())),
    };
    if list.len() > MAX_TASKS {
        return Err(invalid(format!(
            "{} tasks in one call, at most {MAX_TASKS}. Nothing was created.",
            list.len()
        )));
    }
    let draft = |draft: Draft| {
        let below = |number: usize| {
            number
                .checked_sub(1)
                .ok_or_else(|| invalid("depends_on counts from 1. Nothing was created.".to_owned()))
        };
        Ok(TaskDraft {
            depends_on: draft.depends_on.into_iter().map(below).collect::<Result<_>>()?,
            title: draft.title,
            description: String::new(),
            criteria: draft.criteria,
            kind: draft.kind.unwrap_or_default(),
            write: draft.scope,
            part: draft.part,
            context_refs: draft.context,
        })
    };
    list.into_iter().map(draft).collect()
}

impl Tool for TaskCreate {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn plan<'a>(&'a self, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let drafts = drafts(&input)?;
            let titles: Vec<&str> = drafts.iter().map(|draft| draft.title.as_str()).collect();
            let title = titles.join(" · ");
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
            let drafts = drafts(&plan.input)?;
            let turn = scheduler.deps.store.turn(context.turn_id).await?;
            let mut user_text = turn.text.clone();
            for attachment in &turn.attachments {
                let _ = write!(user_text, "\n\n[attached: {}]\n{}", attachment.name, attachment.text);
            }
            let titles: Vec<String> = drafts.iter().map(|draft| draft.title.clone()).collect();
            // The same tasks asked for once more in one turn are the same tasks: also after a crash in between.
            let key = plan.input.to_string();
            let made = scheduler.create_tasks(context, &user_text, drafts, &key).await?;
            let lines: Vec<String> =
                made.iter().zip(&titles).map(|((_, n), title)| format!("k{n} {title}")).collect();
            let ids: Vec<Value> = made.iter().map(|(id, n)| json!({ "id": id, "n": n })).collect();
            Ok(ToolOutcome {
                summary: lines.join(" · "),
                content: format!("[created {}]", lines.join(", ")),
                data: json!({ "tasks": ids }),
                ..ToolOutcome::default()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_or_many() {
        let one =
            drafts(&json!({ "title": "Fix it", "criteria": [{ "text": "it works", "check": "true" }] }))
                .unwrap();
        assert_eq!((one.len(), one[0].criteria.len()), (1, 1));
        let two =
            json!({ "tasks": [{ "title": "a", "scope": ["src/**"] }, { "title": "b", "depends_on": [1] }] });
        let two = drafts(&two).unwrap();
        assert_eq!((two[0].write.len(), two[1].depends_on.as_slice()), (1, &[0][..]));
        for bad in [
            json!({}),
            json!({ "title": "a", "tasks": [{ "title": "b" }] }),
            json!({ "title": "a", "depends_on": [0] }),
        ] {
            assert!(drafts(&bad).is_err(), "{bad}");
        }
    }
}
