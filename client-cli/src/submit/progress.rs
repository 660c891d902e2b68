//! What a turn does, on stderr: settled things as lines, the running ones below on a terminal.

use std::collections::{BTreeMap, HashMap, HashSet};

use air_client_tui::text::amounts;
use air_client_tui::text::escape::visible_line;
use air_client_tui::text::layout::spread;
use air_client_tui::text::lines::{self, LineStyle};
use air_client_tui::text::style::Mark;
use air_contracts::Timestamp;
use air_contracts::api::StreamDelta;
use air_contracts::ids::{AgentId, ShortRef, TaskId, ToolRunId, TurnId};
use air_contracts::permission::Decision;
use air_contracts::projection::{AgentView, ApprovalView, ItemBody, ItemView, TaskView, ToolRunView};

use super::live::Live;
use crate::output::Out;

/// Output of a running command that is kept for its newest line, in bytes.
const TAIL: usize = 2048;

/// Everything that was and is shown of one turn.
pub(super) struct Progress {
    style: LineStyle,
    silent: bool,
    turn_id: TurnId,
    turn: ShortRef,
    live: Live,
    shown: HashSet<u64>,
    ended: HashSet<TaskId>,
    attempts: HashMap<TaskId, u32>,
    running: BTreeMap<ShortRef, ToolRunView>,
    output: HashMap<ToolRunId, String>,
    tasks: BTreeMap<ShortRef, TaskView>,
    agents: HashMap<AgentId, AgentView>,
    waits: HashSet<(AgentId, Option<Timestamp>)>,
    /// Lines that wait until a question is answered.
    held: Vec<String>,
    /// Runs that were announced rather than asked about.
    pub(super) announced: u64,
}

impl Progress {
    pub(super) fn new(out: &Out, turn_id: TurnId, turn: ShortRef) -> Self {
        Self {
            style: out.line_style(),
            silent: !out.shows_progress(),
            turn_id,
            turn,
            live: Live::default(),
            shown: HashSet::new(),
            ended: HashSet::new(),
            attempts: HashMap::new(),
            running: BTreeMap::new(),
            output: HashMap::new(),
            tasks: BTreeMap::new(),
            agents: HashMap::new(),
            waits: HashSet::new(),
            held: Vec::new(),
            announced: 0,
        }
    }

    /// `s3 stats · t12 sent                                     claude-sonnet-4-5`.
    pub(super) fn head(&mut self, session: ShortRef, project: &str, model: &str) {
        let project = visible_line(project);
        let model = visible_line(model.rsplit('/').next().unwrap_or(model));
        let line = match self.style {
            LineStyle::Terminal { pen, width } => spread(
                &format!("{session} {project}{}{} sent", pen.dot(), self.turn),
                &model,
                width,
                pen.ellipsis(),
            ),
            style => lines::plain(
                style,
                amounts::now(),
                format!("{} sent to {session} {project} {model}", self.turn).trim_end(),
            ),
        };
        self.settle(vec![line]);
    }

    /// A line of this client.
    pub(super) fn notice(&mut self, text: &str) {
        let lines = lines::notice(text, amounts::now(), self.style);
        self.settle(lines);
    }

    pub(super) fn item(&mut self, item: &ItemView) {
        if item.turn_id != self.turn_id || self.shown.contains(&item.seq) {
            return;
        }
        if let ItemBody::ToolRun { run } = &item.body {
            if run.status.is_none() {
                self.running.insert(run.short, run.clone());
                return;
            }
            self.running.remove(&run.short);
            self.output.remove(&run.id);
            self.announced += u64::from(run.decision == Decision::Announce);
        }
        if let Some(lines) = lines::settled(item, self.style) {
            self.shown.insert(item.seq);
            self.settle(lines);
        }
    }

    pub(super) fn task(&mut self, task: &TaskView) {
        if task.turn_id != self.turn_id {
            return;
        }
        let last = task.attempts.last().map_or(0, |attempt| attempt.n);
        if self.attempts.insert(task.id, last).unwrap_or(0) < last
            && let Some(lines) = lines::attempt(task, self.style)
        {
            self.settle(lines);
        }
        self.tasks.insert(task.short, task.clone());
        if !task.status.is_settled() {
            self.ended.remove(&task.id);
        } else if self.ended.insert(task.id) {
            self.settle(lines::settled_task(task, self.style));
        }
    }

