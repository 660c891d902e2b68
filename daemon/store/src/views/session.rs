//! Sessions and turns.

use air_contracts::Result;
use air_contracts::error::codes;
use air_contracts::ids::{RefKind, SessionId, ShortRef, TurnId};
use air_contracts::projection::{SessionState, SessionView, TurnView};
use air_contracts::session::{SessionSettings, TurnStatus};
use air_contracts::{AirError, Timestamp};

use crate::read::Columns;
use crate::{Store, TurnRow};

/// Characters of a title that was made from the first message.
const TITLE: usize = 60;

macro_rules! sessions {
    ($tail:literal) => {
        concat!(
            "SELECT s.id, s.n, s.settings, s.closed, s.created_at, s.updated_at, ",
            "(SELECT count(*) FROM turns AS t WHERE t.session = s.id), ",
            "(SELECT substr(json_extract(e.payload, '$.text'), 1, 400) FROM turns AS t ",
            "JOIN events AS e ON e.seq = t.seq WHERE t.session = s.id ORDER BY t.n LIMIT 1), ",
            "EXISTS (SELECT 1 FROM turns AS t WHERE t.session = s.id AND t.status = 'running'), ",
            "EXISTS (SELECT 1 FROM turns AS t WHERE t.session = s.id AND t.status = 'queued'), ",
            "(SELECT t.status FROM turns AS t WHERE t.session = s.id AND t.status NOT IN ",
            "('queued', 'running', 'cancelled') ORDER BY t.ended_seq DESC LIMIT 1), ",
            "(SELECT json_group_array(a.n) FROM approvals AS a WHERE a.session = s.id AND a.state = 'open') ",
            "FROM sessions AS s ",
            $tail
        )
    };
}

/// What a session is, but for its cost.
struct Facts {
    id: SessionId,
    n: u64,
    settings: SessionSettings,
    closed: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    turns: u32,
    first_text: String,
    running: bool,
    queued: bool,
    last: Option<TurnStatus>,
    open_approvals: Vec<u64>,
}

fn facts(row: Columns<'_>) -> Result<Facts> {
    Ok(Facts {
        id: row.id(0)?,
        n: row.count(1)?,
        settings: row.json(2)?,
        closed: row.number(3)? != 0,
        created_at: row.time(4)?,
        updated_at: row.time(5)?,
        turns: row.small(6)?,
        first_text: row.maybe_text(7)?.unwrap_or_default(),
        running: row.number(8)? != 0,
        queued: row.number(9)? != 0,
        last: row.maybe_word(10)?,
        open_approvals: row.json(11)?,
    })
}

impl Facts {
    fn state(&self) -> SessionState {
        if !self.open_approvals.is_empty() {
            return SessionState::WaitingForYou;
        }
        if self.running {
            return SessionState::Working;
        }
        // What is queued behind an interrupted turn waits with it.
        let held = matches!(self.last, Some(TurnStatus::Interrupted | TurnStatus::Budget));
        if self.queued && !held {
            return SessionState::Working;
        }
        if self.closed {
            return SessionState::Closed;
        }
        match self.last {
            None | Some(TurnStatus::Queued | TurnStatus::Running | TurnStatus::Cancelled) => {
                SessionState::New
            }
            Some(TurnStatus::Completed | TurnStatus::Answered) => SessionState::Done,
            Some(TurnStatus::Failed) => SessionState::Failed,
            Some(TurnStatus::Blocked) => SessionState::Blocked,
            Some(TurnStatus::Interrupted) => SessionState::Interrupted,
            Some(TurnStatus::Budget) => SessionState::Budget,
        }
    }

    fn title(&self) -> String {
        match &self.settings.title {
            Some(title) if !title.trim().is_empty() => title.clone(),
            _ => short_title(&self.first_text),
        }
    }
}

/// The beginning of a message on one line, cut behind a word.
fn short_title(text: &str) -> String {
    let mut title = String::new();
    for word in text.split_whitespace() {
        let length = title.chars().count();
        if length == 0 {
            title.extend(word.chars().take(TITLE));
        } else if length + 1 + word.chars().count() <= TITLE {
            title.push(' ');
            title.push_str(word);
        } else {
            break;
        }
    }
    title
}

impl Store {
    /// A session. `session.not_found` where there is none.
    pub async fn session_view(&self, id: SessionId) -> Result<SessionView> {
        let query = sqlx::query(sessions!("WHERE s.id = ?")).bind(id.as_bytes().to_vec());
        let missing = || AirError::new(codes::SESSION_NOT_FOUND, format!("no session {id}"));
        let facts = self.row(query, facts).await?.ok_or_else(missing)?;
        let cost = self.session_cost(id).await?;
        Ok(self.view_session(facts, cost))
    }

    /// Sessions, the one that changed last first.
    pub async fn session_views(&self, limit: u32) -> Result<Vec<SessionView>> {
        let query = sqlx::query(sessions!(
            "WHERE NOT json_extract(s.settings, '$.ephemeral') ORDER BY s.updated_at DESC, s.n DESC LIMIT ?"
        ))
        .bind(limit);
        let all = self.rows(query, facts).await?;
        let costs = self.session_costs().await?;
        let view = |facts: Facts| {
            let cost = costs.get(&facts.id).copied().unwrap_or(0.0);
            self.view_session(facts, cost)
        };
        Ok(all.into_iter().map(view).collect())
    }

    fn view_session(&self, facts: Facts, cost_usd: f64) -> SessionView {
        SessionView {
            id: facts.id,
            short: ShortRef::new(RefKind::Session, facts.n),
            title: facts.title(),
            state: facts.state(),
            project: self.project_id(),
            turns: facts.turns,
            cost_usd,
            created_at: facts.created_at,
            updated_at: facts.updated_at,
            open_approvals: facts
                .open_approvals
                .iter()
                .map(|n| ShortRef::new(RefKind::Approval, *n))
                .collect(),
            settings: facts.settings,
        }
    }

    /// A turn.
    pub async fn turn_view(&self, id: TurnId) -> Result<TurnView> {
        self.turn(id).await.map(view_turn)
    }

    /// The newest `limit` turns of a session, oldest first.
    pub async fn turn_views(&self, session: SessionId, limit: u32) -> Result<Vec<TurnView>> {
        Ok(self.turns(session, limit).await?.into_iter().map(view_turn).collect())
    }
}

fn view_turn(row: TurnRow) -> TurnView {
    TurnView {
        id: row.id,
        short: ShortRef::new(RefKind::Turn, row.n),
        session_id: row.session_id,
        status: row.status,
        text: row.text,
        answer: row.answer,
        error: row.error,
        blockers: row.blockers,
        submitted_at: row.submitted_at,
        ended_at: row.ended_at,
    }
}

#[cfg(test)]
mod tests {
    use super::short_title;

    #[test]
    fn a_title_is_cut_behind_a_word() {
        let check = |text: &str, title: &str| assert_eq!(short_title(text), title);
        check("  fix\nthe   parser ", "fix the parser");
        check("", "");
        check(&"word ".repeat(40), "word ".repeat(12).trim_end());
        check(&"ä".repeat(100), &"ä".repeat(60));
    }
}
