//! Runs that began in an earlier life of the daemon: looked at, not guessed.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use air_contracts::error::codes;
use air_contracts::event::{FileIntent, Intent};
use air_contracts::port::ToolOutcome;
use air_contracts::tool::{CallContext, EffectClass, ToolResultEnvelope, ToolStatus};
use air_contracts::{AirError, Result};
use air_sandbox::{RunFolder, RunState};
use air_store::ToolRunRow;
use serde_json::Value;

use super::Inner;
use super::finish::Ending;
use super::pipeline::{Leader, Place, Run};
use crate::cancel::Cancel;
use crate::fs::{FileState, states, temp_name};
use crate::gate::readmit;
use crate::kit::blocking;
use crate::shell::{CommandEnd, Ended, Follower, wait_for};
use crate::tool::{Builtin, Failure, Step};

/// A launcher that was spawned just before the daemon died may not have taken its folder yet.
const LATE_START: Duration = Duration::from_secs(2);

/// What the look at a run gave.
struct Found {
    result: Step<ToolOutcome>,
    how: &'static str,
    may_write: bool,
}

impl Inner {
    /// The result of a call of an earlier life; `None` where the log knows no such run.
    pub(super) async fn recover(
        self: Arc<Self>,
        context: CallContext,
        call_id: String,
    ) -> Option<ToolResultEnvelope> {
        let key = (context.turn_id, context.task_id, call_id);
        let sender = loop {
            match self.place(&key) {
                Place::Lead(sender) => break sender,
                Place::Follow(receiver) => {
                    if let Some(envelope) = Self::follow(receiver).await {
                        return Some(envelope);
                    }
                }
            }
        };
        let store = self.kit.deps.store.clone();
        let (turn, task, call_id) = key.clone();
        let leader = Leader::new(self.clone(), key, sender);
        let envelope = match store.tool_run_by_call(turn, task, &call_id).await {
            Ok(Some(row)) => self.settle(context, row).await,
            Ok(None) => return None,
            Err(error) => self.unrecorded("", error),
        };
        leader.give(&envelope);
        Some(envelope)
    }

    /// The result of a run that the log knows: the one it holds, else what the look at the world gives.
    pub(super) async fn settle(self: Arc<Self>, context: CallContext, row: ToolRunRow) -> ToolResultEnvelope {
        let tool_name = row.started.tool.clone();
        if row.status.is_some() {
            let envelope = self.envelope_of(&context, row).await;
            return envelope.unwrap_or_else(|error| self.unrecorded(&tool_name, error));
        }
        let run = Run {
            context,
            call_id: row.started.call_id.clone(),
            run_id: row.started.run_id,
            n: row.started.n,
            cancel: Cancel::new(),
        };
        let _guard = self.kit.live.enter(run.run_id, &run.context, &run.cancel);
        let input: Result<Value> = self.kit.deps.store.load_value(&row.started.input).await;
        let looked = match input {
            Ok(input) => self.look(&run, &row, &input).await.map(|found| (found, input)),
            Err(error) => Err(error),
        };
        let (found, input) = match looked {
            Ok(found) => found,
            Err(error) => return self.unrecorded(&tool_name, error),
        };
        let now = air_contracts::Timestamp::from_millis(self.kit.deps.clock.millis());
        let wall = match &found.result {
            Ok(ToolOutcome { command: Some(command), .. }) => command.wall_ms,
            _ => now.millis_since(row.started_at),
        };
        let ending = Ending {
            tool: tool_name,
            input_text: input.to_string(),
            elapsed: wall,
            may_write: found.may_write,
            reconciled: found.how,
        };
        self.finish(&run, ending, found.result).await
    }

    async fn look(&self, run: &Run, row: &ToolRunRow, input: &Value) -> Result<Found> {
        self.kit.seen.load(&self.kit.deps.store, &run.context).await?;
        let tool = {
            let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
            registry.find(&row.started.tool).map(|(tool, _)| tool)
        };
        let Some(tool) = tool else {
            let text = format!(
                "`{}` is no tool of this version: the outcome of r{} is unknown.",
                row.started.tool, run.n
            );
            let result = Err(AirError::new(codes::TOOL_INTERRUPTED, text).into());
            return Ok(Found { result, how: "", may_write: true });
        };
        match (row.started.class, &row.started.intent) {
            (EffectClass::Verifiable, Intent::Files { files }) => Ok(self.look_at_files(run, files)),
            (EffectClass::Command, Intent::Command { background, .. }) => {
                self.look_at_command(run, tool.as_ref(), input, *background).await
            }
            _ => Ok(Found {
                result: self.again(run, tool.as_ref(), input).await,
                how: "run again",
                may_write: false,
            }),
        }
    }

