//! Where each conversation is in its script.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::request::View;
use crate::scenario::{Agent, CursorScope, Scenario, Texts, Turn, When};
use crate::template::{capture, fill, fill_value};

/// The name of the conversations that no agent matches.
const OTHERS: &str = "default";

/// A scenario being played.
#[derive(Debug)]
pub(crate) struct Script {
    scenario: Scenario,
    cursors: HashMap<(String, u64), Cursor>,
}

#[derive(Debug, Default)]
struct Cursor {
    /// How often each turn has played.
    played: Vec<u32>,
    requests: u32,
    captured: BTreeMap<String, String>,
}

/// What a request gets.
#[derive(Debug)]
pub(crate) struct Play {
    pub agent: String,
    /// From 0; `None` at the end of the script.
    pub index: Option<usize>,
    /// With its variables filled in.
    pub turn: Option<Turn>,
}

impl Script {
    pub fn new(scenario: Scenario) -> Self {
        Self { scenario, cursors: HashMap::new() }
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Takes the next turn for a request.
    pub fn next(&mut self, view: &View) -> Play {
        let agent = self.scenario.agents.iter().find(|(_, agent)| is_meant(agent, view));
        let (name, scope, turns) = match agent {
            Some((name, agent)) => (name.as_str(), agent.cursor, agent.turns.as_slice()),
            None => (OTHERS, CursorScope::Agent, self.scenario.turns.as_slice()),
        };
        let conversation = match scope {
            CursorScope::Agent | CursorScope::History => 0,
            CursorScope::Conversation => fingerprint(&view.first_user),
        };
        let cursor = self.cursors.entry((name.to_owned(), conversation)).or_default();
        cursor.played.resize(turns.len(), 0);
        cursor.requests += 1;
        let by_history = scope == CursorScope::History;
        if by_history {
            cursor.played = played_before(turns, view.answers);
        }
        let left = |index: usize, turn: &Turn| turn.repeat.is_none_or(|times| cursor.played[index] < times);
        let found = turns
            .iter()
            .enumerate()
            .find(|(index, turn)| left(*index, turn) && (by_history || holds(&turn.when, view)));
        let turn = found.map(|(index, turn)| {
            cursor.played[index] += 1;
            filled(turn, cursor, index, view)
        });
        Play { agent: name.to_owned(), index: found.map(|(index, _)| index), turn }
    }
}

/// How often each turn has played when `answers` have been given, in the order of the script.
fn played_before(turns: &[Turn], answers: usize) -> Vec<u32> {
    let mut rest = u32::try_from(answers).unwrap_or(u32::MAX);
    let mut take = |turn: &Turn| {
        let played = turn.repeat.map_or(rest, |times| times.min(rest));
        rest -= played;
        played
    };
    turns.iter().map(&mut take).collect()
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn is_meant(agent: &Agent, view: &View) -> bool {
    let found = |text: &str| {
        view.system.contains(text) || view.first_user.contains(text) || view.tool(text).is_some()
    };
    agent.wanted.0.iter().all(|text| found(text))
}

fn holds(when: &When, view: &View) -> bool {
    let all = |texts: &Texts, found: &dyn Fn(&str) -> bool| texts.0.iter().all(|text| found(text));
    all(&when.contains, &|text| view.system.contains(text) || view.last_user.contains(text))
        && all(&when.system, &|text| view.system.contains(text))
        && all(&when.user, &|text| view.last_user.contains(text))
        && all(&when.tool_result, &|text| view.tool_result.contains(text))
        && all(&when.tool, &|text| view.tool(text).is_some())
        && all(&when.model, &|text| view.model.contains(text))
}

fn filled(turn: &Turn, cursor: &mut Cursor, index: usize, view: &View) -> Turn {
    for (name, pattern) in &turn.capture {
        let found = capture(pattern, &view.tool_result).or_else(|| capture(pattern, &view.last_user));
        if let Some(text) = found {
            cursor.captured.insert(name.clone(), text);
        }
    }
    let mut variables = cursor.captured.clone();
    variables.insert("n".to_owned(), cursor.played[index].to_string());
    variables.insert("request".to_owned(), cursor.requests.to_string());
    variables.insert("last_tool_result".to_owned(), view.tool_result.clone());
    variables.insert("user".to_owned(), view.last_user.clone());
    let mut turn = turn.clone();
    for text in [&mut turn.reply.text, &mut turn.reply.thinking].into_iter().flatten() {
        *text = fill(text, &variables);
    }
    for call in &mut turn.reply.tools {
        fill_value(&mut call.input, &variables);
        call.raw_input = call.raw_input.as_ref().map(|text| fill(text, &variables));
    }
    turn
}
