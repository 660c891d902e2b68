//! Beside the conversation on wide screens: tasks, agents, questions, changed files.

use air_contracts::task::TaskStatus;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::hud::percent;
use super::{put, workers};
use crate::app::geometry::Areas;
use crate::app::lists::{self, Target};
use crate::app::row::{Row, spread};
use crate::app::state::{App, Focus};
use crate::text::escape::visible_line;
use crate::text::layout::pad;
use crate::text::style::{Mark, Role};
use crate::text::{amounts, question, words};

/// Files that are listed.
const FILES: usize = 10;

/// Draws the bar and the lists.
pub fn draw(frame: &mut Frame<'_>, app: &App, areas: &Areas) {
    let area = areas.sidebar;
    let bar = Line::from(app.theme.span(Role::Dim, app.theme.bar()));
    for row in 0..area.height {
        put(frame, Rect { width: 1, ..area }, row, &bar);
    }
    let list = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    for (row, line) in rows(app, usize::from(list.width)).iter().enumerate().take(usize::from(area.height)) {
        put(frame, list, u16::try_from(row).unwrap_or(u16::MAX), line);
    }
    joint(frame, app, areas.upper, area.x, "┬");
}

/// Where the bar meets the line above the input.
pub fn joints(frame: &mut Frame<'_>, app: &App, areas: &Areas) {
    joint(frame, app, areas.middle, areas.sidebar.x, "┴");
}

fn joint(frame: &mut Frame<'_>, app: &App, line: Rect, x: u16, symbol: &'static str) {
    let place = Rect { x, width: 1, ..line };
    put(frame, place, 0, &Line::from(app.theme.span(Role::Dim, app.theme.joint(symbol))));
}

/// A row of the list; the marked one begins with `>`.
struct Lister<'a> {
    app: &'a App,
    width: usize,
    rows: Vec<Row>,
    targets: Vec<Target>,
}

impl Lister<'_> {
    fn heading(&mut self, text: &str, right: String) {
        let style = self.app.theme.span(Role::Bold, format!(" {text}"));
        let right = vec![self.app.theme.span(Role::Dim, right)];
        self.rows.push(spread(self.app.theme, vec![style], right, self.width.saturating_sub(1)));
    }

    fn row(&mut self, target: Option<Target>, mut left: Vec<Span<'static>>, right: String) {
        let marked = self.app.focus == Focus::Sidebar
            && target.is_some_and(|target| self.targets.get(self.app.sidebar) == Some(&target));
        left.insert(0, if marked { self.app.theme.span(Role::Bold, ">") } else { Span::raw(" ") });
        let right = vec![self.app.theme.span(Role::Dim, right)];
        self.rows.push(spread(self.app.theme, left, right, self.width.saturating_sub(1)));
    }
}

fn rows(app: &App, width: usize) -> Vec<Row> {
    let mut lister = Lister { app, width, rows: Vec::new(), targets: lists::sidebar(app) };
    tasks(&mut lister);
    agents(&mut lister);
    questions(&mut lister);
    changed(&mut lister);
    lister.rows
}

fn tasks(lister: &mut Lister<'_>) {
    let app = lister.app;
    let tasks = lists::tasks(app);
    let done = tasks.iter().filter(|task| task.status == TaskStatus::Completed).count();
    let count = if tasks.is_empty() { "none".to_owned() } else { format!("{done} of {}", tasks.len()) };
    lister.heading("TASKS", count);
    for task in tasks {
        let (mark, word) = words::task_status(task.status);
        let evidence: Vec<String> =
            app.model.evidence_of(task.short).iter().map(ToString::to_string).collect();
        let right = match task.status {
            TaskStatus::Completed => evidence.join(" "),
            TaskStatus::Running | TaskStatus::Verifying | TaskStatus::Reviewing => {
                amounts::clock(app.now.millis_since(task.created_at))
            }
            _ => word.to_owned(),
        };
        let text = format!(" {} {}", task.short, visible_line(&task.title));
        lister.row(Some(Target::Task(task.short)), vec![app.theme.mark(mark), Span::raw(text)], right);
    }
}

fn agents(lister: &mut Lister<'_>) {
    let app = lister.app;
    let agents = lists::active(app);
    if agents.is_empty() {
        return;
    }
    lister.rows.push(Row::default());
    lister.heading("AGENTS", String::new());
    for agent in agents {
        let (mark, state) = workers::state(app, agent);
        let percent = percent(u64::from(agent.context_used), u64::from(agent.context_limit));
        let left = vec![
            Span::raw(format!("{} {} ", agent.short, pad(words::role(agent.role), 9))),
            app.theme.mark(mark),
            Span::raw(format!(" {state}")),
        ];
        let right = percent.map(|percent| format!("{percent} %")).unwrap_or_default();
        lister.row(Some(Target::Worker(agent.short)), left, right);
    }
}

fn questions(lister: &mut Lister<'_>) {
    let app = lister.app;
    let open = lists::questions(app);
    if open.is_empty() {
        return;
    }
    lister.rows.push(Row::default());
    lister.heading("QUESTIONS", String::new());
    for one in open {
        let left = vec![
            app.theme.mark(Mark::Waiting),
            Span::raw(format!(" {} {}", one.short, question::one_line(one))),
        ];
        let right = amounts::span(app.now.millis_since(one.asked_at));
        lister.row(Some(Target::Question(one.short)), left, right);
    }
}

fn changed(lister: &mut Lister<'_>) {
    let app = lister.app;
    let mut files: Vec<String> = Vec::new();
    for path in lists::tasks(app).iter().flat_map(|task| &task.changed_files) {
        let path = visible_line(&path.display());
        if !files.contains(&path) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return;
    }
    lister.rows.push(Row::default());
    lister.heading("CHANGED", words::count(files.len() as u64, "file", "files"));
    for file in files.into_iter().take(FILES) {
        lister.row(None, vec![Span::raw(file)], String::new());
    }
}