    /// Has no effect, or one that the log makes harmless to repeat.
    async fn again(&self, run: &Run, tool: &dyn Builtin, input: &Value) -> Step<ToolOutcome> {
        let call = run.call(self);
        let (permit, mut plan) = readmit(tool, &call, input).await?;
        tool.prepare(&permit, &call, &mut plan).await?;
        tool.execute(&permit, &call, plan).await
    }

    /// Compares the hashes of the intent with the disk. Nothing is written.
    fn look_at_files(&self, run: &Run, files: &[FileIntent]) -> Found {
        let root = &run.context.workspace_root;
        for file in files {
            // A temporary file that the crash left; its name is the run's own.
            let _ = std::fs::remove_file(temp_name(&root.join(file.path.to_path()), &run.run_id.hex()));
        }
        let found = states(files, root);
        let names: Vec<String> = files.iter().map(|file| file.path.display()).collect();
        let names = names.join(", ");
        let result = if found.iter().all(|state| *state == FileState::Applied) {
            Ok(self.applied(run, files, &names))
        } else if found.iter().all(|state| *state == FileState::Untouched) {
            let text = format!(
                "the runtime went down before {names} was written: it is as it was before the call. Make the call again."
            );
            Err(Failure::of(AirError::new(codes::TOOL_INTERRUPTED, text)))
        } else {
            let foreign = files.iter().zip(&found).filter(|(_, state)| **state == FileState::Foreign);
            let foreign: Vec<String> = foreign.map(|(file, _)| file.path.display()).collect();
            let text = format!(
                "the runtime went down during the write; {} is now neither as before the call nor as after it: somebody else wrote it. Nothing was overwritten. Read it before the next edit.",
                foreign.join(", ")
            );
            Err(Failure::of(AirError::new(codes::TOOL_INTERRUPTED, text)))
        };
        Found { result, how: "hashes", may_write: true }
    }

    fn applied(&self, run: &Run, files: &[FileIntent], names: &str) -> ToolOutcome {
        let root = &run.context.workspace_root;
        let seen =
            files.iter().filter_map(|file| Some((root.join(file.path.to_path()), file.after.clone()?)));
        let seen: Vec<_> = seen.collect();
        for (path, _) in &seen {
            if let Ok(bytes) = std::fs::read(path) {
                self.kit.seen.note(&run.context, path, &bytes);
            }
        }
        ToolOutcome {
            summary: format!("{names}: written"),
            content: format!("[wrote {names} · found whole after a restart of the runtime]"),
            written: files.iter().map(|file| file.path.clone()).collect(),
            data: crate::seen::seen_data(seen),
            ..ToolOutcome::default()
        }
    }

    /// The exit file, the living launcher, or what is left.
    async fn look_at_command(
        &self,
        run: &Run,
        tool: &dyn Builtin,
        input: &Value,
        background: bool,
    ) -> Result<Found> {
        let call = run.call(self);
        let mut how = "exit file";
        let end = match self.kit.runner.folder(run.run_id) {
            None => CommandEnd { ended: Ended::NotStarted, folder: None, cancelled: None },
            Some(folder) => match state(&folder).await? {
                RunState::Running(_) if background => {
                    let running = self.kit.runner.adopt(folder)?;
                    let outcome = crate::shell::in_background(&call, running);
                    return Ok(Found { result: Ok(outcome), how: "adopted", may_write: true });
                }
                RunState::Running(_) => {
                    how = "adopted";
                    let mut running = self.kit.runner.adopt(folder.clone())?;
                    let ended = wait_for(&mut running, &run.cancel, Follower::new(&call)).await?;
                    CommandEnd { ended, folder: Some(folder), cancelled: run.cancel.reason() }
                }
                other => CommandEnd {
                    ended: Ended::from_state(other, None),
                    folder: Some(folder),
                    cancelled: None,
                },
            },
        };
        let may_write = !matches!(end.ended, Ended::NotStarted);
        let result = tool.conclude(&call, input, end).await;
        let unknown = result.as_ref().is_err_and(|failure| failure.status == ToolStatus::Interrupted);
        Ok(Found { result, how: if unknown { "" } else { how }, may_write })
    }
}

/// The state of a run, with patience for a launcher that is only beginning.
async fn state(folder: &RunFolder) -> Result<RunState> {
    let deadline = tokio::time::Instant::now() + LATE_START;
    let mut pace = Duration::from_millis(10);
    loop {
        let looked = folder.clone();
        let state = blocking(move || looked.state()).await??;
        if state != RunState::NotStarted || tokio::time::Instant::now() >= deadline {
            return Ok(state);
        }
        tokio::time::sleep(pace).await;
        pace = (pace * 2).min(Duration::from_millis(200));
    }
}
