//! Agents.

use air_contracts::Result;
use air_contracts::ids::{AgentId, RefKind, SessionId, ShortRef};
use air_contracts::projection::{AgentView, Waiting};
use air_contracts::session::TurnStatus;
use air_contracts::task::AgentRole;

use super::Refs;
use crate::totals::Of;
use crate::{AgentRow, Store};

/// The state of a Main Agent between turns.
const IDLE: &str = "idle";

impl Store {
    /// An agent. `rss_bytes` is 0: only heartbeats know it.
    pub async fn agent_view(&self, id: AgentId) -> Result<AgentView> {
        let row = self.agent(id).await?;
        let refs = self.refs_of_agents(std::slice::from_ref(&row)).await?;
        self.view_agent(row, &refs).await
    }

    /// Agents, oldest first: those that run, or `all`.
    pub async fn agent_views(&self, session: Option<SessionId>, all: bool) -> Result<Vec<AgentView>> {
        let rows = self.agents(session, all).await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let refs = self.refs_of_agents(&rows).await?;
        let mut views = Vec::with_capacity(rows.len());
        for row in rows {
            let view = self.view_agent(row, &refs).await?;
            if all || view.state != IDLE {
                views.push(view);
            }
        }
        Ok(views)
    }

    /// The Main Agent of a session is one row for all its turns, so its state is that of the turns.
    async fn rests(&self, row: &AgentRow) -> Result<bool> {
        if row.role != AgentRole::Main || row.ended_at.is_some() {
            return Ok(false);
        }
        let unfinished = self.unfinished_turns().await?;
        Ok(!unfinished
            .iter()
            .any(|turn| turn.session_id == row.session_id && turn.status == TurnStatus::Running))
    }

    async fn refs_of_agents(&self, rows: &[AgentRow]) -> Result<Refs> {
        let tasks = rows.iter().filter_map(|row| row.attempt.as_ref()).map(|attempt| attempt.task_id.hex());
        self.numbers(tasks).await.map(Refs)
    }

    async fn view_agent(&self, row: AgentRow, refs: &Refs) -> Result<AgentView> {
        let used = self.used(Of::Agent(row.id)).await?;
        let context = self.context(Of::Agent(row.id)).await?;
        let rests = self.rests(&row).await?;
        let now = self.inner.clock.millis();
        let waits = |waiting: &Waiting| {
            row.ended_at.is_none() && waiting.until.is_some_and(|until| until.as_millis() > now)
        };
        Ok(AgentView {
            id: row.id,
            short: ShortRef::new(RefKind::Agent, row.n),
            session_id: row.session_id,
            role: row.role,
            task: row.attempt.as_ref().and_then(|attempt| refs.task(attempt.task_id)),
            context_used: context.used,
            context_limit: context.limit,
            cost_usd: used.cost_usd,
            rss_bytes: 0,
            since: row.started_at,
            waiting: row.waiting.as_ref().filter(|waiting| waits(waiting)).cloned(),
            model: row.model,
            state: if rests { IDLE.to_owned() } else { row.state },
        })
    }
}
