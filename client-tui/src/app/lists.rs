//! What the lists of overlays and sidebar hold, in their order.

use air_contracts::ids::ShortRef;
use air_contracts::projection::{AgentView, ApprovalView, TaskView, ToolRunView};
use air_contracts::task::AgentRole;

use super::overlay::Overlay;
use super::state::App;

/// Tasks of the newest turn that has any.
pub fn tasks(app: &App) -> Vec<&TaskView> {
    app.model.current_tasks()
}

/// Agents: those that run, then those that ended, the newest first.
pub fn workers(app: &App) -> Vec<&AgentView> {
    let (mut all, ended): (Vec<_>, Vec<_>) =
        app.model.agents.values().partition(|agent| agent.state == "running");
    all.extend(ended.into_iter().rev());
    all
}

/// Agents that do something now. The main agent lives on between turns.
pub fn active(app: &App) -> Vec<&AgentView> {
    let turn = app.model.running_turn().is_some();
    let does = |agent: &&AgentView| agent.state == "running" && (turn || agent.role != AgentRole::Main);
    app.model.agents.values().filter(does).collect()
}

/// Open questions, the oldest first.
pub fn questions(app: &App) -> Vec<&ApprovalView> {
    app.model.approvals.values().collect()
}

/// Tool runs, the newest first.
pub fn runs(app: &App) -> Vec<&ToolRunView> {
    app.model.runs().rev().map(|(_, run)| run).collect()
}

/// Something in the sidebar that can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Task(ShortRef),
    Worker(ShortRef),
    Question(ShortRef),
}

/// What the sidebar lists, from the top.
pub fn sidebar(app: &App) -> Vec<Target> {
    let tasks = tasks(app).into_iter().map(|task| Target::Task(task.short));
    let workers = active(app).into_iter().map(|agent| Target::Worker(agent.short));
    let questions = questions(app).into_iter().map(|one| Target::Question(one.short));
    tasks.chain(workers).chain(questions).collect()
}

/// Rows that can be marked in an overlay.
pub fn length(app: &App, overlay: &Overlay) -> usize {
    match overlay {
        Overlay::Tasks(_) => tasks(app).len(),
        Overlay::Workers(_) => workers(app).len(),
        Overlay::Questions(_) => questions(app).len(),
        Overlay::Runs(_) => runs(app).len(),
        Overlay::Evidence(pane) => pane.items.as_ref().map_or(0, Vec::len),
        Overlay::Help(_) => super::views::help::ROWS,
        Overlay::Question(_) | Overlay::Run(_) | Overlay::Diff(_) => 0,
    }
}
