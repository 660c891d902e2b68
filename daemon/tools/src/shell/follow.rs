//! Showing the output of a command while it runs. Costs nothing for one that ends at once.

use std::time::Duration;

use air_contracts::event::EphemeralEvent;
use air_sandbox::RunFolder;

use super::clean::{Clean, clean};
use crate::kit::Kit;
use crate::tool::Call;

/// Commands that are quicker than this show nothing before their result.
const QUIET: Duration = Duration::from_millis(150);
/// At most ten chunks a second.
const PACE: Duration = Duration::from_millis(100);
/// The pace where nothing comes.
const SLOW: Duration = Duration::from_millis(1_000);
/// Bytes of one chunk; what a screen cannot show anyway is skipped.
const CHUNK: usize = 16 * 1024;

/// Follows one run.
pub(crate) struct Follower<'a> {
    kit: &'a Kit,
    event: Box<dyn Fn(String) -> EphemeralEvent + Send + Sync + 'a>,
}

impl<'a> Follower<'a> {
    /// For the run of a call.
    pub fn new(call: &'a Call<'a>) -> Self {
        let (session_id, turn_id, run_id) = (call.context.session_id, call.context.turn_id, call.run_id);
        let event = move |text| EphemeralEvent::OutputChunk { session_id, turn_id, run_id, text };
        Self { kit: call.kit, event: Box::new(event) }
    }

    /// Sends what comes until it is dropped.
    pub async fn follow(self, folder: &RunFolder) {
        tokio::time::sleep(QUIET).await;
        let mut offset = 0_u64;
        let mut pace = PACE;
        loop {
            match folder.read_output_at(offset, CHUNK) {
                Ok(bytes) if bytes.is_empty() => pace = (pace * 3 / 2).min(SLOW),
                Ok(bytes) => {
                    pace = PACE;
                    offset = self.send(folder, offset, &bytes);
                }
                Err(_) => pace = SLOW,
            }
            tokio::time::sleep(pace).await;
        }
    }

    /// Sends a chunk and returns where the next one begins.
    fn send(&self, folder: &RunFolder, offset: u64, bytes: &[u8]) -> u64 {
        // A chunk ends with a line where it can, so that a secret is not cut in two.
        let end = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => at + 1,
            None if bytes.len() < CHUNK => return offset,
            None => bytes.len(),
        };
        let text = match clean(bytes.get(..end).unwrap_or(bytes)) {
            Clean::Text(text) => self.kit.redact(&text),
            Clean::Binary => "[binary output]\n".to_owned(),
        };
        self.kit.deps.store.ingest_ephemeral((self.event)(text));
        let next = offset + end as u64;
        // Far behind: go on near the end.
        let total = folder.output_len().unwrap_or(next);
        if total > next + 4 * CHUNK as u64 { total - CHUNK as u64 } else { next }
    }
}
