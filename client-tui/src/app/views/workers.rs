//! Agents: what each does, for which task, with which model, how full its context is.

use air_contracts::projection::AgentView;
use air_contracts::task::AgentRole;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::boxed::{Boxed, Inside, first_shown, inner_height, inner_width, listed};
use super::hud::{percent, short_model};
use crate::app::lists;
use crate::app::overlay::List;
use crate::app::row::{Row, plain, spread};
use crate::app::state::App;
use crate::text::escape::visible_line;
use crate::text::layout::pad;
use crate::text::style::{Mark, Role};
use crate::text::{amounts, words};

/// Draws the list.
pub fn draw(frame: &mut Frame<'_>, app: &App, list: &List, area: Rect) {
    let agents = lists::workers(app);
    let running = agents.iter().filter(|agent| agent.state == "running").count();
    let mut boxed = Boxed {
        title: vec![Span::raw("workers")],
        right: format!("{running} running"),
        keys: "Enter its newest run  Esc back".to_owned(),
        ..Boxed::default()
    };
    if agents.is_empty() {
        boxed.row(plain(app.theme, Role::Dim, "No worker yet."));
    }
    let width = inner_width(area);
    let top = first_shown(list.at, agents.len(), inner_height(area));
    for (at, agent) in agents.iter().enumerate().skip(top) {
        boxed.rows.push(Inside::Row(row(app, agent, at == list.at, width)));
    }
    boxed.draw(frame, app, area);
}

fn row(app: &App, agent: &AgentView, marked: bool, width: usize) -> Row {
    let (mark, state) = state(app, agent);
    let task = agent.task.map(|task| task.to_string()).unwrap_or_default();
    let left = vec![
        Span::raw(format!("{} {} ", pad(&agent.short.to_string(), 3), pad(words::role(agent.role), 9))),
        app.theme.mark(mark),
        Span::raw(format!(" {} {} {}", pad(&state, 14), pad(&task, 4), short_model(&agent.model))),
    ];
    let context = percent(u64::from(agent.context_used), u64::from(agent.context_limit));
    let context = context.map(|percent| format!("{percent} %")).unwrap_or_default();
    let since = amounts::clock(app.now.millis_since(agent.since));
    let right = format!("{context:>5}  {:>6}  {since:>5}", amounts::cost(agent.cost_usd));
    let row = listed(app, marked, left);
    spread(app.theme, row.spans, vec![app.theme.span(Role::Dim, right)], width)
}

/// What it does: waiting, a running tool, or its state.
pub fn state(app: &App, agent: &AgentView) -> (Mark, String) {
    // The main agent lives on between turns.
    if agent.role == AgentRole::Main && agent.state == "running" && app.model.running_turn().is_none() {
        return (Mark::Pending, "idle".to_owned());
    }
    if agent.state != "running" {
        let mark = match agent.state.as_str() {
            "succeeded" => Mark::Done,
            "cancelled" => Mark::Cancelled,
            _ => Mark::Failed,
        };
        return (mark, visible_line(&agent.state).replace('_', " "));
    }
    match (&agent.waiting, app.model.active_run(Some(agent.short))) {
        (Some(waiting), _) => {
            let until =
                waiting.until.map(|until| amounts::time_of_day(until, &app.zone).chars().take(5).collect());
            (Mark::Timer, until.unwrap_or_else(|| visible_line(&waiting.reason)))
        }
        (None, Some(run)) => (Mark::Running, visible_line(&run.tool)),
        (None, None) => (Mark::Running, "running".to_owned()),
    }
}
