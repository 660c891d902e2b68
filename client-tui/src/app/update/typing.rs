//! The input: typing, sending, history, drafts.

use air_contracts::Result;

use super::{control, focus, slash};
use crate::app::editor::Edited;
use crate::app::event::{Call, Effect};
use crate::app::history;
use crate::app::overlay::Overlay;
use crate::app::state::{App, Focus, Unsent};
use crate::app::terminal::keys::{Key, KeyCode};
use crate::text::style::Role;

/// A draft is kept so long after typing, in milliseconds.
const DRAFT_MS: i64 = 1_000;

pub(super) fn key(app: &mut App, key: Key, out: &mut Vec<Effect>) {
    match key.code {
        KeyCode::Esc if !app.overlays.is_empty() => focus::close(app),
        KeyCode::Esc => control::escape(app, out),
        KeyCode::Enter if key.shift || key.alt || key.ctrl => {
            app.editor.new_line();
            changed(app);
        }
        KeyCode::Enter => enter(app, out),
        _ => match app.editor.key(key) {
            Edited::Text => {
                app.history.reset();
                changed(app);
            }
            Edited::PastTop => up(app, out),
            Edited::PastBottom => down(app),
            Edited::Cursor | Edited::No => {}
        },
    }
}

/// A paste never submits, and a question takes none.
pub(super) fn paste(app: &mut App, text: &str) {
    if let (Focus::Overlay, Some(Overlay::Question(pane))) = (app.focus, app.overlays.last_mut()) {
        if let Some(typing) = pane.typing.as_mut() {
            typing.paste(text);
        }
        return;
    }
    if app.focus == Focus::Input {
        app.editor.paste(text);
        app.history.reset();
        changed(app);
    }
}

/// The text is another: it is kept soon.
pub(super) fn changed(app: &mut App) {
    app.draft.due = Some(app.after(DRAFT_MS));
    app.dirty = true;
}

fn enter(app: &mut App, out: &mut Vec<Effect>) {
    if app.editor.continue_line() || app.editor.unfold() {
        return changed(app);
    }
    submit(app, out);
}

/// Sends what is typed, or does what it says.
pub(super) fn submit(app: &mut App, out: &mut Vec<Effect>) {
    if app.observer || app.editor.text().trim().is_empty() {
        return;
    }
    let text = app.editor.text().trim_end().to_owned();
    if let Some(command) = text.strip_prefix('/').filter(|command| !command.contains('\n')) {
        if slash::run(app, command, out) {
            app.editor.take();
            changed(app);
            app.history.add(&text);
            out.extend(keep_history(app));
        }
        return;
    }
    app.editor.take();
    app.history.add(&text);
    out.extend(keep_history(app));
    changed(app);
    app.sent += 1;
    let client_id = format!("{}-{}", app.client, app.sent);
    app.outbox.push_back(Unsent { client_id, text, on_its_way: false });
    super::keys::to_end(app);
}

/// The call that keeps the history.
pub(super) fn keep_history(app: &App) -> Option<Effect> {
    let can = !app.observer && app.is_up() && app.project.is_some();
    can.then(|| Effect::Call(Call::UiSet { key: history::KEY, value: app.history.value() }))
}

/// Takes the last message back that has not begun, else goes back in the history.
fn up(app: &mut App, out: &mut Vec<Effect>) {
    if app.editor.is_empty() {
        if app.outbox.back().is_some_and(|last| !last.on_its_way)
            && let Some(unsent) = app.outbox.pop_back()
        {
            app.editor.set(&unsent.text);
            return changed(app);
        }
        let queued = app.model.queued().last().filter(|_| app.is_up());
        if let Some(turn) = queued.filter(|_| app.model.running_turn().is_some()) {
            let (turn, text) = (turn.short, turn.text.clone());
            return out.push(Effect::Call(Call::TakeBack { turn, text }));
        }
    }
    if let Some(text) = app.history.up(app.editor.text()) {
        app.editor.set(&text);
        changed(app);
    }
}

fn down(app: &mut App) {
    if let Some(text) = app.history.down() {
        app.editor.set(&text);
        changed(app);
    }
}

/// The text as it was left in the editor; what could not be edited is as it was.
pub(super) fn edited(app: &mut App, result: Result<String>) {
    match result {
        Ok(text) => {
            let text = text.trim_end_matches('\n');
            if text != app.editor.text() {
                app.editor.set(text);
                changed(app);
            }
            focus::set(app, Focus::Input);
        }
        Err(error) => app.say(Role::Bad, error.message, super::SAID_MS),
    }
    app.dirty = true;
}
