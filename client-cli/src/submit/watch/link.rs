//! The connection of a watching: subscribing, catching up, connecting again.

use std::time::Duration;

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::rpc::ProjectionClient as _;
use air_contracts::api::{
    ApprovalList, ApprovalListParams, EventsFollow, EventsFollowParams, EventsRead, EventsReadParams,
    ProjectionSnapshotMethod, ProjectionSubscribe, SessionRefParams, SubscribeParams,
};
use air_contracts::error::codes;
use air_contracts::event::RuntimeEvent;
use air_contracts::session::TurnStatus;
use air_contracts::{AirError, Result};

use super::Watch;
use crate::args::Format;

/// How long a daemon that said goodbye may take to come back.
const RESTART: Duration = Duration::from_secs(10);

impl Watch<'_> {
    pub(super) async fn subscribe(&mut self) -> Result<()> {
        self.notifications = self.opened.client.take_notifications();
        let seq = self.snapshot().await?;
        if self.follow.after_seq.is_none() && self.event_seq == 0 {
            self.event_seq = seq;
        }
        if self.app.out.format == Format::Jsonl {
            let params = EventsFollowParams {
                project_id: self.opened.id(),
                after_seq: self.event_seq,
                session: Some(self.watched.session_id.to_string()),
            };
            self.opened.client.call::<EventsFollow>(params).await?;
        }
        let params = SubscribeParams {
            project_id: self.opened.id(),
            session: self.watched.session_id.to_string(),
            after_seq: seq,
        };
        self.opened.client.call::<ProjectionSubscribe>(params).await?;
        Ok(())
    }

    /// Takes the session as it is; what was shown already is not shown again.
    pub(super) async fn snapshot(&mut self) -> Result<u64> {
        let params =
            SessionRefParams { project_id: self.opened.id(), session: self.watched.session_id.to_string() };
        let snapshot = self.opened.client.call::<ProjectionSnapshotMethod>(params).await?;
        if !std::mem::replace(&mut self.headed, true) {
            self.progress.head(self.watched.session, &self.opened.project.name, &snapshot.hud.model);
        }
        if let Some(turn) = snapshot.turns.iter().find(|turn| turn.id == self.watched.turn_id) {
            self.queued = turn.status == TurnStatus::Queued;
        }
        snapshot.agents.iter().for_each(|agent| self.progress.agent(agent));
        snapshot.items.iter().for_each(|item| self.progress.item(item));
        snapshot.tasks.iter().for_each(|task| self.progress.task(task));
        let turn_id = self.watched.turn_id;
        for approval in snapshot.approvals.iter().filter(|one| one.turn_id == turn_id) {
            self.approval(approval);
        }
        self.seq = self.seq.max(snapshot.seq);
        Ok(snapshot.seq)
    }

    /// A daemon that broke off is started again; one that said goodbye is waited for.
    pub(super) async fn reconnect(&mut self, error: AirError) -> Result<()> {
        self.reconnects += 1;
        self.progress.notice(&format!("{}; connecting again", error.message));
        let client = if error.is(codes::DAEMON_STOPPING) {
            self.app.dial.connect_within(RESTART).await
        } else {
            self.app.dial.connect().await
        };
        let turn = self.watched.turn;
        let client = client
            .map_err(|error| error.hint(format!("{turn} goes on when aird runs again: air wait {turn}")))?;
        self.opened = self.app.open_with(client).await?;
        self.progress.notice("aird answers again; nothing is lost");
        Ok(())
    }

    pub(super) async fn print_open_questions(&mut self) -> Result<()> {
        let params = ApprovalListParams {
            project_id: self.opened.id(),
            session: Some(self.watched.session_id.to_string()),
            all: false,
        };
        let open = self.opened.client.call::<ApprovalList>(params).await?;
        let turn_id = self.watched.turn_id;
        for approval in open.items.iter().filter(|one| one.turn_id == turn_id) {
            self.approval(approval);
        }
        Ok(())
    }

    pub(super) fn events(&mut self, events: &[RuntimeEvent]) -> Result<()> {
        for event in events.iter().filter(|event| event.seq > self.event_seq) {
            self.app.out.data(format!("{}\n", crate::commands::json_line(event)?).as_bytes());
        }
        self.event_seq = events.iter().map(|event| event.seq).max().unwrap_or(0).max(self.event_seq);
        Ok(())
    }

    /// Events that were on their way when the turn ended.
    pub(super) async fn rest_of_events(&mut self) -> Result<()> {
        while self.app.out.format == Format::Jsonl {
            let params = EventsReadParams {
                project_id: self.opened.id(),
                after_seq: self.event_seq,
                limit: None,
                types: Vec::new(),
                session: Some(self.watched.session_id.to_string()),
                wait_ms: 0,
            };
            let page = self.opened.client.call::<EventsRead>(params).await?;
            self.events(&page.events)?;
            self.event_seq = self.event_seq.max(page.seq);
            if !page.more {
                break;
            }
        }
        Ok(())
    }
}
