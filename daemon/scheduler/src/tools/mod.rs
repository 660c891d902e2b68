//! The tools that belong to the scheduler: tasks are created, listed and finished, checks are run on request.

mod check_run;
mod create;
mod finish;
mod list;

use std::sync::{Arc, Weak};

use air_contracts::error::codes;
use air_contracts::event::Intent;
use air_contracts::port::{CallPlan, Tool};
use air_contracts::tool::{EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::scheduler::Scheduler;

/// `task.create`, `task.finish`, `check.run` and `task.list`, to be registered with the executor. They hold the
/// scheduler weakly: it holds the executor that holds them.
pub fn task_tools(scheduler: &Arc<Scheduler>) -> Vec<Arc<dyn Tool>> {
    let weak = || Arc::downgrade(scheduler);
    vec![
        Arc::new(create::TaskCreate::new(weak())),
        Arc::new(finish::TaskFinish::new(weak())),
        Arc::new(check_run::CheckRunTool::new(weak())),
        Arc::new(list::TaskList::new(weak())),
    ]
}

fn define(
    name: &str,
    category: ToolCategory,
    class: EffectClass,
    description: &str,
    properties: Value,
    required: &[&str],
) -> ToolDefinition {
    let mut input_schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        input_schema["required"] = json!(required);
    }
    ToolDefinition {
        name: name.to_owned(),
        version: 1,
        description: description.to_owned(),
        input_schema,
        output_schema: json!({ "type": "string" }),
        category,
        class,
        permissions: Vec::new(),
        streaming: false,
    }
}

fn plan(input: Value, title: impl Into<String>) -> CallPlan {
    let (effects, command, class) = (Vec::new(), None, None);
    CallPlan { input, intent: Intent::None, effects, command, title: title.into(), class }
}

fn parse<T: DeserializeOwned>(tool: &str, input: &Value) -> Result<T> {
    T::deserialize(input).map_err(|error| {
        AirError::new(codes::TOOL_INVALID_INPUT, format!("{tool}: {error}. Nothing was done."))
    })
}

fn upgrade(scheduler: &Weak<Scheduler>) -> Result<Arc<Scheduler>> {
    let gone = || AirError::new(codes::DAEMON_STOPPING, "the project is being closed").retryable(true);
    scheduler.upgrade().ok_or_else(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_are_told_stays_short() {
        let tools: [(ToolDefinition, usize); 4] = [
            (create::TaskCreate::new(Weak::new()).definition().clone(), 1_200),
            (finish::TaskFinish::new(Weak::new()).definition().clone(), 1_000),
            (check_run::CheckRunTool::new(Weak::new()).definition().clone(), 400),
            (list::TaskList::new(Weak::new()).definition().clone(), 250),
        ];
        for (tool, limit) in tools {
            let bytes = tool.name.len() + tool.description.len() + tool.input_schema.to_string().len();
            assert!(
                tool.description.len() <= 250,
                "{}: {} bytes of description",
                tool.name,
                tool.description.len()
            );
            assert!(bytes <= limit, "{}: {bytes} bytes", tool.name);
        }
    }
}
