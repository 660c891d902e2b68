//! ^C and Esc: back first, then stop, and leaving asks twice.

use super::focus;
use crate::app::event::{Call, Effect};
use crate::app::state::{App, Focus};
use crate::text::style::Role;

/// A second Esc within this stops the turn, in milliseconds.
const TWICE_MS: i64 = 500;
/// A second ^C within this leaves, in milliseconds.
const LEAVE_MS: i64 = 2_000;

pub(super) fn control_c(app: &mut App, out: &mut Vec<Effect>) {
    if app.focus == Focus::Overlay && !app.overlays.is_empty() {
        return focus::close(app);
    }
    if !app.editor.is_empty() {
        let text = app.editor.take();
        app.history.add(&text);
        super::typing::changed(app);
        return out.extend(super::typing::keep_history(app));
    }
    if !app.observer && app.is_up() && app.model.is_working() {
        return stop(app, out);
    }
    if app.leaving_until.is_some() {
        return super::leave(app, out);
    }
    app.leaving_until = Some(app.after(LEAVE_MS));
    app.say(Role::Warn, "^C again leaves; work goes on", LEAVE_MS);
}

/// Stops the turn that runs.
pub(super) fn stop(app: &mut App, out: &mut Vec<Effect>) {
    if let Some(session) = app.session_id() {
        app.say(Role::Warn, "stopping", super::SAID_MS);
        out.push(Effect::Call(Call::Interrupt { session }));
    }
}

/// Esc outside of overlays: back to the conversation; twice: the turn is stopped.
pub(super) fn escape(app: &mut App, out: &mut Vec<Effect>) {
    let twice = app.last_esc.take().is_some_and(|at| app.now.millis_since(at) <= TWICE_MS as u64);
    if twice && !app.observer && app.is_up() && app.model.is_working() {
        return stop(app, out);
    }
    app.last_esc = Some(app.now);
    if app.focus == Focus::Transcript {
        app.transcript.selected = None;
    }
    focus::set(app, Focus::Transcript);
}
