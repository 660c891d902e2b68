//! Keys of overlays.

use air_contracts::ids::ShortRef;

use super::{focus, letters, question};
use crate::app::diff::Listed;
use crate::app::event::{Call, Effect};
use crate::app::lists;
use crate::app::overlay::{Confirm, DiffOf, Overlay};
use crate::app::state::App;
use crate::app::terminal::keys::{Key, KeyCode};
use crate::app::views;

pub(super) fn key(app: &mut App, key: Key, out: &mut Vec<Effect>) {
    if matches!(app.overlays.last(), Some(Overlay::Question(_))) {
        return question::key(app, key, out);
    }
    if confirmed(app, key, out) {
        return;
    }
    let code = match key.code {
        KeyCode::Char(_) if key.typed().is_none() => return,
        code => code,
    };
    if matches!(code, KeyCode::Esc | KeyCode::Backspace) {
        return focus::close(app);
    }
    if moved(app, code) || own(app, code, out) {
        return;
    }
    if let KeyCode::Char(c) = code {
        letters::letter(app, c, out);
    }
}

/// An open question of ours: `y` does it.
fn confirmed(app: &mut App, key: Key, out: &mut Vec<Effect>) -> bool {
    let Some(confirm) = app.overlay().and_then(Overlay::list).and_then(|list| list.confirm.take()) else {
        return false;
    };
    if key.typed() == Some('y') {
        match confirm {
            Confirm::CancelTask(task) => out.push(Effect::Call(Call::CancelTask { task })),
        }
    }
    true
}

/// Rows that are moved by a key.
fn moved(app: &mut App, code: KeyCode) -> bool {
    let page = isize::try_from(app.areas().over.height).unwrap_or(1).saturating_sub(4).max(1);
    let by = match code {
        KeyCode::Up | KeyCode::Char('k') => -1,
        KeyCode::Down | KeyCode::Char('j') => 1,
        KeyCode::PageUp => -page,
        KeyCode::PageDown | KeyCode::Char(' ') => page,
        KeyCode::Home | KeyCode::Char('g') => isize::MIN / 2,
        KeyCode::End | KeyCode::Char('G') => isize::MAX / 2,
        _ => return false,
    };
    scroll(app, by);
    true
}

/// Moves the mark of a list, or scrolls.
pub(super) fn scroll(app: &mut App, by: isize) {
    let Some(mut top) = app.overlays.pop() else { return };
    let length = lists::length(app, &top);
    match &mut top {
        Overlay::Run(pane) => {
            let last = views::run::last_top(app, pane);
            let to = pane.top.unwrap_or(last).saturating_add_signed(by).min(last);
            pane.top = (to < last).then_some(to);
        }
        Overlay::Diff(pane) => {
            let rows = pane.diff.as_ref().map_or(0, |diff| diff.listed().len());
            pane.top = pane.top.saturating_add_signed(by).min(rows.saturating_sub(1));
        }
        Overlay::Question(pane) => pane.top = pane.top.saturating_add_signed(by).min(10_000),
        other => {
            if let Some(list) = other.list() {
                list.at = list.at.saturating_add_signed(by).min(length.saturating_sub(1));
            }
        }
    }
    app.overlays.push(top);
    app.dirty = true;
}

/// Letters that an overlay has for itself.
fn own(app: &mut App, code: KeyCode, out: &mut Vec<Effect>) -> bool {
    match app.overlays.last() {
        Some(Overlay::Tasks(list)) => {
            let at = list.at;
            tasks(app, at, code, out)
        }
        Some(Overlay::Questions(list)) => {
            let short = lists::questions(app).get(list.at).map(|one| one.short);
            match (code, short) {
                (KeyCode::Enter, Some(short)) => focus::open_question(app, short),
                _ => return false,
            }
            true
        }
        Some(Overlay::Runs(list)) => {
            let short = lists::runs(app).get(list.at).map(|run| run.short);
            open_run(app, code, short, out)
        }
        Some(Overlay::Workers(list)) => {
            let agent = lists::workers(app).get(list.at).map(|agent| agent.short);
            let run = agent.and_then(|agent| {
                app.model.runs().rev().find(|(_, run)| run.agent == Some(agent)).map(|(_, run)| run.short)
            });
            open_run(app, code, run, out)
        }
        Some(Overlay::Evidence(pane)) => {
            let run = pane.items.as_ref().and_then(|items| items.get(pane.list.at)).and_then(|one| one.run);
            open_run(app, code, run, out)
        }
        Some(Overlay::Run(_)) => run(app, code),
        Some(Overlay::Diff(_)) => diff(app, code, out),
        Some(Overlay::Help(_) | Overlay::Question(_)) | None => false,
    }
}

