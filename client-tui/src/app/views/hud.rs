//! The last row: model, context, cost, workers, daemon; or what may follow `^X`.

use crate::app::row::{Row, spread, width_of};
use crate::app::state::{App, Away, Link};
use crate::text::amounts;
use crate::text::escape::visible_line;
use crate::text::style::Role;
use crate::text::words;
use air_contracts::projection::HudView;

const NARROW: usize = 60;
const WIDE: usize = 100;
/// Steps in which parts are left out.
const LEAST: usize = 4;

/// The row.
pub fn row(app: &App, width: usize) -> Row {
    let theme = app.theme;
    if app.prefix {
        let menu = " ^X  t tasks  w workers  r runs  d diff  e proof  a questions  Enter queue  ? keys";
        return spread(theme, vec![theme.span(Role::Run, menu)], Vec::new(), width);
    }
    // Where there is no row for it, what we say takes the place.
    if let Some(notice) = app.notice.as_ref().filter(|_| app.areas().hint.height == 0) {
        return spread(theme, vec![theme.span(notice.role, format!(" {}", notice.text))], Vec::new(), width);
    }
    let hints: &[&str] = match (app.observer, width < NARROW) {
        (true, _) => &["q leaves  ? keys ", ""],
        (false, false) => &["Esc keys  ^X menu ", "^X menu ", ""],
        (false, true) => &["^X menu ", ""],
    };
    // First the hints go, then the parts.
    let tries = hints.iter().map(|hint| (*hint, 0)).chain((1..=LEAST).map(|drop| ("", drop)));
    for (hint, drop) in tries {
        let left = vec![theme.span(Role::Text, format!(" {}", parts(app, width, drop).join(theme.dot())))];
        let right = vec![theme.span(Role::Dim, hint)];
        if width_of(&left) + 2 + width_of(&right) <= width || drop == LEAST {
            return spread(theme, left, right, width);
        }
    }
    Row::default()
}

/// From left to right; the first `drop` to go are left out.
fn parts(app: &App, width: usize, drop: usize) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(hud) = &app.model.hud {
        if width >= NARROW && drop < 2 && !hud.model.is_empty() {
            parts.push(short_model(&hud.model));
        }
        if drop < 4 {
            parts.extend(context(hud, width));
        }
        if width >= WIDE && drop == 0 && hud.input_tokens > 0 {
            parts.push(format!("cached {} %", hud.cached_tokens * 100 / hud.input_tokens));
        }
        if drop < 3 {
            parts.push(cost(hud, width));
        }
        if width >= NARROW && drop < 2 && hud.workers > 0 {
            parts.push(words::count(u64::from(hud.workers), "worker", "workers"));
        }
    }
    if (width >= NARROW && drop < 1) || parts.is_empty() {
        parts.push(daemon(app, width));
    }
    parts
}

fn context(hud: &HudView, width: usize) -> Option<String> {
    let (used, limit) = (u64::from(hud.context_used), u64::from(hud.context_limit));
    let percent = percent(used, limit)?;
    if width < WIDE {
        return Some(format!("ctx {percent} %"));
    }
    let limit =
        if limit.is_multiple_of(1000) { format!("{}k", limit / 1000) } else { amounts::tokens(limit) };
    Some(format!("ctx {percent} % {} of {limit}", amounts::tokens(used)))
}

/// Rounded; `None` where the whole is not known.
pub fn percent(used: u64, limit: u64) -> Option<u64> {
    (used * 100 + limit / 2).checked_div(limit)
}

fn cost(hud: &HudView, width: usize) -> String {
    let cost = amounts::cost(hud.cost_usd);
    match hud.max_cost_usd {
        Some(max) if width >= NARROW && max.fract() == 0.0 => format!("{cost} of ${max:.0}"),
        Some(max) if width >= NARROW => format!("{cost} of {}", amounts::cost(max)),
        _ => cost,
    }
}

fn daemon(app: &App, width: usize) -> String {
    match app.link {
        Link::Down { why: Away::Starting, .. } => "aird: connecting".to_owned(),
        Link::Down { why: Away::Stopped, .. } => "aird stopped".to_owned(),
        Link::Down { .. } => "aird away".to_owned(),
        Link::Up if width < WIDE => "aird ok".to_owned(),
        Link::Up => {
            let rss = app.model.hud.as_ref().map_or(0, |hud| hud.daemon_rss_bytes);
            let rss = if rss > 0 { format!(" {}", amounts::bytes(rss)) } else { String::new() };
            format!("aird {}{rss}", visible_line(&app.version))
        }
    }
}

/// `anthropic/claude-sonnet-4-5`: what differs from others.
pub fn short_model(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    visible_line(name.strip_prefix("claude-").unwrap_or(name))
}
