//! The line at the bottom, and reports of usage.

use air_contracts::Result;
use air_contracts::api::UsageGetResult;
use air_contracts::ids::{RefKind, SessionId, ShortRef};
use air_contracts::projection::{HudView, UsageRow};

use crate::Store;
use crate::totals::Of;

const USAGE: &str = "SELECT u.role, a.n, t.n, u.model, count(*), sum(u.input + u.cache_write), sum(u.cache_read), \
    sum(u.output), sum(u.cost_usd) FROM usage AS u LEFT JOIN agents AS a ON a.id = u.agent \
    LEFT JOIN tasks AS t ON t.id = u.task WHERE (?1 IS NULL OR u.session = ?1) \
    GROUP BY u.agent, u.task, u.role, u.model ORDER BY min(u.seq)";

const WORKERS: &str =
    "SELECT count(*) FROM agents WHERE session = ? AND task IS NOT NULL AND ended_at IS NULL";

/// Of the newest answer.
const MODEL: &str = "SELECT model FROM usage WHERE session = ? ORDER BY seq DESC LIMIT 1";

impl Store {
    /// The line of a session; what is the daemon's own is empty.
    pub async fn hud(&self, session: SessionId) -> Result<HudView> {
        let settings = self.session(session).await?.settings;
        let workers = sqlx::query(WORKERS).bind(session.as_bytes().to_vec());
        let workers = self.row(workers, |row| row.small(0)).await?.unwrap_or(0);
        let sum = self.used(Of::Session(session)).await?;
        let context = self.context(Of::Session(session)).await?;
        let model = sqlx::query(MODEL).bind(session.as_bytes().to_vec());
        let model = match self.row(model, |row| row.text(0)).await? {
            Some(model) => model,
            None => settings.model.unwrap_or_default(),
        };
        Ok(HudView {
            model,
            context_used: context.used,
            context_limit: context.limit,
            input_tokens: sum.input,
            cached_tokens: sum.cached,
            output_tokens: sum.output,
            cost_usd: sum.cost_usd,
            max_cost_usd: settings.limits.max_cost_usd,
            workers,
            daemon_version: String::new(),
            daemon_rss_bytes: 0,
        })
    }

    /// What was used, by agent, task and model, in order of first use. `input` is what was not read from a cache.
    pub async fn usage(&self, session: Option<SessionId>) -> Result<Vec<UsageRow>> {
        let query = sqlx::query(USAGE).bind(session.map(|session| session.as_bytes().to_vec()));
        self.rows(query, |row| {
            let short = |kind, place| {
                row.maybe_number(place).map(|n| n.map(|n| ShortRef::new(kind, n.unsigned_abs())))
            };
            Ok(UsageRow {
                role: Some(row.word(0)?),
                agent: short(RefKind::Agent, 1)?,
                task: short(RefKind::Task, 2)?,
                model: row.text(3)?,
                requests: row.count(4)?,
                input: row.count(5)?,
                cached: row.count(6)?,
                output: row.count(7)?,
                cost_usd: row.real(8)?,
            })
        })
        .await
    }

    /// Usage of a session or of the project, with its sum.
    pub async fn usage_result(&self, session: Option<SessionId>) -> Result<UsageGetResult> {
        let by = self.usage(session).await?;
        let row = match session {
            Some(session) => Some(self.session(session).await?),
            None => None,
        };
        let mut total = UsageRow::default();
        for row in &by {
            total.requests += row.requests;
            total.input += row.input;
            total.cached += row.cached;
            total.output += row.output;
            total.cost_usd += row.cost_usd;
        }
        Ok(UsageGetResult {
            session: row.as_ref().map(|row| ShortRef::new(RefKind::Session, row.n)),
            total,
            by,
            limit_usd: row.and_then(|row| row.settings.limits.max_cost_usd),
        })
    }
}
