//! Letters that mean the same in every view, after `^X` and as slash commands.

use super::{focus, keys};
use crate::app::event::{Call, Effect};
use crate::app::overlay::{DiffOf, List, Overlay};
use crate::app::state::{App, Away, Focus, Link};
use crate::app::{document, lists};

/// Does what a letter stands for; `false` where it stands for nothing.
pub(super) fn letter(app: &mut App, c: char, out: &mut Vec<Effect>) -> bool {
    match c {
        't' => focus::open(app, Overlay::Tasks(List::default())),
        'w' => workers(app, out),
        'r' => focus::open(app, Overlay::Runs(List::default())),
        'e' => {
            clear(app);
            focus::open_evidence(app, None, out);
        }
        'd' => {
            clear(app);
            focus::open_diff(app, newest_change(app), out);
        }
        'a' => questions(app),
        '?' => help(app),
        'F' => {
            close_all(app);
            keys::to_end(app);
        }
        'i' => focus::set(app, Focus::Input),
        'v' => out.push(Effect::Page(document::markdown(app))),
        'q' => super::leave(app, out),
        'D' if app.observer => drive(app, out),
        _ => return false,
    }
    true
}

/// The newest turn that changed files, else the session.
fn newest_change(app: &App) -> DiffOf {
    let changed = app.model.tasks.values().rev().find(|task| !task.changed_files.is_empty());
    let turn = changed.and_then(|task| app.model.turns.values().find(|turn| turn.id == task.turn_id));
    turn.map_or(DiffOf::Session, |turn| DiffOf::Turn(turn.short))
}

fn clear(app: &mut App) {
    if app.overlays.is_empty() {
        app.under = app.focus;
    }
    app.overlays.clear();
}

fn close_all(app: &mut App) {
    while !app.overlays.is_empty() {
        focus::close(app);
    }
}

fn help(app: &mut App) {
    if matches!(app.overlays.last(), Some(Overlay::Help(_))) {
        focus::close(app);
    } else {
        focus::push(app, Overlay::Help(List::default()));
    }
}

fn workers(app: &mut App, out: &mut Vec<Effect>) {
    focus::open(app, Overlay::Workers(List::default()));
    if let Some(session) = app.session_id() {
        out.push(Effect::Call(Call::Agents { session }));
    }
}

/// The one question, or the list of them.
fn questions(app: &mut App) {
    match lists::questions(app).as_slice() {
        [one] => {
            let short = one.short;
            clear(app);
            focus::open_question(app, short);
        }
        _ => focus::open(app, Overlay::Questions(List::default())),
    }
}

/// An observer becomes a driver: a new connection with the other role.
fn drive(app: &mut App, out: &mut Vec<Effect>) {
    app.observer = false;
    app.link = Link::Down { since: app.now, tries: 0, why: Away::Broken };
    (app.subscribed, app.ready, app.loading) = (false, false, false);
    focus::set(app, Focus::Input);
    out.push(Effect::Connect { after_ms: 0, observer: false, start: true });
}
