//! What an event does to the state, and what is to be done about it. No I/O, no clock.

mod control;
mod daemon;
mod focus;
mod keys;
mod letters;
mod overlay;
mod question;
mod reply;
mod slash;
mod typing;

use air_contracts::Timestamp;

use super::event::{Call, Effect, Event};
use super::model::Model;
use super::state::App;
use super::terminal::keys::Input;
use super::transcript::Anchor;
use crate::text::style::Role;

/// How long a message of ours stays, in milliseconds.
pub(super) const SAID_MS: i64 = 8_000;

/// Takes an event in at a time.
pub fn update(app: &mut App, now: Timestamp, event: Event) -> Vec<Effect> {
    let mut out = Vec::new();
    let before = app.now.as_millis() / 1000;
    app.now = now;
    match event {
        Event::Time => app.dirty |= before != now.as_millis() / 1000,
        Event::Input(input) => self::input(app, input, &mut out),
        Event::Resize(columns, rows) => resize(app, columns, rows, &mut out),
        Event::Connected(connected) => daemon::connected(app, *connected, &mut out),
        Event::ConnectFailed(error) => daemon::connect_failed(app, error, &mut out),
        Event::Lost { stopped } => daemon::lost(app, stopped, &mut out),
        Event::Notified(notification) => daemon::notified(app, *notification, &mut out),
        Event::Answered(reply) => reply::answered(app, *reply, &mut out),
        Event::Edited(result) => typing::edited(app, result),
        Event::Paged(result) => {
            if let Err(error) = result {
                app.say(Role::Bad, error.message, SAID_MS);
            }
        }
        Event::Hangup => leave(app, &mut out),
    }
    timers(app, &mut out);
    settle(app, &mut out);
    out
}

fn input(app: &mut App, input: Input, out: &mut Vec<Effect>) {
    app.dirty = true;
    match input {
        Input::Key(key) => keys::key(app, key, out),
        Input::Paste(text) => typing::paste(app, &text),
        Input::Wheel(by) => keys::wheel(app, by),
    }
}

fn resize(app: &mut App, columns: u16, rows: u16, out: &mut Vec<Effect>) {
    app.size = (columns, rows);
    app.fit();
    if app.focus == super::state::Focus::Sidebar && !super::geometry::has_sidebar(app.size) {
        app.focus = super::state::Focus::Transcript;
    }
    out.push(Effect::Redraw);
    app.dirty = true;
}

/// What time alone does.
fn timers(app: &mut App, out: &mut Vec<Effect>) {
    let now = app.now;
    if app.notice.as_ref().is_some_and(|notice| notice.until <= now) {
        app.notice = None;
        app.dirty = true;
    }
    if app.banner.as_ref().is_some_and(|(_, until)| *until <= now) {
        app.banner = None;
        app.dirty = true;
    }
    if app.leaving_until.is_some_and(|until| until <= now) {
        app.leaving_until = None;
    }
    if app.draft.due.is_some_and(|due| due <= now) {
        app.draft.due = None;
        out.extend(save_draft(app).map(Effect::Call));
    }
}

/// The call that keeps the draft, where it changed and can be kept.
fn save_draft(app: &mut App) -> Option<Call> {
    let text = app.editor.text();
    if app.observer || !app.is_up() || app.project.is_none() || app.draft.saved == text {
        return None;
    }
    app.draft.saved = text.to_owned();
    let text = text.to_owned();
    Some(match app.session_id() {
        Some(session) => Call::DraftSet { session, text },
        None => Call::UiSet { key: daemon::NEW_DRAFT, value: text.into() },
    })
}

/// What follows from any change.
fn settle(app: &mut App, out: &mut Vec<Effect>) {
    if app.left {
        return;
    }
    send_next(app, out);
    fetch_older(app, out);
    if app.transcript.anchor == Anchor::End {
        app.model.trim();
    }
    let title = window_title(app);
    if title != app.title {
        app.title.clone_from(&title);
        out.push(Effect::Title(title));
    }
}

/// Sends the first message that the daemon does not have, one at a time, so that their order stays.
fn send_next(app: &mut App, out: &mut Vec<Effect>) {
    daemon::start_for_message(app, out);
    if !app.is_up() || !app.ready || app.observer {
        return;
    }
    let session = app.session_id();
    if let Some(first) = app.outbox.front_mut().filter(|first| !first.on_its_way) {
        first.on_its_way = true;
        let (client_id, text) = (first.client_id.clone(), first.text.clone());
        out.push(Effect::Call(Call::Submit { session, client_id, text }));
    }
}

fn fetch_older(app: &mut App, out: &mut Vec<Effect>) {
    let Some(session) = app.session_id() else { return };
    if app.loading || !app.subscribed || !app.is_up() {
        return;
    }
    let before = match app.model.gap {
        Some((_, before)) => Some(before),
        None if app.model.from_start => None,
        None => {
            let near = app.transcript.near_start(app.setting());
            near.then(|| app.model.items.keys().next().copied()).flatten()
        }
    };
    if let Some(before) = before {
        app.loading = true;
        out.push(Effect::Call(Call::Older { session, before }));
    }
}

/// `? stats: Fix the percentiles`.
fn window_title(app: &App) -> String {
    let place = app.project.as_ref().map_or(&app.place, |project| &project.name);
    let mark = if !app.model.approvals.is_empty() {
        "? "
    } else if app.model.is_working() {
        "> "
    } else {
        ""
    };
    match app.model.session.as_ref().map(|session| session.title.trim()).filter(|title| !title.is_empty()) {
        Some(title) => format!("{mark}{place}: {title}"),
        None => format!("{mark}{place}"),
    }
}

/// Keeps the draft and ends.
pub(super) fn leave(app: &mut App, out: &mut Vec<Effect>) {
    if app.left {
        return;
    }
    app.left = true;
    app.draft.due = None;
    out.extend(save_draft(app).map(Effect::LastCall));
    out.push(Effect::Leave);
}

/// There is nothing to show: ends with an error.
pub(super) fn fail(app: &mut App, error: air_contracts::AirError, out: &mut Vec<Effect>) {
    app.fatal = Some(error);
    leave(app, out);
}

/// Another session, or none yet.
pub(super) fn forget_session(app: &mut App) {
    app.model = Model::default();
    app.transcript.clear();
}
