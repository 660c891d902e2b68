//! The same failing call twice in a row.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use air_contracts::ids::AgentId;
use air_contracts::tool::CallContext;

/// What is added to the second one.
pub(super) const REMARK: &str = "[same call failed before: a different approach is needed]";

/// The last failed call of each agent: tool, input, code.
#[derive(Default)]
pub(crate) struct Repeats(Mutex<HashMap<AgentId, (String, String, String)>>);

impl Repeats {
    /// Notes a failure; whether the call before failed in the same way.
    pub fn failed(&self, context: &CallContext, tool: &str, input: &str, code: &str) -> bool {
        let this = (tool.to_owned(), input.to_owned(), code.to_owned());
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert(context.agent_id, this.clone()) == Some(this)
    }

    /// Notes a success.
    pub fn succeeded(&self, context: &CallContext) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&context.agent_id);
    }
}
