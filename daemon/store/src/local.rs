//! Local state: drafts and what a screen remembers. Outside the log and outside replay.

use air_contracts::Result;
use air_contracts::ids::SessionId;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::Store;
use crate::writer::{Job, Key, closed};

const SET_DRAFT: &str = "INSERT INTO message_drafts (session, text, updated_at) VALUES (?, ?, ?) \
    ON CONFLICT (session) DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at";

const SET_UI_STATE: &str = "INSERT INTO ui_state (key, value, updated_at) VALUES (?, ?, ?) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";

impl Store {
    /// The text that a user has begun in a session; empty where there is none.
    pub async fn draft(&self, session: SessionId) -> Result<String> {
        let query = sqlx::query("SELECT text FROM message_drafts WHERE session = ?");
        let found = self.row(query.bind(session.as_bytes().to_vec()), |row| row.text(0)).await?;
        Ok(found.unwrap_or_default())
    }

    /// Keeps it.
    pub async fn set_draft(&self, session: SessionId, text: &str) -> Result<()> {
        self.set_local(SET_DRAFT, Key::Session(session), text.to_owned()).await
    }

    /// What is kept under a key; `null` where nothing is.
    pub async fn ui_state(&self, key: &str) -> Result<Value> {
        let query = sqlx::query("SELECT value FROM ui_state WHERE key = ?").bind(key.to_owned());
        Ok(self.row(query, |row| row.json(0)).await?.unwrap_or_default())
    }

    /// Keeps a value under a key.
    pub async fn set_ui_state(&self, key: &str, value: &Value) -> Result<()> {
        self.set_local(SET_UI_STATE, Key::Text(key.to_owned()), value.to_string()).await
    }

    async fn set_local(&self, sql: &'static str, key: Key, value: String) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        self.inner.jobs.send(Job::Local { sql, key, value, reply }).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}