    pub(super) fn agent(&mut self, agent: &AgentView) {
        if let Some(waiting) = &agent.waiting
            && self.waits.insert((agent.id, waiting.until))
        {
            let lines = self.waiting(&waiting.reason, waiting.until);
            self.settle(lines);
        }
        self.agents.insert(agent.id, agent.clone());
    }

    /// `z t12 waits for anthropic: rate limit, until 21:40 (12 m). Nothing is lost.`
    fn waiting(&self, reason: &str, until: Option<Timestamp>) -> Vec<String> {
        let zone = jiff::tz::TimeZone::system();
        let until = until.map(|until| {
            let left = amounts::span(until.millis_since(amounts::now()));
            format!(", until {} ({left})", amounts::time_of_day(until, &zone))
        });
        let text = format!(
            "{} waits for {}{}. Nothing is lost.",
            self.turn,
            visible_line(reason),
            until.unwrap_or_default()
        );
        let LineStyle::Terminal { pen, .. } = self.style else {
            return vec![lines::plain(self.style, amounts::now(), &text)];
        };
        let way_out = format!("      air interrupt stops it{}--model NAME continues elsewhere", pen.dot());
        vec![format!("{} {text}", pen.mark(Mark::Timer)), way_out]
    }

    pub(super) fn answered(&mut self, approval: &ApprovalView) {
        if let Some(lines) = lines::answered(approval, self.style) {
            self.settle(lines);
        }
    }

    pub(super) fn delta(&mut self, delta: &StreamDelta) {
        let Some(run) = delta.run else { return };
        let tail = self.output.entry(run).or_default();
        tail.push_str(&delta.text);
        if tail.len() > TAIL {
            let cut = tail.len() - TAIL / 2;
            let at = (cut..tail.len()).find(|at| tail.is_char_boundary(*at)).unwrap_or(tail.len());
            tail.drain(..at);
        }
    }

    /// Lines of a question: they come at once, above nothing.
    pub(super) fn ask(&mut self, lines: &[String]) {
        self.live.pause();
        if !self.silent {
            Live::default().settle(lines);
        }
    }

    /// The question is gone; what was held back comes now.
    pub(super) fn asked(&mut self) {
        self.live.resume();
        let held = std::mem::take(&mut self.held);
        self.settle(held);
        self.redraw();
    }

    fn settle(&mut self, lines: Vec<String>) {
        if self.silent || lines.is_empty() {
            return;
        }
        if self.live.is_paused() {
            self.held.extend(lines);
            return;
        }
        self.live.settle(&lines);
    }

    /// Draws the running things anew; nothing is written where nothing changed.
    pub(super) fn redraw(&mut self) {
        let LineStyle::Terminal { pen, width } = self.style else { return };
        if self.silent {
            return;
        }
        let now = amounts::now();
        let mut lines: Vec<String> = Vec::new();
        for task in self.tasks.values().filter(|task| !task.status.is_settled()) {
            lines.push(lines::live_task(task, self.cost_of(task.short), now, pen, width));
        }
        for run in self.running.values() {
            let detail = self
                .output
                .get(&run.id)
                .and_then(|tail| tail.lines().rev().find(|line| !line.trim().is_empty()));
            lines.push(lines::running(run, detail, now, pen, width));
        }
        self.live.draw(lines);
    }

    fn cost_of(&self, task: ShortRef) -> Option<f64> {
        let costs: Vec<f64> = self
            .agents
            .values()
            .filter(|agent| agent.task == Some(task))
            .map(|agent| agent.cost_usd)
            .collect();
        (!costs.is_empty()).then(|| costs.iter().sum())
    }

    /// Takes the live lines away for good.
    pub(super) fn end(&mut self) {
        if self.live.is_paused() {
            self.asked();
        }
        self.live.draw(Vec::new());
    }
}
