//! The end of a turn: the answer, what is verified, what changed, what it cost, what to do next.

use air_contracts::api::{OutcomeStatus, TaskOutcome, TurnOutcome};
use air_contracts::projection::{EvidenceView, TaskView};
use air_contracts::task::{CriterionOutcome, CriterionState};
use air_contracts::workspace::FileChange;

use super::amounts::{cost, tokens, total_time};
use super::block::labelled;
use super::escape::{visible_block, visible_line};
use super::layout::{cells, pad};
use super::style::{Pen, Role};
use super::words;

/// The text of a criterion is padded to at least this many cells.
const TEXT_MIN: usize = 32;
/// A longer one puts its evidence on the next line.
const TEXT_MAX: usize = 44;

/// Everything that the block is made of.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeReport<'a> {
    pub outcome: &'a TurnOutcome,
    /// Of the turn.
    pub evidence: &'a [EvidenceView],
    /// Of the turn.
    pub tasks: &'a [TaskView],
    /// Of the turn, with line counts.
    pub changes: &'a [FileChange],
}

impl OutcomeReport<'_> {
    /// For stdout: the answer to `Changed`. Empty for a turn that has not ended.
    pub fn result(&self, pen: Pen, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        match self.outcome.status {
            OutcomeStatus::Running | OutcomeStatus::Waiting => return lines,
            OutcomeStatus::Answered => {
                lines.extend(self.answer(pen, width));
                lines.extend([String::new(), "No claim to verify.".to_owned()]);
            }
            OutcomeStatus::Completed => {
                lines.extend(self.answer(pen, width));
                lines.push(String::new());
                lines.push(self.verified_heading(pen));
                lines.extend(self.criteria(pen));
            }
            status => {
                lines.push(self.not_done(status, pen));
                lines.extend(self.criteria(pen));
            }
        }
        let changed = self.changed(pen, width);
        let tried = self.tried();
        if !(changed.is_empty() && tried.is_empty()) {
            lines.push(String::new());
        }
        lines.extend(tried);
        lines.extend(changed);
        lines
    }

    /// For stderr: the cost, and what to do next.
    pub fn next(&self, pen: Pen, width: usize) -> Vec<String> {
        let mut lines = vec![self.cost_line(pen)];
        let next = self.next_steps(pen);
        if !next.is_empty() {
            lines.push(String::new());
            lines.extend(labelled(0, "Next", 9, &next.join(pen.dot()), width));
        }
        lines
    }

    fn answer(&self, pen: Pen, width: usize) -> Vec<String> {
        let text = visible_block(self.outcome.answer.trim_end());
        // On a terminal long lines are wrapped; what is piped is the source.
        if pen.colour {
            text.lines().flat_map(|line| wrap_prose(line, width)).collect()
        } else {
            text.lines().map(str::to_owned).collect()
        }
    }

    fn verified_heading(&self, pen: Pen) -> String {
        let proved = self
            .outcome
            .tasks
            .iter()
            .flat_map(|task| &task.criteria)
            .any(|c| c.state == CriterionState::Proved);
        let tree = self.outcome.tree.as_deref().or_else(|| self.evidence.last().map(|one| one.tree.as_str()));
        match (proved, tree) {
            (true, Some(tree)) => {
                pen.paint(Role::Bold, &format!("Verified on tree {}, after the last write", short_tree(tree)))
            }
            (true, None) => pen.paint(Role::Bold, "Verified, after the last write"),
            (false, _) => "Done, not proved: nothing that runs covers it".to_owned(),
        }
    }

    fn not_done(&self, status: OutcomeStatus, pen: Pen) -> String {
        let why = match (&self.outcome.error, self.outcome.blockers.first()) {
            (Some(error), _) => visible_line(&error.message),
            (None, Some(blocker)) => visible_line(&blocker.summary),
            (None, None) => visible_line(&self.outcome.answer),
        };
        let head = match status {
            OutcomeStatus::Failed | OutcomeStatus::Blocked => "Not done.".to_owned(),
            other => format!("Not done: {}.", words::outcome_status(other)),
        };
        format!("{} {why}", pen.paint(Role::Bad, &head)).trim_end().to_owned()
    }

    fn criteria(&self, pen: Pen) -> Vec<String> {
        let several = self.outcome.tasks.len() > 1;
        let mut lines = Vec::new();
        for task in &self.outcome.tasks {
            if several {
                let (mark, word) = words::task_status(task.status);
                lines.push(format!(
                    "{} {} {} ({word})",
                    pen.mark(mark),
                    task.short,
                    visible_line(&task.title)
                ));
            }
            let width = text_width(task);
            lines.extend(task.criteria.iter().flat_map(|criterion| self.criterion(criterion, width, pen)));
        }
        lines
    }

    fn criterion(&self, criterion: &CriterionOutcome, width: usize, pen: Pen) -> Vec<String> {
        let (mark, word) = words::criterion_state(criterion.state);
        let text = visible_line(&criterion.text);
        let evidence = self.evidence.iter().rfind(|one| criterion.evidence.contains(&one.id));
        let shown = evidence.map(|one| {
            let note = if criterion.note.is_empty() { &one.note } else { &criterion.note };
            format!("{} {} {}", pad(&one.short.to_string(), 3), pad(&proof(one), 10), visible_line(note))
        });
        let tail = match (criterion.state, shown) {
            (CriterionState::Stale, shown) => {
                let short = evidence.map(|one| pad(&one.short.to_string(), 3)).unwrap_or_default();
                let note =
                    shown.filter(|_| !criterion.note.is_empty()).map(|_| visible_line(&criterion.note));
                format!("{short} {}", note.unwrap_or_else(|| "stale: the tree changed after it".to_owned()))
                    .trim()
                    .to_owned()
            }
            (_, Some(shown)) => shown,
            (_, None) if criterion.note.is_empty() => word.to_owned(),
            (_, None) => visible_line(&criterion.note),
        };
        let head = format!("  {} {}", pen.mark(mark), pad(&text, width));
        if cells(&text) > width {
            vec![head, format!("{}{}", " ".repeat(width + 6), tail.trim_end())]
        } else {
            vec![format!("{head}  {}", tail.trim_end())]
        }
    }

    fn changed(&self, pen: Pen, width: usize) -> Vec<String> {
        let mut parts: Vec<String> = self.changes.iter().map(change).collect();
        if parts.is_empty() {
            parts = self.outcome.changed_files.iter().map(|path| visible_line(&path.display())).collect();
        }
        if parts.is_empty() {
            return parts;
        }
        let ended_well = matches!(self.outcome.status, OutcomeStatus::Completed | OutcomeStatus::Answered);
        let kept = if ended_well { "" } else { "  (kept)" };
        labelled(0, "Changed", 9, &format!("{}{kept}", parts.join(pen.dot())), width)
    }

    fn tried(&self) -> Vec<String> {
        if matches!(self.outcome.status, OutcomeStatus::Completed | OutcomeStatus::Answered) {
            return Vec::new();
        }
        let attempts: u64 = self.tasks.iter().map(|task| task.attempts.len() as u64).sum();
        if attempts == 0 {
            Vec::new()
        } else {
            vec![format!("Tried    {}", words::count(attempts, "attempt", "attempts"))]
        }
    }

    fn cost_line(&self, pen: Pen) -> String {
        let usage = &self.outcome.usage;
        let cached =
            if usage.cached > 0 { format!(", {} of it cached", tokens(usage.cached)) } else { String::new() };
        let parts = [
            cost(usage.cost_usd),
            format!("{} in{cached}", tokens(usage.input)),
            format!("{} out", tokens(usage.output)),
            total_time(self.outcome.duration_ms),
        ];
        format!("Cost     {}", parts.join(pen.dot()))
    }

    fn next_steps(&self, pen: Pen) -> Vec<String> {
        let outcome = self.outcome;
        let changed = !(outcome.changed_files.is_empty() && self.changes.is_empty());
        let diff = changed.then(|| "air diff".to_owned());
        let stuck =
            outcome.tasks.iter().find(|task| task.status != air_contracts::task::TaskStatus::Completed);
        let mut steps: Vec<String> = match outcome.status {
            OutcomeStatus::Waiting => {
                outcome.approvals.iter().map(|id| format!("air approve {id}")).collect()
            }
            OutcomeStatus::Failed | OutcomeStatus::Blocked => {
                let options: Vec<String> =
                    outcome.blockers.iter().flat_map(|one| one.options.clone()).collect();
                match (options.is_empty(), stuck) {
                    (false, _) => options.iter().map(|option| visible_line(option)).collect(),
                    (true, Some(task)) => {
                        vec![format!("air retry {} --note \"{}\"", task.short, pen.ellipsis())]
                    }
                    (true, None) => Vec::new(),
                }
            }
            OutcomeStatus::Interrupted => vec![format!("air continue --session {}", outcome.session)],
            OutcomeStatus::Budget => vec![format!("air continue --session {} --max-cost N", outcome.session)],
            _ => Vec::new(),
        };
        let had_diff = steps.iter().any(|step| step.starts_with("air diff"));
        steps.extend(diff.filter(|_| !had_diff));
        if outcome.status == OutcomeStatus::Completed {
            steps.extend(outcome.tasks.first().map(|task| format!("air evidence {}", task.short)));
        }
        steps
    }
}

