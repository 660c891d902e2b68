//! Answers of calls.

use air_contracts::AirError;
use air_contracts::ids::ShortRef;
use air_contracts::projection::ProjectionSnapshot;
use serde_json::Value;

use super::{daemon, typing};
use crate::app::diff::Diff;
use crate::app::event::{Call, Effect, Reply};
use crate::app::history;
use crate::app::overlay::Overlay;
use crate::app::state::App;
use crate::plain::is_lost;
use crate::text::style::Role;

pub(super) fn answered(app: &mut App, reply: Reply, out: &mut Vec<Effect>) {
    // Answers that show nothing cost no frame.
    app.dirty |= !matches!(reply, Reply::Subscribed | Reply::Done | Reply::Ui { .. });
    match reply {
        Reply::Snapshot(snapshot) => self::snapshot(app, snapshot, out),
        Reply::NoSession => no_session(app, out),
        Reply::Subscribed | Reply::Done | Reply::Continued => {}
        Reply::Older { before, items } => {
            app.loading = false;
            app.model.older(before, items);
        }
        Reply::Submitted { client_id, result } => {
            app.outbox.retain(|unsent| unsent.client_id != client_id);
            if app.model.session.as_ref().map(|session| session.id) != Some(result.session_id) {
                app.session = Some(result.session_id.to_string());
                (app.subscribed, app.loading) = (false, true);
                out.push(Effect::Call(Call::Snapshot { session: app.session.clone() }));
            }
        }
        Reply::Interrupted { stopped } => {
            let text = if stopped { "stopped · say what to change, or /continue" } else { "nothing runs" };
            app.say(Role::Warn, text, super::SAID_MS);
        }
        Reply::TakenBack { text } if app.editor.is_empty() => {
            app.editor.set(&text);
            typing::changed(app);
        }
        Reply::TakenBack { text } => app.history.add(&text),
        Reply::Draft { text } => draft(app, &text),
        Reply::Ui { key, value } => ui(app, key, &value, out),
        Reply::Agents(agents) => {
            app.model.agents.extend(agents.into_iter().map(|agent| (agent.short, agent)))
        }
        Reply::QuestionAnswered(short) => close_question(app, short),
        other => overlay(app, other, out),
    }
}

/// What an overlay asked for.
fn overlay(app: &mut App, reply: Reply, out: &mut Vec<Effect>) {
    match reply {
        Reply::Run(run) => {
            for overlay in &mut app.overlays {
                if let Overlay::Run(pane) = overlay
                    && pane.short == run.short
                {
                    pane.whole = Some(run.clone());
                }
            }
        }
        Reply::Evidence { task, items } => {
            for overlay in &mut app.overlays {
                if let Overlay::Evidence(pane) = overlay
                    && pane.task == task
                {
                    pane.items = Some(items.clone());
                }
            }
        }
        Reply::Changes { of, changes } => {
            let diff = Diff::new(changes);
            for overlay in &mut app.overlays {
                if let Overlay::Diff(pane) = overlay
                    && pane.of == of
                {
                    pane.diff = Some(diff.clone());
                }
            }
        }
        Reply::Failed { call, error } => failed(app, call, error, out),
        _ => {}
    }
}

fn snapshot(app: &mut App, snapshot: ProjectionSnapshot, out: &mut Vec<Effect>) {
    let same = app.model.session.as_ref().is_some_and(|session| session.id == snapshot.session.id);
    if same && app.subscribed && snapshot.seq < app.model.seq {
        // Changes came between: what is here is newer, and what was missed is in the next one.
        out.push(Effect::Call(Call::Snapshot { session: app.session_id() }));
        return;
    }
    if !same {
        super::forget_session(app);
    }
    (app.loading, app.ready) = (false, true);
    let session = snapshot.session.id.to_string();
    let after = snapshot.seq;
    let touched = app.model.snapshot(snapshot);
    daemon::take(app, touched, out);
    app.session = Some(session.clone());
    if !app.subscribed {
        app.subscribed = true;
        out.push(Effect::Call(Call::Subscribe { session: session.clone(), after }));
    }
    if !app.draft.asked && !app.observer {
        app.draft.asked = true;
        out.push(Effect::Call(Call::DraftGet { session }));
    }
    refresh(app, out);
}

/// Runs that are on the screen may have gone on meanwhile.
fn refresh(app: &App, out: &mut Vec<Effect>) {
    for overlay in &app.overlays {
        if let Overlay::Run(pane) = overlay {
            out.push(Effect::Call(Call::Run { run: pane.short }));
        }
    }
}

fn no_session(app: &mut App, out: &mut Vec<Effect>) {
    (app.loading, app.ready) = (false, true);
    app.model.from_start = true;
    if !app.draft.asked && !app.observer {
        app.draft.asked = true;
        out.push(Effect::Call(Call::UiGet { key: daemon::NEW_DRAFT }));
    }
}

/// The draft of the last client, where nothing was typed yet.
fn draft(app: &mut App, text: &str) {
    text.clone_into(&mut app.draft.saved);
    if app.editor.is_empty() && !text.is_empty() {
        app.editor.set(text);
        app.dirty = true;
    } else {
        app.draft.due = Some(app.now);
    }
}

fn ui(app: &mut App, key: &str, value: &Value, out: &mut Vec<Effect>) {
    match key {
        history::KEY => {
            let before = app.history.last().is_some();
            app.history.load(value);
            // What was sent before it came is not there yet.
            out.extend(typing::keep_history(app).filter(|_| before));
        }
        daemon::NEW_DRAFT => draft(app, value.as_str().unwrap_or("")),
        _ => {}
    }
}

fn close_question(app: &mut App, short: ShortRef) {
    let ours = |overlay: &Overlay| matches!(overlay, Overlay::Question(pane) if pane.short == short);
    if app.overlays.last().is_some_and(ours) {
        super::focus::close(app);
    }
    app.overlays.retain(|overlay| !ours(overlay));
}

fn failed(app: &mut App, call: Call, error: AirError, out: &mut Vec<Effect>) {
    if is_lost(&error) {
        // The loop tells the loss; what was to be sent is sent again then.
        return;
    }
    match call {
        Call::Submit { client_id, text, .. } => {
            app.outbox.retain(|unsent| unsent.client_id != client_id);
            if app.editor.is_empty() {
                app.editor.set(&text);
                typing::changed(app);
            }
        }
        Call::Answer { short, .. } => {
            for overlay in &mut app.overlays {
                if let Overlay::Question(pane) = overlay
                    && pane.short == short
                {
                    pane.sent = false;
                }
            }
        }
        Call::Older { .. } => {
            app.loading = false;
            app.model.gap = None;
            app.model.from_start = true;
        }
        Call::Snapshot { .. } if !app.ready => return super::fail(app, error, out),
        Call::Snapshot { .. } => app.loading = false,
        // Nobody asked for these; the next one will do.
        Call::DraftGet { .. } | Call::DraftSet { .. } | Call::UiGet { .. } | Call::UiSet { .. } => return,
        _ => {}
    }
    let hint = error.hints.first().map(|hint| format!(" · {}", hint.replace('\t', "  "))).unwrap_or_default();
    let text = crate::text::escape::visible_line(&format!("{} ({}){hint}", error.message, error.code));
    app.say(Role::Bad, text, 60_000);
}
