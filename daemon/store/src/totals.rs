//! What sessions, turns and agents have used. Kept in memory and caught up with the log when asked, so that
//! a budget check costs the same at request 500 as at request 50.

use std::collections::HashMap;

use air_contracts::Result;
use air_contracts::ids::{AgentId, SessionId, TurnId};
use air_contracts::projection::UsageRow;
use air_contracts::task::AgentRole;
use tokio::sync::MutexGuard;

use crate::Store;

/// Sums over `usage` and the newest request of each, up to `seq`.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    seq: u64,
    sessions: HashMap<SessionId, SessionTotals>,
    turns: HashMap<TurnId, Sum>,
    agents: HashMap<AgentId, AgentTotals>,
}

/// Tokens and US dollars.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    pub requests: u64,
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub cost_usd: f64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SessionTotals {
    pub sum: Sum,
    /// Of the newest request of the main agent.
    pub context: Context,
    pub model: String,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AgentTotals {
    pub cost_usd: f64,
    pub context: Context,
}

/// How full the context of a request was, in tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Context {
    pub used: u32,
    pub limit: u32,
}

struct Used {
    session: SessionId,
    turn: TurnId,
    agent: AgentId,
    role: AgentRole,
    model: String,
    sum: Sum,
}

struct Asked {
    session: SessionId,
    agent: AgentId,
    role: AgentRole,
    context: Context,
}

const USED: &str = "SELECT session, turn, agent, role, model, input, cache_read, cache_write, output, cost_usd \
    FROM usage WHERE seq > ? AND seq <= ? ORDER BY seq";

const ASKED: &str = "SELECT session, agent, role, tokens, window FROM requests WHERE seq > ? AND seq <= ? \
    ORDER BY seq";

impl Sum {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
        self.cost_usd += other.cost_usd;
    }

    /// As a row of a report.
    pub(crate) fn row(&self) -> UsageRow {
        UsageRow {
            requests: self.requests,
            input: self.input,
            cached: self.cached,
            output: self.output,
            cost_usd: self.cost_usd,
            ..UsageRow::default()
        }
    }
}

impl Totals {
    pub(crate) fn session(&self, id: SessionId) -> SessionTotals {
        self.sessions.get(&id).cloned().unwrap_or_default()
    }

    pub(crate) fn turn(&self, id: TurnId) -> Sum {
        self.turns.get(&id).copied().unwrap_or_default()
    }

    pub(crate) fn agent(&self, id: AgentId) -> AgentTotals {
        self.agents.get(&id).copied().unwrap_or_default()
    }

    fn used(&mut self, used: Used) {
        let session = self.sessions.entry(used.session).or_default();
        session.sum.add(&used.sum);
        if used.role == AgentRole::Main || session.model.is_empty() {
            session.model = used.model;
        }
        self.turns.entry(used.turn).or_default().add(&used.sum);
        self.agents.entry(used.agent).or_default().cost_usd += used.sum.cost_usd;
    }

    fn asked(&mut self, asked: &Asked) {
        self.agents.entry(asked.agent).or_default().context = asked.context;
        let session = self.sessions.entry(asked.session).or_default();
        if asked.role == AgentRole::Main || session.context.limit == 0 {
            session.context = asked.context;
        }
    }
}

impl Store {
    /// The totals as of now.
    pub(crate) async fn totals(&self) -> Result<MutexGuard<'_, Totals>> {
        let mut totals = self.inner.totals.lock().await;
        let (from, to) = (totals.seq, self.last_seq());
        if to > from {
            let (after, until) =
                (i64::try_from(from).unwrap_or(i64::MAX), i64::try_from(to).unwrap_or(i64::MAX));
            let used = self.rows(sqlx::query(USED).bind(after).bind(until), |row| {
                Ok(Used {
                    session: row.id(0)?,
                    turn: row.id(1)?,
                    agent: row.id(2)?,
                    role: row.word(3)?,
                    model: row.text(4)?,
                    sum: Sum {
                        requests: 1,
                        input: row.count(5)? + row.count(7)?,
                        cached: row.count(6)?,
                        output: row.count(8)?,
                        cost_usd: row.real(9)?,
                    },
                })
            });
            let used = used.await?;
            let asked = self.rows(sqlx::query(ASKED).bind(after).bind(until), |row| {
                Ok(Asked {
                    session: row.id(0)?,
                    agent: row.id(1)?,
                    role: row.word(2)?,
                    context: Context { used: row.small(3)?, limit: row.small(4)? },
                })
            });
            let asked = asked.await?;
            used.into_iter().for_each(|used| totals.used(used));
            asked.iter().for_each(|asked| totals.asked(asked));
            totals.seq = to;
        }
        Ok(totals)
    }

    /// What a session has cost so far, in US dollars.
    pub async fn session_cost(&self, session: SessionId) -> Result<f64> {
        Ok(self.totals().await?.session(session).sum.cost_usd)
    }

    /// What a turn has cost so far, in US dollars.
    pub async fn turn_cost(&self, turn: TurnId) -> Result<f64> {
        Ok(self.totals().await?.turn(turn).cost_usd)
    }

    /// What a turn has used so far.
    pub async fn turn_usage(&self, turn: TurnId) -> Result<UsageRow> {
        Ok(self.totals().await?.turn(turn).row())
    }
}
