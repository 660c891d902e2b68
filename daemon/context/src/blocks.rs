//! The texts that are written anew for each task and each request: L5, L7, L8 and L9.

use std::fmt::Write as _;

use air_contracts::project::ProjectCheck;
use air_contracts::task::{CriterionState, TaskSpec};

/// Bytes of earlier messages that a worker is given.
pub(crate) const CONVERSATION_BYTES: usize = 3 * 1024;

/// L5: the task as a contract.
pub(crate) fn task_block(task: &TaskSpec, task_ref: u64, checks: &[ProjectCheck]) -> String {
    let mut text = format!("# Task k{task_ref}: {}\n", task.title.trim());
    if !task.description.trim().is_empty() {
        let _ = writeln!(text, "{}", task.description.trim());
    }
    let _ = writeln!(text, "\n## The user's message\n{}", task.user_text.trim());
    if let Some(part) = task.part.as_deref().filter(|part| !part.trim().is_empty()) {
        let _ = writeln!(text, "\nThis task is one part of it: {}", part.trim());
    }
    if !task.acceptance_criteria.is_empty() {
        text.push_str("\n## Criteria\n");
        for (index, criterion) in task.acceptance_criteria.iter().enumerate() {
            let check =
                criterion.check.as_deref().map(|check| format!("  (check: {check})")).unwrap_or_default();
            let _ = writeln!(text, "{}. {}{check}", index + 1, criterion.text.trim());
        }
    }
    if !checks.is_empty() {
        text.push_str("\n## Checks of the project, run by `check.run` and again by the runtime at the end\n");
        for check in checks {
            let _ = writeln!(text, "- {}: {} (`{}`)", check.name, check.claim, check.command);
        }
    }
    if !task.scope.write.is_empty() {
        let _ = writeln!(text, "\nWrite only below: {}", task.scope.write.join(", "));
    }
    if !task.scope.deny.is_empty() {
        let _ = writeln!(text, "Leave alone: {}", task.scope.deny.join(", "));
    }
    if !task.context_refs.is_empty() {
        let _ = writeln!(text, "\nContext: {}", task.context_refs.join("; "));
    }
    text
}

/// L7: earlier messages of the user, newest first until the room is used, shown oldest first.
pub(crate) fn conversation_block(earlier: &[String], room: usize) -> Option<(String, usize)> {
    let mut kept: Vec<&str> = Vec::new();
    let mut used = 0;
    for text in earlier.iter().rev() {
        let text = text.trim();
        if used + text.len() > room {
            break;
        }
        used += text.len();
        kept.push(text);
    }
    if kept.is_empty() {
        return None;
    }
    let left_out = earlier.len() - kept.len();
    kept.reverse();
    let mut text = "# Earlier messages of the user\n".to_owned();
    for message in kept {
        let _ = writeln!(text, "> {}", message.replace('\n', "\n> "));
    }
    Some((text, left_out))
}

/// What L9 may tell. Lines that have nothing to say are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VolatileState {
    /// `k4`, attempt number.
    pub task: Option<(String, u32)>,
    /// State and note of each criterion, in order.
    pub criteria: Vec<(CriterionState, String)>,
    /// Failures that the baseline did not have.
    pub new_failures: Vec<String>,
    /// Short references and commands of what runs in the background.
    pub background: Vec<String>,
    /// Share of the context window that is used, 0–1.
    pub context_used: f32,
    /// `0.40 of $2.00 left`, when little is left.
    pub budget_left: Option<String>,
    /// Paths that something else changed.
    pub foreign_files: Vec<String>,
    /// What the runtime asks for now.
    pub reminder: Option<String>,
}

/// The longest L9, in bytes.
const VOLATILE_BYTES: usize = 800;

/// L9: at most 800 bytes, empty where there is nothing to tell.
pub fn volatile_block(state: &VolatileState) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some((task, attempt)) = &state.task
        && *attempt > 1
    {
        lines.push(format!("{task}, attempt {attempt}"));
    }
    for (index, (criterion, note)) in state.criteria.iter().enumerate() {
        let sign = match criterion {
            CriterionState::Proved | CriterionState::Reviewed => "✓",
            CriterionState::Failed => "✗",
            CriterionState::Stale => "~",
            CriterionState::Unproved => "–",
        };
        lines.push(format!("criterion {} {sign} {note}", index + 1));
    }
    for (label, items) in [
        ("new failures", &state.new_failures),
        ("running in the background", &state.background),
        ("changed by others meanwhile", &state.foreign_files),
    ] {
        if !items.is_empty() {
            lines.push(format!("{label}: {}", items.join(", ")));
        }
    }
    if state.context_used >= 0.5 {
        lines.push(format!("context {:.0} % used", state.context_used * 100.0));
    }
    if let Some(left) = &state.budget_left {
        lines.push(format!("budget: {left}"));
    }
    if let Some(reminder) = &state.reminder {
        lines.push(reminder.clone());
    }
    if lines.is_empty() {
        return String::new();
    }
    bounded(&format!("[state]\n{}", lines.join("\n")), VOLATILE_BYTES)
}

/// The text, cut at a character with a sign where it is too long.
fn bounded(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub(4);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{} …", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volatile_block_is_silent_or_bounded() {
        assert_eq!(volatile_block(&VolatileState { task: Some(("k1".into(), 1)), ..Default::default() }), "");
        let state = VolatileState { new_failures: vec!["ä".repeat(2_000)], ..Default::default() };
        let text = volatile_block(&state);
        assert!(text.len() <= VOLATILE_BYTES && text.ends_with('…'), "{}", text.len());
    }

    #[test]
    fn the_newest_messages_are_kept() {
        let earlier = ["a".repeat(50), "second\nline".to_owned(), "third".to_owned()];
        let (text, left_out) = conversation_block(&earlier, 20).unwrap();
        assert_eq!(text, "# Earlier messages of the user\n> second\n> line\n> third\n");
        assert_eq!(left_out, 1);
        assert_eq!(conversation_block(&earlier[..1], 20), None);
    }
}
