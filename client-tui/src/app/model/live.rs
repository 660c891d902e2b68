//! Text that comes in pieces: of messages, and of running commands.

use air_contracts::api::StreamDelta;
use air_contracts::ids::{AgentId, MessageId, TaskId, TurnId};

use super::Model;

/// Bytes of a command's output that are kept while it runs: its end.
const OUTPUT: usize = 64 * 1024;
/// Bytes of a message that are kept: far above what a model writes.
const MESSAGE: usize = 4 * 1024 * 1024;

/// A message that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveText {
    pub id: Option<MessageId>,
    pub turn: TurnId,
    pub task: Option<TaskId>,
    pub agent: Option<AgentId>,
    pub text: String,
    pub thinking: String,
}

impl Model {
    /// Adds a piece.
    pub fn delta(&mut self, delta: StreamDelta) {
        if let Some(run) = delta.run {
            let output = self.outputs.entry(run).or_default();
            output.push_str(&delta.text);
            if output.len() > OUTPUT {
                let from = output.ceil_char_boundary(output.len() - OUTPUT / 2);
                // Begins with a whole line where one ends near.
                let line = output[from..].find('\n').map_or(from, |at| from + at + 1);
                output.drain(..line);
            }
            return;
        }
        let at = self.live_at(&delta);
        let Some(live) = self.live.get_mut(at) else { return };
        if delta.reset {
            live.text.clear();
            live.thinking.clear();
        }
        let into = if delta.thinking { &mut live.thinking } else { &mut live.text };
        if into.len() + delta.text.len() <= MESSAGE {
            into.push_str(&delta.text);
        }
    }

    fn live_at(&mut self, delta: &StreamDelta) -> usize {
        if let Some(at) = self.live.iter().position(|live| live.id == delta.item && live.turn == delta.turn) {
            return at;
        }
        // An agent writes one message at a time: what it wrote before was given up.
        self.live.retain(|live| live.agent.is_none() || live.agent != delta.agent);
        self.live.push(LiveText {
            id: delta.item,
            turn: delta.turn,
            task: delta.task,
            agent: delta.agent,
            text: String::new(),
            thinking: String::new(),
        });
        self.live.len() - 1
    }
}
