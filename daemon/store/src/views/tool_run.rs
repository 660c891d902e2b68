//! Tool runs.

use air_contracts::Result;
use air_contracts::artifact::Stored;
use air_contracts::ids::{RefKind, ShortRef, ToolRunId};
use air_contracts::projection::ToolRunView;

use super::Refs;
use crate::{Store, ToolRunFilter, ToolRunRow};

/// Bytes of what a model read that a projection shows.
const SHOWN: usize = 2 * 1024;

impl Store {
    /// A tool run with the whole text that the model read.
    pub async fn tool_run_view(&self, id: ToolRunId) -> Result<ToolRunView> {
        let row = self.tool_run(id).await?;
        let refs = self.refs_of_runs(std::slice::from_ref(&row)).await?;
        self.whole_run(row, &refs).await
    }

    /// Tool runs with the whole text that the model read; see [`ToolRunFilter`].
    pub async fn tool_run_views(&self, filter: ToolRunFilter) -> Result<Vec<ToolRunView>> {
        let rows = self.tool_runs(filter).await?;
        let refs = self.refs_of_runs(&rows).await?;
        let mut views = Vec::with_capacity(rows.len());
        for row in rows {
            views.push(self.whole_run(row, &refs).await?);
        }
        Ok(views)
    }

    async fn whole_run(&self, row: ToolRunRow, refs: &Refs) -> Result<ToolRunView> {
        let content = match &row.content {
            Some(content) => self.load_value(content).await?,
            None => String::new(),
        };
        Ok(view_run(row, refs, content))
    }

    /// As projections show it: the beginning of the text.
    pub(super) async fn short_run(&self, row: ToolRunRow, refs: &Refs) -> ToolRunView {
        let content = match &row.content {
            Some(Stored::Inline { value }) => beginning(value).to_owned(),
            Some(stored) => match self.load_value(stored).await {
                Ok(value) => beginning(&value).to_owned(),
                // An item is shown without it; who asks for the run itself sees the error.
                Err(error) => error.message,
            },
            None => String::new(),
        };
        view_run(row, refs, content)
    }

    async fn refs_of_runs(&self, rows: &[ToolRunRow]) -> Result<Refs> {
        self.numbers(rows.iter().flat_map(referred)).await.map(Refs)
    }
}

/// The objects that a run names, as hex.
pub(super) fn referred(row: &ToolRunRow) -> Vec<String> {
    let task = row.started.task_id.map(|task| task.hex());
    std::iter::once(row.started.agent_id.hex()).chain(task).collect()
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(SHOWN)).unwrap_or(text)
}

fn view_run(row: ToolRunRow, refs: &Refs, content: String) -> ToolRunView {
    let started = row.started;
    ToolRunView {
        id: started.run_id,
        short: ShortRef::new(RefKind::ToolRun, started.n),
        turn_id: started.turn_id,
        task: started.task_id.and_then(|task| refs.task(task)),
        agent: refs.agent(started.agent_id),
        tool: started.tool,
        title: started.title,
        decision: started.decision.decision,
        status: row.status,
        summary: row.summary,
        exit_code: row.exit_code,
        started_at: row.started_at,
        duration_ms: row.duration_ms,
        written: row.written,
        artifacts: row.artifacts,
        error: row.error,
        reconciled: row.reconciled,
        content,
    }
}
