//! The connection comes and goes; what the daemon tells.

use air_contracts::AirError;

use crate::app::event::{Call, Connected, Effect};
use crate::app::history;
use crate::app::model::Touched;
use crate::app::state::{App, Away, Link};
use crate::rpc::Notification;
use crate::text::style::Role;

/// The key of `ui_state/*` for a draft before there is a session.
pub(super) const NEW_DRAFT: &str = "tui.draft";
/// Between two tries to connect, in milliseconds: from, and at most.
const BACKOFF_MS: (u64, u64) = (100, 2_000);
/// How long it is said that the connection is back, in milliseconds.
const BACK_MS: i64 = 3_000;

pub(super) fn connected(app: &mut App, connected: Connected, out: &mut Vec<Effect>) {
    let Connected { server, project } = connected;
    let was_there = app.instance.is_some();
    let same = app.instance == Some(server.instance_id);
    if was_there {
        let text = if same { "connected again" } else { "aird restarted, nothing lost" };
        let seconds = match app.link {
            Link::Down { since, .. } => app.now.millis_since(since) / 1000,
            Link::Up => 0,
        };
        app.banner = Some((format!("{text}: {seconds} s"), app.after(BACK_MS)));
    }
    app.instance = Some(server.instance_id);
    app.version = server.server.version;
    app.link = Link::Up;
    (app.subscribed, app.ready, app.loading) = (false, false, true);
    if let Some(warning) = project.warnings.first().filter(|_| !was_there) {
        app.say(Role::Warn, crate::text::escape::visible_line(warning), super::SAID_MS);
    }
    app.project = Some(project);
    for unsent in &mut app.outbox {
        // The same key again: the daemon knows whether it has it.
        unsent.on_its_way = false;
    }
    let session = app.session_id().or_else(|| app.session.clone());
    out.push(Effect::Call(Call::Snapshot { session }));
    if !was_there {
        out.push(Effect::Call(Call::UiGet { key: history::KEY }));
    }
    // The next frame is that of the snapshot.
    app.dirty |= was_there;
}

pub(super) fn connect_failed(app: &mut App, error: AirError, out: &mut Vec<Effect>) {
    // Another version, a folder that is refused: trying again changes nothing.
    let lasting = !crate::plain::is_lost(&error);
    if lasting && app.instance.is_none() {
        return super::fail(app, error, out);
    }
    let Link::Down { since, tries, why } = app.link else { return };
    let tries = tries + 1;
    app.link = Link::Down { since, tries, why };
    let start = why != Away::Stopped;
    if lasting || (tries > 1 && start) {
        let hint =
            error.hints.first().map(|hint| format!(" · {}", hint.replace('\t', "  "))).unwrap_or_default();
        app.say(Role::Bad, format!("{} ({}){hint}", error.message, error.code), 60_000);
    }
    let wait = (BACKOFF_MS.0 << tries.min(5)).min(BACKOFF_MS.1);
    let after_ms = if lasting { BACKOFF_MS.1 } else { wait };
    out.push(Effect::Connect { after_ms, observer: app.observer, start });
    app.dirty = true;
}

pub(super) fn lost(app: &mut App, stopped: bool, out: &mut Vec<Effect>) {
    if !app.is_up() {
        return;
    }
    let why = if stopped { Away::Stopped } else { Away::Broken };
    app.link = Link::Down { since: app.now, tries: 0, why };
    (app.subscribed, app.ready, app.loading) = (false, false, false);
    for unsent in &mut app.outbox {
        unsent.on_its_way = false;
    }
    // A daemon that says goodbye takes a moment to end.
    let after_ms = if stopped { BACKOFF_MS.0 } else { 0 };
    out.push(Effect::Connect { after_ms, observer: app.observer, start: !stopped });
    app.dirty = true;
}

/// A message starts a daemon again that was stopped.
pub(super) fn start_for_message(app: &mut App, out: &mut Vec<Effect>) {
    if let Link::Down { since, why: Away::Stopped, .. } = app.link
        && !app.outbox.is_empty()
    {
        app.link = Link::Down { since, tries: 0, why: Away::Broken };
        out.push(Effect::Connect { after_ms: 0, observer: app.observer, start: true });
    }
}

pub(super) fn notified(app: &mut App, notification: Notification, out: &mut Vec<Effect>) {
    let Some(id) = app.model.session.as_ref().map(|session| session.id) else { return };
    match notification {
        Notification::ProjectionChanged(changed) if changed.session_id == id => {
            let touched = app.model.changed(changed);
            take(app, touched, out);
        }
        Notification::StreamDelta(delta) if delta.session_id == id => {
            app.model.delta(delta);
            app.dirty = true;
        }
        Notification::StreamResync(resync) if resync.session_id == id => resync_now(app, out),
        Notification::Lagged => resync_now(app, out),
        _ => {}
    }
}

fn resync_now(app: &mut App, out: &mut Vec<Effect>) {
    app.loading = true;
    out.push(Effect::Call(Call::Snapshot { session: app.session_id() }));
}

/// What a change of the session means for the screen.
pub(super) fn take(app: &mut App, touched: Touched, out: &mut Vec<Effect>) {
    app.transcript.touch(&touched.items);
    if !touched.asked.is_empty() {
        out.push(Effect::Ring);
    }
    app.dirty = true;
}
