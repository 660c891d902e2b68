//! The session as Markdown, for the pager; and what is printed at the end.

use air_contracts::projection::{ItemBody, ItemView};

use super::state::App;
use crate::text::escape::{visible_block, visible_line};
use crate::text::{lines, words};

/// What is here of the conversation, as it was written: no wraps, no borders.
pub fn markdown(app: &App) -> String {
    let mut out = String::new();
    if let Some(session) = &app.model.session {
        out.push_str(&format!("# {} {}\n\n", session.short, visible_line(&session.title)));
    }
    if !app.model.from_start {
        out.push_str("(Earlier messages are not loaded: scroll up first, or see `air log`.)\n\n");
    }
    for item in app.model.items.values() {
        let text = self::item(item);
        if !text.is_empty() {
            out.push_str(&text);
            out.push('\n');
        }
    }
    for live in &app.model.live {
        out.push_str(&format!("\n{}\n", visible_block(&live.text)));
    }
    out
}

fn item(item: &ItemView) -> String {
    match &item.body {
        ItemBody::UserMessage { text, .. } => format!("\n## You\n\n{}\n", visible_block(text.trim_end())),
        ItemBody::AssistantMessage { text, .. } => format!("\n{}\n", visible_block(text.trim_end())),
        ItemBody::TurnEnded { status, answer } => {
            let (_, word) = words::turn_status(*status);
            format!("\n{}\n\n---- turn {word}\n", visible_block(answer.trim_end()))
        }
        ItemBody::Approval { approval } => lines::answered(approval, lines::LineStyle::Spoken)
            .map_or_else(String::new, |lines| lines.join("\n")),
        _ => lines::settled(item, lines::LineStyle::Spoken)
            .map_or_else(String::new, |lines| format!("- {}", lines.join("\n  "))),
    }
}

/// Printed on the normal screen when one leaves: the last answer, and one line.
pub fn farewell(app: &App) -> String {
    let Some(session) = &app.model.session else { return String::new() };
    let dot = app.theme.dot();
    let mut out = String::new();
    if let Some(answer) = app.model.last_answer() {
        out.push_str(&visible_block(answer.trim()));
        out.push_str("\n\n");
    }
    let running: Vec<String> = app.model.running_tasks().map(|task| task.short.to_string()).collect();
    let mut parts = Vec::new();
    if !running.is_empty() {
        parts.push(format!("{} running", running.join(" ")));
    } else if app.model.is_working() {
        parts.push("working".to_owned());
    }
    let open = app.model.approvals.len();
    if open > 0 {
        parts.push(words::count(open as u64, "question", "questions"));
    }
    if parts.is_empty() {
        parts.push(words::session_state(session.state).1.to_owned());
    }
    let question =
        app.model.oldest_question().map(|short| format!("{dot}air approve {short}")).unwrap_or_default();
    out.push_str(&format!("left {}: {}{dot}air{question}\n", session.short, parts.join(", ")));
    out
}
