//! The session as the daemon tells it: objects by their references, and text that is not whole yet.

mod live;
mod queries;

use std::collections::{BTreeMap, HashMap};

use air_contracts::api::ProjectionChanged;
use air_contracts::approval::ApprovalState;
use air_contracts::ids::{ShortRef, ToolRunId};
use air_contracts::projection::{
    AgentView, ApprovalView, HudView, ItemBody, ItemView, ProjectionChange, ProjectionSnapshot, SessionView,
    TaskView, TurnView,
};

pub use live::LiveText;

/// Items that are kept while the end is followed; older ones are fetched again when they are scrolled to.
const KEPT: usize = 1_000;
/// Items of a snapshot: with so many there may be older ones (`projection/snapshot`).
const TAIL: usize = 100;

/// Everything that is known about the session.
#[derive(Debug, Default)]
pub struct Model {
    /// The state is that of this place in the log.
    pub seq: u64,
    pub session: Option<SessionView>,
    pub turns: BTreeMap<ShortRef, TurnView>,
    /// By the place in the log.
    pub items: BTreeMap<u64, ItemView>,
    pub tasks: BTreeMap<ShortRef, TaskView>,
    pub agents: BTreeMap<ShortRef, AgentView>,
    /// Those that are open.
    pub approvals: BTreeMap<ShortRef, ApprovalView>,
    pub hud: Option<HudView>,
    /// Messages that are being written.
    pub live: Vec<LiveText>,
    /// The newest output of running commands.
    pub outputs: HashMap<ToolRunId, String>,
    /// Whether the first item of the session is here.
    pub from_start: bool,
    /// Items between these two may be missing after a long absence.
    pub gap: Option<(u64, u64)>,
}

/// What a change means beyond the new state.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Items that look different now.
    pub items: Vec<u64>,
    /// Questions that were not there before.
    pub asked: Vec<ShortRef>,
}

impl Model {
    /// Takes a snapshot in, over what is held: what is older stays.
    pub fn snapshot(&mut self, snapshot: ProjectionSnapshot) -> Touched {
        let known: Vec<ShortRef> = self.approvals.keys().copied().collect();
        if self.session.as_ref().is_some_and(|session| session.id != snapshot.session.id) {
            *self = Self::default();
        }
        self.seq = snapshot.seq;
        self.session = Some(snapshot.session);
        self.turns.extend(snapshot.turns.into_iter().map(|turn| (turn.short, turn)));
        self.tasks.extend(snapshot.tasks.into_iter().map(|task| (task.short, task)));
        self.agents = snapshot.agents.into_iter().map(|agent| (agent.short, agent)).collect();
        self.approvals = snapshot.approvals.into_iter().map(|one| (one.short, one)).collect();
        self.hud = Some(snapshot.hud);
        self.tail(snapshot.items);
        // What was being written is either an item now, or is told again from where it goes on.
        self.live.clear();
        self.outputs.clear();
        let asked = self.approvals.keys().copied().filter(|one| !known.contains(one)).collect();
        Touched { items: self.items.keys().copied().collect(), asked }
    }

    fn tail(&mut self, items: Vec<ItemView>) {
        let newest = self.items.keys().next_back().copied();
        let oldest = items.first().map(|item| item.seq);
        let whole = items.len() < TAIL;
        if whole {
            self.from_start = true;
            // All that there is: nothing else belongs to this session.
            self.items.clear();
        } else if let (Some(newest), Some(oldest)) = (newest, oldest)
            && newest < oldest
        {
            self.gap = Some((newest, oldest));
        }
        self.items.extend(items.into_iter().map(|item| (item.seq, item)));
    }

    /// Takes older items in. `before`: the place that was asked for.
    pub fn older(&mut self, before: u64, items: Vec<ItemView>) {
        let oldest = items.first().map(|item| item.seq);
        match (self.gap, oldest) {
            (Some((low, high)), Some(oldest)) if high == before => {
                self.gap = (oldest > low).then_some((low, oldest));
            }
            (Some((_, high)), None) if high == before => self.gap = None,
            (_, None) => self.from_start = true,
            _ => {}
        }
        self.items.extend(items.into_iter().map(|item| (item.seq, item)));
    }

    /// Takes changed objects in. What is older than the state is left out.
    pub fn changed(&mut self, changed: ProjectionChanged) -> Touched {
        let mut touched = Touched::default();
        if changed.seq <= self.seq && self.seq > 0 {
            return touched;
        }
        self.seq = changed.seq;
        for change in changed.changes {
            self.change(change, &mut touched);
        }
        touched
    }

    fn change(&mut self, change: ProjectionChange, touched: &mut Touched) {
        match change {
            ProjectionChange::Session { session } => self.session = Some(*session),
            ProjectionChange::Turn { turn } => {
                if turn.status.is_ended() {
                    self.live.retain(|live| live.turn != turn.id);
                }
                // How its message is shown depends on it.
                touched.items.extend(self.messages_of(turn.id));
                self.turns.insert(turn.short, *turn);
            }
            ProjectionChange::Item { item } => {
                touched.items.push(item.seq);
                self.item(*item);
            }
            ProjectionChange::Task { task } => drop(self.tasks.insert(task.short, *task)),
            ProjectionChange::Agent { agent } => drop(self.agents.insert(agent.short, *agent)),
            ProjectionChange::Approval { approval } => {
                if approval.state != ApprovalState::Open {
                    self.approvals.remove(&approval.short);
                } else if self.approvals.insert(approval.short, (*approval).clone()).is_none() {
                    touched.asked.push(approval.short);
                }
            }
            ProjectionChange::Hud { hud } => self.hud = Some(*hud),
        }
    }

    fn item(&mut self, item: ItemView) {
        match &item.body {
            ItemBody::AssistantMessage { id, .. } => self.live.retain(|live| live.id != Some(*id)),
            ItemBody::ToolRun { run } if run.status.is_some() => drop(self.outputs.remove(&run.id)),
            _ => {}
        }
        self.items.insert(item.seq, item);
    }

    /// Forgets old items, which can be fetched again.
    pub fn trim(&mut self) {
        if self.items.len() <= KEPT {
            return;
        }
        let surplus = self.items.len() - KEPT / 2;
        if let Some(first) = self.items.keys().nth(surplus).copied() {
            self.items = self.items.split_off(&first);
            self.from_start = false;
            self.gap = None;
        }
    }
}
