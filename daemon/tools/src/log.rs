//! What the tools look up in the log.

use air_contracts::Result;
use air_contracts::tool::CallContext;
use air_store::{Store, ToolRunFilter};
use serde_json::Value;

/// The data of the runs in which a reader saw or wrote files, oldest first.
pub(crate) async fn reads_of(store: &Store, context: &CallContext) -> Result<Vec<Value>> {
    let filter = ToolRunFilter {
        session: Some(context.session_id),
        task: context.task_id,
        limit: Some(2_000),
        ..ToolRunFilter::default()
    };
    let runs = store.tool_runs(filter).await?;
    let own = runs.into_iter().filter(|run| match context.task_id {
        Some(_) => true,
        None => run.started.agent_id == context.agent_id && run.started.task_id.is_none(),
    });
    Ok(own.map(|run| run.data).filter(|data| data.get("seen").is_some()).collect())
}