fn open_run(app: &mut App, code: KeyCode, run: Option<ShortRef>, out: &mut Vec<Effect>) -> bool {
    match (code, run) {
        (KeyCode::Enter, Some(run)) => focus::open_run(app, run, out),
        (KeyCode::Enter, None) => {}
        _ => return false,
    }
    true
}

fn tasks(app: &mut App, at: usize, code: KeyCode, out: &mut Vec<Effect>) -> bool {
    let Some((task, settled)) = lists::tasks(app).get(at).map(|task| (task.short, task.status.is_settled()))
    else {
        return false;
    };
    match code {
        KeyCode::Enter | KeyCode::Char('e') => focus::open_evidence(app, Some(task), out),
        KeyCode::Char('d') => focus::open_diff(app, DiffOf::Task(task), out),
        KeyCode::Char('X') if !app.observer && !settled => {
            if let Some(list) = app.overlay().and_then(Overlay::list) {
                list.confirm = Some(Confirm::CancelTask(task));
            }
        }
        KeyCode::Char('r') if !app.observer && settled => out.push(Effect::Call(Call::RetryTask { task })),
        KeyCode::Char('r') => {}
        _ => return false,
    }
    true
}

fn run(app: &mut App, code: KeyCode) -> bool {
    match (code, app.overlays.last_mut()) {
        (KeyCode::Char('f'), Some(Overlay::Run(pane))) => pane.top = None,
        _ => return false,
    }
    true
}

/// Moves by hunks and files, folds a file, goes to the turn before or after.
fn diff(app: &mut App, code: KeyCode, out: &mut Vec<Effect>) -> bool {
    if let KeyCode::Char(c @ ('n' | 'p')) = code {
        return other_turn(app, c == 'n', out);
    }
    let Some(Overlay::Diff(pane)) = app.overlays.last_mut() else { return false };
    let Some(diff) = pane.diff.as_mut() else { return false };
    let listed = diff.listed();
    let is_hunk = |listed: &Listed| match listed {
        Listed::File(_) => false,
        Listed::Row(file, row) => {
            diff.files.get(*file).and_then(|file| file.rows.get(*row)).is_some_and(views::diff::is_hunk)
        }
    };
    let is_file = |listed: &Listed| matches!(listed, Listed::File(_));
    let found = match code {
        KeyCode::Char(']') => next(&listed, pane.top, is_hunk),
        KeyCode::Char('[') => previous(&listed, pane.top, is_hunk),
        KeyCode::Char('}') => next(&listed, pane.top, is_file),
        KeyCode::Char('{') => previous(&listed, pane.top, is_file),
        KeyCode::Enter | KeyCode::Char('z') => {
            let at = listed.get(pane.top).map(|listed| match listed {
                Listed::File(file) | Listed::Row(file, _) => *file,
            });
            let file = at.and_then(|at| diff.files.get_mut(at));
            if let Some(file) = file {
                file.folded = !file.folded;
            }
            let head = listed.iter().position(|listed| at.is_some_and(|at| *listed == Listed::File(at)));
            pane.top = head.unwrap_or(pane.top);
            return true;
        }
        _ => return false,
    };
    pane.top = found.unwrap_or(pane.top);
    true
}

fn next(listed: &[Listed], from: usize, wanted: impl Fn(&Listed) -> bool) -> Option<usize> {
    listed.iter().enumerate().skip(from + 1).find(|(_, one)| wanted(one)).map(|(at, _)| at)
}

fn previous(listed: &[Listed], from: usize, wanted: impl Fn(&Listed) -> bool) -> Option<usize> {
    listed.iter().take(from).rposition(wanted)
}

fn other_turn(app: &mut App, forward: bool, out: &mut Vec<Effect>) -> bool {
    let Some(Overlay::Diff(pane)) = app.overlays.last() else { return false };
    let turns: Vec<ShortRef> = app.model.turns.keys().copied().collect();
    let here = match pane.of {
        DiffOf::Turn(turn) => turns.iter().position(|one| *one == turn),
        DiffOf::Session | DiffOf::Task(_) => None,
    };
    let to = match (here, forward) {
        (Some(at), true) => turns.get(at + 1),
        (Some(at), false) => at.checked_sub(1).and_then(|at| turns.get(at)),
        (None, _) => turns.last(),
    };
    if let Some(turn) = to.copied() {
        app.overlays.pop();
        focus::open_diff(app, DiffOf::Turn(turn), out);
    }
    true
}
