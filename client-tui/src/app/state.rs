//! Everything that the screen is drawn from.

use std::collections::VecDeque;

use air_contracts::Timestamp;
use air_contracts::api::ProjectView;
use air_contracts::ids::{InstanceId, ShortRef};
use jiff::tz::TimeZone;

use super::editor::Editor;
use super::geometry::{self, Areas};
use super::history::History;
use super::model::Model;
use super::overlay::Overlay;
use super::theme::Theme;
use super::transcript::{Setting, Transcript};
use crate::text::style::Role;

/// Where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Input,
    Transcript,
    Sidebar,
    Overlay,
}

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Away {
    /// There was none yet.
    Starting,
    /// It broke.
    Broken,
    /// Somebody stopped the daemon: it is waited for, and started again only for a message.
    Stopped,
}

/// The connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Not yet there, or gone, since then; and how often it was tried.
    Down {
        since: Timestamp,
        tries: u32,
        why: Away,
    },
    Up,
}

/// A line of our own under the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    pub role: Role,
    /// It goes away then, or with the next key.
    pub until: Timestamp,
}

/// A message that the daemon does not have yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsent {
    /// The same for each try.
    pub client_id: String,
    pub text: String,
    pub on_its_way: bool,
}

/// The draft as the daemon keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    pub saved: String,
    /// When it is to be saved.
    pub due: Option<Timestamp>,
    /// Whether it was asked for since the start.
    pub asked: bool,
}

/// The state of the app.
#[derive(Debug)]
pub struct App {
    pub theme: Theme,
    pub zone: TimeZone,
    pub now: Timestamp,
    pub size: (u16, u16),
    /// The name of the folder until the project's is known.
    pub place: String,
    pub project: Option<ProjectView>,
    /// The session that is wanted, by id or reference; `None`: the latest.
    pub session: Option<String>,
    pub observer: bool,
    pub link: Link,
    pub instance: Option<InstanceId>,
    pub version: String,
    /// Whether this connection tells changes.
    pub subscribed: bool,
    /// Whether it is known on this connection which session there is, if any.
    pub ready: bool,
    /// A snapshot, or older items, are on their way.
    pub loading: bool,
    pub model: Model,
    pub editor: Editor,
    pub history: History,
    pub outbox: VecDeque<Unsent>,
    pub sent: u64,
    /// Makes the keys of this client's messages differ from those of others.
    pub client: String,
    pub draft: Draft,
    pub focus: Focus,
    /// Where the focus was before there was an overlay.
    pub under: Focus,
    pub overlays: Vec<Overlay>,
    pub transcript: Transcript,
    pub sidebar: usize,
    pub notice: Option<Notice>,
    /// Instead of the state at the top, for a while.
    pub banner: Option<(String, Timestamp)>,
    /// ^X was pressed.
    pub prefix: bool,
    pub last_esc: Option<Timestamp>,
    /// Until then a further ^C leaves.
    pub leaving_until: Option<Timestamp>,
    pub mouse: bool,
    /// The window's title as it was set last.
    pub title: String,
    pub dirty: bool,
    pub left: bool,
    /// Why it ended by itself.
    pub fatal: Option<air_contracts::AirError>,
}

/// How the app starts.
#[derive(Debug, Clone)]
pub struct Start {
    pub theme: Theme,
    pub zone: TimeZone,
    pub now: Timestamp,
    pub size: (u16, u16),
    pub place: String,
    pub session: Option<String>,
    pub observer: bool,
    /// Something that no other client has.
    pub client: String,
}

impl App {
    /// Before anything is known.
    pub fn new(start: Start) -> Self {
        let mut app = Self {
            theme: start.theme,
            zone: start.zone,
            now: start.now,
            size: start.size,
            place: start.place,
            project: None,
            session: start.session,
            observer: start.observer,
            link: Link::Down { since: start.now, tries: 0, why: Away::Starting },
            instance: None,
            version: String::new(),
            subscribed: false,
            ready: false,
            loading: false,
            model: Model::default(),
            editor: Editor::default(),
            history: History::default(),
            outbox: VecDeque::new(),
            sent: 0,
            client: start.client,
            draft: Draft::default(),
            focus: if start.observer { Focus::Transcript } else { Focus::Input },
            under: Focus::Transcript,
            overlays: Vec::new(),
            transcript: Transcript::default(),
            sidebar: 0,
            notice: None,
            banner: None,
            prefix: false,
            last_esc: None,
            leaving_until: None,
            mouse: false,
            title: String::new(),
            dirty: true,
            left: false,
            fatal: None,
        };
        app.fit();
        app
    }

    /// Whether calls can be made.
    pub const fn is_up(&self) -> bool {
        matches!(self.link, Link::Up)
    }

    /// The id of the session, where there is one.
    pub fn session_id(&self) -> Option<String> {
        self.model.session.as_ref().map(|session| session.id.to_string())
    }

    /// Where everything is on the screen.
    pub fn areas(&self) -> Areas {
        geometry::areas(self)
    }

    /// What the conversation is laid out by.
    pub fn setting(&self) -> Setting<'_> {
        let body = self.areas().body;
        Setting {
            model: &self.model,
            theme: self.theme,
            zone: &self.zone,
            now: self.now,
            width: usize::from(body.width),
            height: usize::from(body.height),
        }
    }

    /// Takes the state apart where the transcript changes and the rest is looked at.
    pub fn with_transcript<T>(&mut self, act: impl FnOnce(&mut Transcript, Setting<'_>) -> T) -> T {
        let mut transcript = std::mem::take(&mut self.transcript);
        let result = act(&mut transcript, self.setting());
        self.transcript = transcript;
        self.dirty = true;
        result
    }

    /// The input's rows depend on the width.
    pub fn fit(&mut self) {
        self.editor.set_width(usize::from(self.size.0).saturating_sub(geometry::PROMPT + 1));
    }

    /// Says something under the input for a while.
    pub fn say(&mut self, role: Role, text: impl Into<String>, millis: i64) {
        let until = self.after(millis);
        self.notice = Some(Notice { text: text.into(), role, until });
        self.dirty = true;
    }

    /// The time in so many milliseconds.
    pub fn after(&self, millis: i64) -> Timestamp {
        Timestamp::from_millis(self.now.as_millis() + millis)
    }

    /// The overlay that is on top.
    pub fn overlay(&mut self) -> Option<&mut Overlay> {
        self.overlays.last_mut()
    }

    /// The question that is on the screen as an overlay.
    pub fn open_question(&self) -> Option<ShortRef> {
        match self.overlays.last() {
            Some(Overlay::Question(pane)) => Some(pane.short),
            _ => None,
        }
    }

    /// When something is to be looked at again without an event; `None`: never.
    pub fn wake(&self) -> Option<Timestamp> {
        let moving = !self.is_up()
            || self.model.running_turn().is_some()
            || !self.model.approvals.is_empty()
            || self.model.runs().next_back().is_some_and(|(_, run)| run.status.is_none());
        let second = (self.now.as_millis() / 1000 + 1) * 1000;
        let tick = moving.then(|| Timestamp::from_millis(second));
        let notice = self.notice.as_ref().map(|notice| notice.until);
        let banner = self.banner.as_ref().map(|(_, until)| *until);
        [tick, notice, banner, self.draft.due, self.leaving_until].into_iter().flatten().min()
    }
}
