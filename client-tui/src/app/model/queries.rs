//! Questions that the views ask of the session.

use air_contracts::ids::{RefKind, ShortRef, TaskId, TurnId};
use air_contracts::projection::{ItemBody, ItemView, SessionState, TaskView, ToolRunView, TurnView};
use air_contracts::session::TurnStatus;
use air_contracts::task::{CriterionState, TaskStatus};

use super::Model;

impl Model {
    /// The turn that runs.
    pub fn running_turn(&self) -> Option<&TurnView> {
        self.turns.values().rev().find(|turn| turn.status == TurnStatus::Running)
    }

    /// Turns that wait for the one before them, oldest first. One without a running turn before it is about to begin.
    pub fn queued(&self) -> impl Iterator<Item = &TurnView> {
        self.turns.values().filter(|turn| turn.status == TurnStatus::Queued)
    }

    /// Places of the messages that a person sent with a turn.
    pub fn messages_of(&self, turn: TurnId) -> Vec<u64> {
        let of = |item: &ItemView| item.turn_id == turn && matches!(item.body, ItemBody::UserMessage { .. });
        self.items.iter().filter(|(_, item)| of(item)).map(|(seq, _)| *seq).collect()
    }

    /// Whether the turn of an item waits behind another, or was taken back: its message is not said yet.
    pub fn is_unsaid(&self, turn: TurnId) -> bool {
        let found = self.turns.values().find(|one| one.id == turn).map(|turn| turn.status);
        match found {
            Some(TurnStatus::Queued) => self.running_turn().is_some(),
            Some(TurnStatus::Cancelled) => true,
            _ => false,
        }
    }

    /// The newest turn that has not been cancelled.
    pub fn last_turn(&self) -> Option<&TurnView> {
        self.turns
            .values()
            .rev()
            .find(|turn| !matches!(turn.status, TurnStatus::Cancelled | TurnStatus::Queued))
    }

    /// Whether something goes on that can be stopped.
    pub fn is_working(&self) -> bool {
        self.running_turn().is_some()
            || self.session.as_ref().is_some_and(|session| session.state == SessionState::Working)
    }

    /// Tasks of the newest turn that has any.
    pub fn current_tasks(&self) -> Vec<&TaskView> {
        let Some(turn) = self.tasks.values().next_back().map(|task| task.turn_id) else { return Vec::new() };
        self.tasks.values().filter(|task| task.turn_id == turn).collect()
    }

    /// Tasks on which somebody works.
    pub fn running_tasks(&self) -> impl Iterator<Item = &TaskView> {
        let active =
            |status| matches!(status, TaskStatus::Running | TaskStatus::Verifying | TaskStatus::Reviewing);
        self.tasks.values().filter(move |task| active(task.status))
    }

    /// The worker of a task that is there now.
    pub fn worker_of(&self, task: ShortRef) -> Option<ShortRef> {
        let mine = |state: &str, of: Option<ShortRef>| state == "running" && of == Some(task);
        self.agents.values().rev().find(|agent| mine(&agent.state, agent.task)).map(|agent| agent.short)
    }

    /// The short reference of a task.
    pub fn task_ref(&self, id: TaskId) -> Option<ShortRef> {
        self.tasks.values().find(|task| task.id == id).map(|task| task.short)
    }

    /// Tool runs that are here, oldest first, with their places.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = (u64, &ToolRunView)> {
        self.items.iter().filter_map(|(seq, item)| match &item.body {
            ItemBody::ToolRun { run } => Some((*seq, run)),
            _ => None,
        })
    }

    /// A run by its reference.
    pub fn run(&self, short: ShortRef) -> Option<&ToolRunView> {
        self.runs().map(|(_, run)| run).find(|run| run.short == short)
    }

    /// The newest run that has not ended, of an agent or of all.
    pub fn active_run(&self, agent: Option<ShortRef>) -> Option<&ToolRunView> {
        self.runs()
            .rev()
            .map(|(_, run)| run)
            .find(|run| run.status.is_none() && (agent.is_none() || run.agent == agent))
    }

    /// Short references of the evidence of a task, from the items that are here.
    pub fn evidence_of(&self, task: ShortRef) -> Vec<ShortRef> {
        let of = |item: &ItemView| match &item.body {
            ItemBody::Evidence { evidence } if evidence.task == task && !evidence.stale => {
                Some(evidence.short)
            }
            _ => None,
        };
        self.items.values().filter_map(of).collect()
    }

    /// What a person reads last: the answer of the newest turn that has one, or its last message.
    pub fn last_answer(&self) -> Option<String> {
        let turn = self.last_turn()?;
        if let Some(answer) = turn.answer.as_ref().filter(|answer| !answer.trim().is_empty()) {
            return Some(answer.clone());
        }
        self.items.values().rev().filter(|item| item.turn_id == turn.id && item.task.is_none()).find_map(
            |item| match &item.body {
                ItemBody::AssistantMessage { text, .. } if !text.trim().is_empty() => Some(text.clone()),
                _ => None,
            },
        )
    }

    /// Evidence of any kind, tasks of any state: how many criteria of a task are proved.
    pub fn proved(task: &TaskView) -> (usize, usize) {
        let proved = task.criteria.iter().filter(|one| one.state == CriterionState::Proved).count();
        (proved, task.criteria.len())
    }

    /// The oldest open question.
    pub fn oldest_question(&self) -> Option<ShortRef> {
        self.approvals.keys().find(|short| short.kind == RefKind::Approval).copied()
    }
}
