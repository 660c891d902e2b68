//! Who gets the keys. Nothing takes the focus by itself.

use air_contracts::ids::ShortRef;

use crate::app::event::{Call, Effect};
use crate::app::geometry::has_sidebar;
use crate::app::overlay::{DiffOf, DiffPane, EvidencePane, Overlay, QuestionPane, RunPane};
use crate::app::state::{App, Focus};

/// One place that Tab goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Input,
    Overlay,
    /// An open question that is not on the screen yet.
    Question,
    Transcript,
    Sidebar,
}

/// The next place, or the one before.
pub(super) fn step(app: &mut App, forward: bool) {
    let stops = stops(app);
    let here = match app.focus {
        Focus::Input => Stop::Input,
        Focus::Overlay => Stop::Overlay,
        Focus::Transcript => Stop::Transcript,
        Focus::Sidebar => Stop::Sidebar,
    };
    let at = stops.iter().position(|stop| *stop == here).unwrap_or(0);
    let next = if forward { at + 1 } else { at + stops.len().saturating_sub(1) };
    match stops.get(next % stops.len().max(1)) {
        Some(Stop::Input) => set(app, Focus::Input),
        Some(Stop::Overlay) => set(app, Focus::Overlay),
        Some(Stop::Transcript) => set(app, Focus::Transcript),
        Some(Stop::Sidebar) => set(app, Focus::Sidebar),
        Some(Stop::Question) => {
            if let Some(short) = app.model.oldest_question() {
                open_question(app, short);
            }
        }
        None => {}
    }
}

fn stops(app: &App) -> Vec<Stop> {
    let covered = !app.overlays.is_empty();
    let mut stops = Vec::new();
    if !app.observer {
        stops.push(Stop::Input);
    }
    if covered {
        stops.push(Stop::Overlay);
        return stops;
    }
    if !app.model.approvals.is_empty() {
        stops.push(Stop::Question);
    }
    stops.push(Stop::Transcript);
    if has_sidebar(app.size) {
        stops.push(Stop::Sidebar);
    }
    stops
}

/// Gives the focus; an observer has no input.
pub(super) fn set(app: &mut App, focus: Focus) {
    let focus = if focus == Focus::Input && app.observer { Focus::Transcript } else { focus };
    let now = app.now;
    if focus == Focus::Overlay
        && app.focus != Focus::Overlay
        && let Some(Overlay::Question(pane)) = app.overlays.last_mut()
    {
        pane.focus(now);
    }
    app.focus = focus;
    app.dirty = true;
}

/// Puts an overlay in place of those that are there.
pub(super) fn open(app: &mut App, overlay: Overlay) {
    if app.overlays.is_empty() {
        app.under = app.focus;
    }
    app.overlays.clear();
    push(app, overlay);
}

/// Puts an overlay on top; Esc comes back.
pub(super) fn push(app: &mut App, overlay: Overlay) {
    if app.overlays.is_empty() && app.focus != Focus::Overlay {
        app.under = app.focus;
    }
    app.overlays.push(overlay);
    app.focus = Focus::Overlay;
    app.dirty = true;
}

/// Takes the top one away; under the last one the focus is where it was.
pub(super) fn close(app: &mut App) {
    app.overlays.pop();
    let focus = if app.overlays.is_empty() { app.under } else { app.focus };
    // One of the stack that comes up again got the focus anew.
    if app.overlays.last().is_some_and(|top| matches!(top, Overlay::Question(_))) {
        app.focus = Focus::Transcript;
    }
    set(app, focus);
}

pub(super) fn open_question(app: &mut App, short: ShortRef) {
    let Some(approval) = app.model.approvals.get(&short) else { return };
    let mut pane = QuestionPane::new(approval.id, short, app.now);
    if crate::app::views::question::letters(approval).is_empty() {
        pane.typing = Some(crate::app::views::question::editor());
    }
    push(app, Overlay::Question(Box::new(pane)));
}

pub(super) fn open_run(app: &mut App, short: ShortRef, out: &mut Vec<Effect>) {
    push(app, Overlay::Run(Box::new(RunPane { short, whole: None, top: None })));
    out.push(Effect::Call(Call::Run { run: short }));
}

pub(super) fn open_evidence(app: &mut App, task: Option<ShortRef>, out: &mut Vec<Effect>) {
    let Some(session) = app.session_id() else { return nothing(app) };
    push(app, Overlay::Evidence(EvidencePane { task, ..EvidencePane::default() }));
    out.push(Effect::Call(Call::Evidence { session, task }));
}

pub(super) fn open_diff(app: &mut App, of: DiffOf, out: &mut Vec<Effect>) {
    let Some(session) = app.session_id() else { return nothing(app) };
    push(app, Overlay::Diff(Box::new(DiffPane { of, diff: None, top: 0 })));
    out.push(Effect::Call(Call::Changes { session, of }));
}

fn nothing(app: &mut App) {
    app.say(crate::text::style::Role::Dim, "there is no session yet", super::SAID_MS);
}
