//! Commands by name: the same words as in the CLI.

use air_contracts::approval::ApprovalDecision;
use air_contracts::ids::{RefKind, ShortRef};
use air_contracts::permission::GrantScope;

use super::{control, letters};
use crate::app::event::{Answer, Call, Effect};
use crate::app::state::App;
use crate::text::style::Role;

/// Runs a command without its slash; `false` where it is none, or cannot be done.
pub(super) fn run(app: &mut App, command: &str, out: &mut Vec<Effect>) -> bool {
    let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
    let rest = rest.trim();
    let letter = match verb {
        "tasks" => 't',
        "workers" | "agents" => 'w',
        "runs" => 'r',
        "evidence" => 'e',
        "diff" => 'd',
        "approvals" => 'a',
        "help" => '?',
        "quit" => {
            // The command itself is no draft.
            app.editor.take();
            'q'
        }
        _ => return with_words(app, verb, rest, out),
    };
    letters::letter(app, letter, out)
}

fn with_words(app: &mut App, verb: &str, rest: &str, out: &mut Vec<Effect>) -> bool {
    match verb {
        "stop" => control::stop(app, out),
        "continue" => return go_on(app, rest, out),
        "approve" | "deny" | "answer" => return answer(app, verb, rest, out),
        "retry" | "cancel" => return task(app, verb, rest, out),
        "mouse" => {
            app.mouse = rest != "off";
            out.push(Effect::Mouse(app.mouse));
        }
        _ => {
            let text = format!("/{verb}: no such command · a space before / sends it as a message");
            return refuse(app, text);
        }
    }
    true
}

fn refuse(app: &mut App, text: impl Into<String>) -> bool {
    app.say(Role::Bad, text, super::SAID_MS);
    false
}

fn go_on(app: &mut App, note: &str, out: &mut Vec<Effect>) -> bool {
    let Some(session) = app.session_id() else { return refuse(app, "there is no session yet") };
    let note = (!note.is_empty()).then(|| note.to_owned());
    out.push(Effect::Call(Call::Continue { session, note }));
    true
}

/// `approve a7 session`, `deny a7 why`, `answer a7 text`.
fn answer(app: &mut App, verb: &str, rest: &str, out: &mut Vec<Effect>) -> bool {
    let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let rest = rest.trim();
    let found = name.parse::<ShortRef>().ok().and_then(|short| app.model.approvals.get(&short));
    let Some((id, short)) = found.map(|one| (one.id, one.short)) else {
        return refuse(app, format!("no open question {name} in this session"));
    };
    let text = (!rest.is_empty()).then(|| rest.to_owned());
    let answer = match (verb, rest) {
        ("approve", "" | "once") => Answer::allow(GrantScope::Once),
        ("approve", "session") => Answer::allow(GrantScope::Session),
        ("approve", "project") => Answer::allow(GrantScope::Project),
        ("approve", other) => return refuse(app, format!("{other}: not one of once, session, project")),
        ("deny", _) => Answer { decision: Some(ApprovalDecision::Deny), note: text, ..Answer::default() },
        _ => Answer { text, ..Answer::default() },
    };
    out.push(Effect::Call(Call::Answer { id, short, answer }));
    true
}

fn task(app: &mut App, verb: &str, name: &str, out: &mut Vec<Effect>) -> bool {
    let task = name.parse::<ShortRef>().ok().filter(|short| short.kind == RefKind::Task);
    let Some(task) = task else { return refuse(app, format!("/{verb} k1: which task?")) };
    out.push(Effect::Call(if verb == "retry" {
        Call::RetryTask { task }
    } else {
        Call::CancelTask { task }
    }));
    true
}

impl Answer {
    /// A yes of a scope.
    pub fn allow(scope: GrantScope) -> Self {
        Self { decision: Some(ApprovalDecision::Allow), scope: Some(scope), ..Self::default() }
    }
}
