//! What sessions, turns and agents have used. Kept in memory and caught up with the log when asked, so that
//! a budget check costs the same at request 500 as at request 50.

use std::collections::HashMap;

use air_contracts::Result;
use air_contracts::ids::{AgentId, SessionId, TurnId};
use air_contracts::projection::UsageRow;
use air_contracts::task::AgentRole;

use crate::Store;
use crate::read::Columns;

/// What was found out so far, by the bytes of ids: those of a session, a turn and an agent are never the same.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    sums: HashMap<[u8; 16], Seen<Sum>>,
    contexts: HashMap<[u8; 16], Seen<Context>>,
    /// Costs of all sessions.
    costs: Seen<HashMap<SessionId, f64>>,
}

/// A value over the events up to `seq`.
#[derive(Debug, Clone, Copy, Default)]
struct Seen<T> {
    seq: u64,
    value: T,
}

/// Tokens and US dollars.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    pub requests: u64,
    /// Tokens that were not read from a cache.
    pub input: u64,
    pub cached: u64,
    pub output: u64,
    pub cost_usd: f64,
}

/// How full the context of the newest request was, in tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Context {
    pub used: u32,
    pub limit: u32,
    main: bool,
}

/// Whose.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    Session(SessionId),
    Turn(TurnId),
    Agent(AgentId),
}

impl Of {
    fn bytes(self) -> [u8; 16] {
        match self {
            Self::Session(id) => id.uuid().into_bytes(),
            Self::Turn(id) => id.uuid().into_bytes(),
            Self::Agent(id) => id.uuid().into_bytes(),
        }
    }
}

macro_rules! sums {
    ($tail:literal) => {
        concat!(
            "SELECT count(*), COALESCE(sum(input + cache_write), 0), COALESCE(sum(cache_read), 0), ",
            "COALESCE(sum(output), 0), total(cost_usd) FROM usage WHERE seq <= ?3 AND ",
            $tail
        )
    };
}

/// `?1` whose, `?2` the last `seq` that was seen, `?3` the last that there is. What a turn or an agent uses comes
/// after its own event, and what a session uses too.
const OF_SESSION: &str =
    sums!("seq > max(?2, COALESCE((SELECT seq FROM sessions WHERE id = ?1), 0)) AND session = ?1");
const OF_TURN: &str =
    sums!("seq > max(?2, COALESCE((SELECT seq FROM turns WHERE id = ?1), 0)) AND turn = ?1");
const OF_AGENT: &str =
    sums!("seq > max(?2, COALESCE((SELECT seq FROM agents WHERE id = ?1), 0)) AND agent = ?1");

/// The main agent's, where it has made one.
const SESSION_CONTEXT: &str = "SELECT tokens, window, role FROM requests WHERE seq = COALESCE(\
    (SELECT seq FROM requests WHERE seq > ?2 AND seq <= ?3 AND session = ?1 AND role = 'main' ORDER BY seq DESC LIMIT 1), \
    (SELECT seq FROM requests WHERE seq > ?2 AND seq <= ?3 AND session = ?1 ORDER BY seq DESC LIMIT 1))";
const AGENT_CONTEXT: &str = "SELECT tokens, window, role FROM requests \
    WHERE seq > max(?2, COALESCE((SELECT seq FROM agents WHERE id = ?1), 0)) AND seq <= ?3 AND agent = ?1 \
    ORDER BY seq DESC LIMIT 1";

const COSTS: &str = "SELECT session, total(cost_usd) FROM usage WHERE seq > ? AND seq <= ? GROUP BY session";

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

fn sum(row: Columns<'_>) -> Result<Sum> {
    Ok(Sum {
        requests: row.count(0)?,
        input: row.count(1)?,
        cached: row.count(2)?,
        output: row.count(3)?,
        cost_usd: row.real(4)?,
    })
}

fn context(row: Columns<'_>) -> Result<Context> {
    let role: AgentRole = row.word(2)?;
    Ok(Context { used: row.small(0)?, limit: row.small(1)?, main: role == AgentRole::Main })
}

fn place(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

impl Store {
    /// What somebody has used so far.
    pub(crate) async fn used(&self, of: Of) -> Result<Sum> {
        let sql = match of {
            Of::Session(_) => OF_SESSION,
            Of::Turn(_) => OF_TURN,
            Of::Agent(_) => OF_AGENT,
        };
        let mut totals = self.inner.totals.lock().await;
        let seen = totals.sums.entry(of.bytes()).or_default();
        let last = self.last_seq();
        if last > seen.seq {
            let query = sqlx::query(sql).bind(of.bytes().to_vec()).bind(place(seen.seq)).bind(place(last));
            if let Some(more) = self.row(query, sum).await? {
                seen.value.add(&more);
            }
            seen.seq = last;
        }
        Ok(seen.value)
    }

    /// How full the context of a session or an agent is.
    pub(crate) async fn context(&self, of: Of) -> Result<Context> {
        let sql = match of {
            Of::Session(_) => SESSION_CONTEXT,
            Of::Turn(_) | Of::Agent(_) => AGENT_CONTEXT,
        };
        let mut totals = self.inner.totals.lock().await;
        let seen = totals.contexts.entry(of.bytes()).or_default();
        let last = self.last_seq();
        if last > seen.seq {
            let query = sqlx::query(sql).bind(of.bytes().to_vec()).bind(place(seen.seq)).bind(place(last));
            if let Some(newer) = self.row(query, context).await?
                && (newer.main || !seen.value.main)
            {
                seen.value = newer;
            }
            seen.seq = last;
        }
        Ok(seen.value)
    }

    /// What all sessions have cost so far, in US dollars; those that cost nothing are left out.
    pub(crate) async fn session_costs(&self) -> Result<HashMap<SessionId, f64>> {
        let mut totals = self.inner.totals.lock().await;
        let seen = &mut totals.costs;
        let last = self.last_seq();
        if last > seen.seq {
            let query = sqlx::query(COSTS).bind(place(seen.seq)).bind(place(last));
            for (session, cost) in self.rows(query, |row| Ok((row.id(0)?, row.real(1)?))).await? {
                *seen.value.entry(session).or_default() += cost;
            }
            seen.seq = last;
        }
        Ok(seen.value.clone())
    }

    /// What a session has cost so far, in US dollars.
    pub async fn session_cost(&self, session: SessionId) -> Result<f64> {
        Ok(self.used(Of::Session(session)).await?.cost_usd)
    }

    /// What a turn has cost so far, in US dollars.
    pub async fn turn_cost(&self, turn: TurnId) -> Result<f64> {
        Ok(self.used(Of::Turn(turn)).await?.cost_usd)
    }

    /// What a turn has used so far.
    pub async fn turn_usage(&self, turn: TurnId) -> Result<UsageRow> {
        Ok(self.used(Of::Turn(turn)).await?.row())
    }
}
