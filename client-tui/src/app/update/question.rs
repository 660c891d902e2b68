//! Answering a question: letters that never change, nothing by Enter alone, nothing within the guard.

use super::focus;
use crate::app::editor::Edited;
use crate::app::event::{Answer, Call, Effect};
use crate::app::overlay::{Overlay, QuestionPane};
use crate::app::state::App;
use crate::app::terminal::keys::{Key, KeyCode};
use crate::app::views;
use crate::text::question::{self, Choice};
use air_contracts::approval::{ApprovalDecision, ApprovalSubject};
use air_contracts::projection::ApprovalView;

pub(super) fn key(app: &mut App, key: Key, out: &mut Vec<Effect>) {
    let Some(Overlay::Question(mut pane)) = app.overlays.pop() else { return };
    let approval = app.model.approvals.get(&pane.short).cloned();
    let next = match approval {
        // It was answered elsewhere: there is nothing left but to close.
        None => {
            if matches!(key.code, KeyCode::Esc | KeyCode::Backspace) {
                Next::Close
            } else {
                Next::Stay
            }
        }
        Some(_) if app.observer || pane.sent => {
            if key.code == KeyCode::Esc {
                Next::Close
            } else {
                scrolled(&mut pane, key);
                Next::Stay
            }
        }
        Some(approval) => match pane.typing.is_some() {
            true => typing(&mut pane, &approval, key),
            false => choosing(&mut pane, &approval, key),
        },
    };
    let (id, short) = (pane.id, pane.short);
    if let Next::Answer(_) = &next {
        pane.sent = true;
    }
    app.overlays.push(Overlay::Question(pane));
    match next {
        Next::Stay => {}
        Next::Close => focus::close(app),
        Next::Answer(answer) => out.push(Effect::Call(Call::Answer { id, short, answer })),
    }
}

enum Next {
    Stay,
    Close,
    Answer(Answer),
}

fn scrolled(pane: &mut QuestionPane, key: Key) {
    match key.code {
        KeyCode::PageDown | KeyCode::Char(' ') => pane.top = (pane.top + 4).min(10_000),
        KeyCode::PageUp => pane.top = pane.top.saturating_sub(4),
        _ => {}
    }
}

fn choosing(pane: &mut QuestionPane, approval: &ApprovalView, key: Key) -> Next {
    let letters = views::question::letters(approval);
    match key.code {
        KeyCode::Esc if pane.whole => pane.whole = false,
        KeyCode::Esc => return Next::Close,
        KeyCode::Down | KeyCode::Up if !letters.is_empty() => {
            let last = letters.len() - 1;
            pane.marked = Some(match (pane.marked, key.code) {
                (None, KeyCode::Down) => 0,
                (None, _) => last,
                (Some(at), KeyCode::Down) => (at + 1).min(last),
                (Some(at), _) => at.saturating_sub(1),
            });
        }
        KeyCode::Enter => {
            // Only what was marked by hand.
            if let Some(letter) = pane.marked.and_then(|at| letters.get(at)) {
                return chosen(pane, approval, *letter);
            }
        }
        KeyCode::Char(c) if key.typed().is_some() && letters.contains(&c) => {
            return chosen(pane, approval, c);
        }
        _ => scrolled(pane, key),
    }
    Next::Stay
}

fn chosen(pane: &mut QuestionPane, approval: &ApprovalView, letter: char) -> Next {
    // An answer in one's own words to a question of the model.
    if letter == views::question::OWN && matches!(approval.subject, ApprovalSubject::Question { .. }) {
        pane.typing = Some(views::question::editor());
        return Next::Stay;
    }
    match question::choice(approval, &letter.to_string()) {
        Some(Choice::Allow(scope)) => Next::Answer(Answer::allow(scope)),
        Some(Choice::Deny) => {
            Next::Answer(Answer { decision: Some(ApprovalDecision::Deny), ..Answer::default() })
        }
        Some(Choice::Answer(text)) => Next::Answer(Answer { text: Some(text), ..Answer::default() }),
        Some(Choice::DenyWhy) => {
            pane.typing = Some(views::question::editor());
            Next::Stay
        }
        Some(Choice::View) => {
            pane.whole = !pane.whole;
            pane.top = 0;
            Next::Stay
        }
        None => Next::Stay,
    }
}

/// A reason, or an answer, is typed; Enter sends it, Esc goes back to the choices.
fn typing(pane: &mut QuestionPane, approval: &ApprovalView, key: Key) -> Next {
    let Some(editor) = pane.typing.as_mut() else { return Next::Stay };
    match key.code {
        KeyCode::Esc => pane.typing = None,
        KeyCode::Enter if key.shift || key.alt => editor.new_line(),
        KeyCode::Enter => {
            let text = editor.text().trim().to_owned();
            let is_call = matches!(approval.subject, ApprovalSubject::ToolCall { .. });
            if is_call {
                let note = (!text.is_empty()).then_some(text);
                let decision = Some(ApprovalDecision::Deny);
                return Next::Answer(Answer { decision, note, ..Answer::default() });
            }
            if !text.is_empty() {
                return Next::Answer(Answer { text: Some(text), ..Answer::default() });
            }
        }
        _ => match editor.key(key) {
            Edited::Text | Edited::Cursor | Edited::PastTop | Edited::PastBottom | Edited::No => {}
        },
    }
    Next::Stay
}
