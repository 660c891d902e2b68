//! Where a key goes: to what holds everywhere, else to what has the focus.

use super::{control, focus, letters, overlay, typing};
use crate::app::event::Effect;
use crate::app::lists::{self, Target};
use crate::app::overlay::{List, Overlay};
use crate::app::state::{App, Focus};
use crate::app::terminal::keys::{Key, KeyCode};

pub(super) fn key(app: &mut App, key: Key, out: &mut Vec<Effect>) {
    if is_guarded(app) {
        return;
    }
    if app.leaving_until.is_none() {
        app.notice = None;
    }
    if std::mem::take(&mut app.prefix) {
        return after_prefix(app, key, out);
    }
    if everywhere(app, key, out) {
        return;
    }
    match app.focus {
        Focus::Input => typing::key(app, key, out),
        Focus::Overlay => overlay::key(app, key, out),
        Focus::Transcript => transcript(app, key, out),
        Focus::Sidebar => sidebar(app, key, out),
    }
}

/// A question that just got the focus takes no key: it may have been on its way to something else.
fn is_guarded(app: &App) -> bool {
    let guard = match app.overlays.last() {
        Some(Overlay::Question(pane)) => pane.guard,
        _ => return false,
    };
    app.focus == Focus::Overlay && app.now < guard
}

fn everywhere(app: &mut App, key: Key, out: &mut Vec<Effect>) -> bool {
    match (key.code, key.ctrl) {
        (KeyCode::Char('x'), true) => app.prefix = true,
        (KeyCode::Char('c'), true) => control::control_c(app, out),
        (KeyCode::Char('l'), true) => out.push(Effect::Redraw),
        (KeyCode::Char('z'), true) => out.push(Effect::Suspend),
        (KeyCode::Char('d'), true) if app.focus != Focus::Input || app.editor.is_empty() => {
            super::leave(app, out)
        }
        (KeyCode::Tab, false) => focus::step(app, true),
        (KeyCode::BackTab, _) => focus::step(app, false),
        (KeyCode::PageUp, _) if app.focus != Focus::Overlay => page(app, -1),
        (KeyCode::PageDown, _) if app.focus != Focus::Overlay => page(app, 1),
        _ => return false,
    }
    true
}

fn after_prefix(app: &mut App, key: Key, out: &mut Vec<Effect>) {
    match key.code {
        KeyCode::Enter => typing::submit(app, out),
        KeyCode::Char('e') if key.ctrl && !app.observer => {
            out.push(Effect::Edit(app.editor.text().to_owned()))
        }
        KeyCode::Char('c') if key.ctrl => control::control_c(app, out),
        KeyCode::Char(c) if !key.ctrl && !key.alt => {
            letters::letter(app, c, out);
        }
        _ => {}
    }
}

fn transcript(app: &mut App, key: Key, out: &mut Vec<Effect>) {
    match key.code {
        KeyCode::Char('j') | KeyCode::Down => {
            app.with_transcript(|transcript, at| transcript.select(true, at))
        }
        KeyCode::Char('k') | KeyCode::Up => {
            app.with_transcript(|transcript, at| transcript.select(false, at))
        }
        KeyCode::Char('g') | KeyCode::Home => app.with_transcript(|transcript, at| transcript.show_start(at)),
        KeyCode::Char('G') | KeyCode::End => to_end(app),
        KeyCode::Char(' ') => page(app, 1),
        KeyCode::Char('[') => turn(app, false),
        KeyCode::Char(']') => turn(app, true),
        KeyCode::Char('z') => {
            if let Some(key) = app.transcript.selected {
                app.transcript.flip(key);
            }
        }
        KeyCode::Char('Z') => app.transcript.flip_all(),
        KeyCode::Char('i') => focus::set(app, Focus::Input),
        KeyCode::Enter => open_selected(app, out),
        KeyCode::Esc => control::escape(app, out),
        KeyCode::Char(c) if key.typed().is_some() => {
            letters::letter(app, c, out);
        }
        _ => {}
    }
}

/// Follows the end, and marks nothing.
pub(super) fn to_end(app: &mut App) {
    app.transcript.follow();
    app.transcript.selected = None;
    app.dirty = true;
}

pub(super) fn page(app: &mut App, by: isize) {
    app.with_transcript(|transcript, at| {
        let rows = isize::try_from(at.height).unwrap_or(1).saturating_sub(2).max(1);
        transcript.scroll(by * rows, at);
    });
}

pub(super) fn wheel(app: &mut App, by: i32) {
    match app.overlays.is_empty() {
        true => app.with_transcript(|transcript, at| transcript.scroll(by as isize, at)),
        false => overlay::scroll(app, by as isize),
    }
}

/// Marks the message that began the turn before or after.
fn turn(app: &mut App, forward: bool) {
    let at = app.transcript.selected.unwrap_or(if forward { 0 } else { u64::MAX });
    let starts = |(_, item): &(&u64, &air_contracts::projection::ItemView)| {
        matches!(item.body, air_contracts::projection::ItemBody::UserMessage { .. })
    };
    let found = if forward {
        app.model.items.range(at.saturating_add(1)..).find(starts).map(|(key, _)| *key)
    } else {
        app.model.items.range(..at).rev().find(starts).map(|(key, _)| *key)
    };
    if let Some(key) = found {
        app.with_transcript(|transcript, at| transcript.mark(key, at));
    }
}

fn open_selected(app: &mut App, out: &mut Vec<Effect>) {
    use air_contracts::projection::ItemBody;
    let Some(key) = app.transcript.selected else { return };
    let Some(item) = app.model.items.get(&key) else { return };
    match &item.body {
        ItemBody::ToolRun { run } => {
            let short = run.short;
            focus::open_run(app, short, out);
        }
        ItemBody::Approval { approval } if app.model.approvals.contains_key(&approval.short) => {
            let short = approval.short;
            focus::open_question(app, short);
        }
        ItemBody::Evidence { evidence } => {
            let task = evidence.task;
            focus::open_evidence(app, Some(task), out);
        }
        _ => app.transcript.flip(key),
    }
}

fn sidebar(app: &mut App, key: Key, out: &mut Vec<Effect>) {
    let targets = lists::sidebar(app);
    let last = targets.len().saturating_sub(1);
    app.sidebar = app.sidebar.min(last);
    match key.code {
        KeyCode::Char('j') | KeyCode::Down => app.sidebar = (app.sidebar + 1).min(last),
        KeyCode::Char('k') | KeyCode::Up => app.sidebar = app.sidebar.saturating_sub(1),
        KeyCode::Char('i') => focus::set(app, Focus::Input),
        KeyCode::Esc => focus::set(app, Focus::Transcript),
        KeyCode::Enter => match targets.get(app.sidebar) {
            Some(Target::Task(short)) => {
                let at = lists::tasks(app).iter().position(|task| task.short == *short).unwrap_or(0);
                focus::open(app, Overlay::Tasks(List { at, confirm: None }));
            }
            Some(Target::Worker(short)) => {
                let at = lists::workers(app).iter().position(|agent| agent.short == *short).unwrap_or(0);
                focus::open(app, Overlay::Workers(List { at, confirm: None }));
            }
            Some(Target::Question(short)) => focus::open_question(app, *short),
            None => {}
        },
        KeyCode::Char(c) if key.typed().is_some() => {
            letters::letter(app, c, out);
        }
        _ => {}
    }
}