fn wrap_prose(line: &str, width: usize) -> Vec<String> {
    // Indented lines and tables are code: they stay as they are.
    if line.starts_with([' ', '\t', '|']) { vec![line.to_owned()] } else { super::layout::wrap(line, width) }
}

fn text_width(task: &TaskOutcome) -> usize {
    let longest = task.criteria.iter().map(|criterion| cells(&visible_line(&criterion.text)));
    longest.filter(|width| *width <= TEXT_MAX).max().unwrap_or(0).max(TEXT_MIN)
}

/// The first digits of a tree id.
pub fn short_tree(tree: &str) -> &str {
    tree.get(..8).unwrap_or(tree)
}

/// `src/a.cpp  +1 -1`.
pub fn change(change: &FileChange) -> String {
    let path = visible_line(&change.path.display());
    match (change.added, change.removed) {
        (Some(added), Some(removed)) => format!("{path}  +{added} -{removed}"),
        _ => format!("{path}  {}", change.status),
    }
}

/// What showed it, in one word: the program of the check, `git.diff`, `review`.
pub fn proof(evidence: &EvidenceView) -> String {
    match evidence.kind.as_str() {
        "diff" => "git.diff".to_owned(),
        "check_passed" => evidence.command.as_deref().map_or_else(|| "check".to_owned(), program),
        other => other.to_owned(),
    }
}

/// The program of the last command of a line, without folder, assignments and `cd`.
fn program(command: &str) -> String {
    let last = command
        .rsplit("&&")
        .map(str::trim)
        .find(|part| !part.is_empty() && !part.starts_with("cd "))
        .unwrap_or("");
    let word = last.split_whitespace().find(|word| !word.contains('=')).unwrap_or("check");
    visible_line(word.rsplit('/').next().unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_check_is_its_last_command() {
        for (command, expected) in [
            ("cmake --build build -j2", "cmake"),
            ("cmake -S . -B b && cmake --build b && CTEST_OUTPUT=1 /usr/bin/ctest --test-dir b", "ctest"),
            ("cd x && make test", "make"),
            ("", "check"),
        ] {
            assert_eq!(program(command), expected, "{command}");
        }
    }
}
