//! Staying with a turn: progress, questions, Ctrl-C, and a daemon that goes away and comes back.

mod act;
mod link;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::plain::is_lost;
use air_client_tui::rpc::{Notification, Notifications};
use air_contracts::api::{OutcomeStatus, ProjectionChanged, TurnOutcome, TurnWait, TurnWaitParams};
use air_contracts::approval::ApprovalState;
use air_contracts::ids::{SessionId, ShortRef, TurnId};
use air_contracts::projection::{ApprovalView, ProjectionChange};
use air_contracts::session::TurnStatus;
use air_contracts::{AirError, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

use super::is_over;
use super::progress::Progress;
use super::prompt::Prompt;
use crate::app::{App, Opened};

/// How long one wait at the daemon lasts, in milliseconds.
const WAIT_MS: u64 = 30_000;
/// Between two frames of the live lines.
const FRAME: Duration = Duration::from_millis(100);
/// How often one run connects again.
const RECONNECTS: u32 = 20;

/// The turn that is watched.
#[derive(Debug, Clone, Copy)]
pub struct Watched {
    pub turn_id: TurnId,
    pub turn: ShortRef,
    pub session_id: SessionId,
    pub session: ShortRef,
}

/// How it is watched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Follow {
    /// How long an open question may wait for an answer from elsewhere, in milliseconds.
    pub hold_ms: Option<u64>,
    /// Whether Ctrl-C stops the turn, not only the watching.
    pub interrupts: bool,
    /// Whether the turn runs what would ask, without a question.
    pub approve_all: bool,
    /// Where in the log the turn begins; `None`: unknown, so it is shown from its snapshot.
    pub after_seq: Option<u64>,
    /// Whether another turn has to end first.
    pub queued: bool,
}

/// A turn at its end, or parked at a question.
#[derive(Debug)]
pub struct Ended {
    pub opened: Opened,
    pub watched: Watched,
    pub outcome: TurnOutcome,
}

type Waiting = Pin<Box<dyn Future<Output = Result<TurnOutcome>>>>;

/// One watching.
pub(super) struct Watch<'a> {
    app: &'a App,
    opened: Opened,
    watched: Watched,
    follow: Follow,
    progress: Progress,
    prompt: Prompt,
    notifications: Option<Notifications>,
    seq: u64,
    event_seq: u64,
    queued: bool,
    headed: bool,
    interrupted: bool,
    hold_until: Option<Instant>,
    reconnects: u32,
}

/// What woke the loop.
enum Woken {
    State(Box<Result<TurnOutcome>>),
    Said(Option<Notification>),
    Interrupt,
    Frame,
    Line(Option<String>),
}

impl<'a> Watch<'a> {
    pub(super) fn new(app: &'a App, opened: Opened, watched: Watched, follow: Follow) -> Self {
        let after = follow.after_seq.unwrap_or(0);
        Self {
            app,
            progress: Progress::new(&app.out, watched.turn_id, watched.turn),
            prompt: Prompt::new(&app.out),
            notifications: None,
            seq: after,
            event_seq: after,
            queued: follow.queued,
            headed: false,
            interrupted: false,
            hold_until: None,
            reconnects: 0,
            opened,
            watched,
            follow,
        }
    }

    pub(super) async fn run(mut self) -> Result<Ended> {
        let mut ctrl_c =
            signal(SignalKind::interrupt()).map_err(|error| AirError::io("the handler of ^C", &error))?;
        let outcome = loop {
            match self.attached(&mut ctrl_c).await {
                Err(error) if is_lost(&error) && self.reconnects < RECONNECTS => {
                    self.reconnect(error).await?
                }
                outcome => break outcome?,
            }
        };
        if self.app.out.shows_progress() {
            // What settled last may be on its way still.
            self.snapshot().await?;
        }
        self.progress.end();
        self.rest_of_events().await?;
        if outcome.status == OutcomeStatus::Waiting {
            self.print_open_questions().await?;
        }
        if self.follow.approve_all && self.app.out.shows_progress() {
            let runs = air_client_tui::text::words::count(self.progress.announced, "run", "runs");
            self.app.out.note(&format!("--approve all: {runs} without a question, see air log"));
        }
        Ok(Ended { opened: self.opened, watched: self.watched, outcome })
    }

    /// Over one connection, until the turn is over or the connection is.
    async fn attached(&mut self, ctrl_c: &mut Signal) -> Result<TurnOutcome> {
        self.subscribe().await?;
        let mut frames = tokio::time::interval(FRAME);
        frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let draws = self.app.out.err_tty && self.app.out.shows_progress();
        let mut state = self.wait_call();
        loop {
            let woken = tokio::select! {
                outcome = &mut state => Woken::State(Box::new(outcome)),
                said = next_of(&mut self.notifications) => Woken::Said(said),
                _ = ctrl_c.recv() => Woken::Interrupt,
                _ = frames.tick(), if draws => Woken::Frame,
                line = self.prompt.line() => Woken::Line(line),
            };
            match woken {
                Woken::State(outcome) => match self.state((*outcome)?) {
                    Some(outcome) => return Ok(outcome),
                    None => state = self.wait_call(),
                },
                Woken::Said(Some(notification)) => {
                    if self.said(notification).await? {
                        state = self.wait_call();
                    }
                }
                // The call above has the reason.
                Woken::Said(None) => self.notifications = None,
                Woken::Interrupt => self.interrupt().await?,
                Woken::Frame => self.progress.redraw(),
                Woken::Line(Some(line)) => self.typed(&line).await?,
                Woken::Line(None) => {
                    self.prompt.give_up();
                    self.progress.asked();
                    state = self.wait_call();
                }
            }
            if let Some(lines) = self.prompt.next() {
                self.progress.ask(&lines);
            }
        }
    }

    /// Asks how the turn stands. Where nobody can answer here, an open question ends the waiting, unless
    /// it is held.
    fn wait_call(&self) -> Waiting {
        let left = self.hold_until.map(|until| until.saturating_duration_since(Instant::now()).as_millis());
        let left = left.map_or(WAIT_MS, |left| u64::try_from(left).unwrap_or(WAIT_MS));
        let params = TurnWaitParams {
            project_id: self.opened.id(),
            turn: self.watched.turn_id.to_string(),
            timeout_ms: WAIT_MS.min(left),
            until_approval: !self.prompt.is_interactive() && self.hold_until.is_none(),
        };
        let client = self.opened.client.clone();
        Box::pin(async move { client.call::<TurnWait>(params).await })
    }

    /// The outcome that ends the watching.
    fn state(&mut self, outcome: TurnOutcome) -> Option<TurnOutcome> {
        if is_over(outcome.status) {
            return Some(outcome);
        }
        let now = Instant::now();
        if let Some(until) = self.hold_until {
            if now < until {
                return None;
            }
            let status = if outcome.approvals.is_empty() { outcome.status } else { OutcomeStatus::Waiting };
            self.hold_until = None;
            return (status == OutcomeStatus::Waiting).then_some(TurnOutcome { status, ..outcome });
        }
        if outcome.status != OutcomeStatus::Waiting || self.prompt.is_interactive() {
            return None;
        }
        match self.follow.hold_ms {
            Some(hold) => {
                self.hold_until = Some(now + Duration::from_millis(hold));
                None
            }
            None => Some(outcome),
        }
    }

    /// Takes a notification; `true`: ask anew how the turn stands.
    async fn said(&mut self, notification: Notification) -> Result<bool> {
        match notification {
            Notification::ProjectionChanged(changed) => Ok(self.changed(&changed)),
            Notification::StreamDelta(delta) => {
                self.progress.delta(&delta);
                Ok(false)
            }
            Notification::StreamResync(_) | Notification::Lagged => {
                self.snapshot().await?;
                Ok(false)
            }
            Notification::EventsAppended(appended) => {
                self.events(&appended.events)?;
                Ok(false)
            }
            Notification::Other { .. } => Ok(false),
        }
    }

    fn changed(&mut self, changed: &ProjectionChanged) -> bool {
        let mut anew = false;
        for change in &changed.changes {
            anew |= self.change(change);
        }
        self.seq = self.seq.max(changed.seq);
        anew
    }

    fn change(&mut self, change: &ProjectionChange) -> bool {
        match change {
            ProjectionChange::Item { item } => self.progress.item(item),
            ProjectionChange::Task { task } => self.progress.task(task),
            ProjectionChange::Agent { agent } => self.progress.agent(agent),
            ProjectionChange::Turn { turn } if turn.id == self.watched.turn_id => {
                self.queued = turn.status == TurnStatus::Queued;
            }
            ProjectionChange::Approval { approval } if approval.turn_id == self.watched.turn_id => {
                return self.approval(approval);
            }
            ProjectionChange::Turn { .. }
            | ProjectionChange::Approval { .. }
            | ProjectionChange::Session { .. }
            | ProjectionChange::Hud { .. } => {}
        }
        false
    }

    fn approval(&mut self, approval: &ApprovalView) -> bool {
        let (lines, current_gone) = self.prompt.take(approval);
        if !lines.is_empty() && self.app.out.shows_progress() {
            self.progress.ask(&lines);
            self.progress.asked();
        }
        if approval.answer.is_some() {
            self.progress.answered(approval);
        }
        if current_gone {
            self.progress.asked();
        }
        // A held question that was answered: others may end the waiting now.
        let answered = approval.state != ApprovalState::Open;
        answered && self.hold_until.take().is_some()
    }
}

async fn next_of(notifications: &mut Option<Notifications>) -> Option<Notification> {
    match notifications {
        Some(notifications) => notifications.next().await,
        None => std::future::pending().await,
    }
}
