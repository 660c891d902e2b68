//! Tools of other crates: what they may touch, under the permit of their call.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use air_contracts::artifact::ArtifactRef;
use air_contracts::error::codes;
use air_contracts::event::EphemeralEvent;
use air_contracts::ids::ToolRunId;
use air_contracts::permission::Decision;
use air_contracts::port::{BoxFuture, CallPlan, CommandResult, CommandSpec, Tool, ToolHost, ToolOutcome};
use air_contracts::tool::{CallContext, ToolDefinition};
use air_contracts::{AirError, Result, Timestamp};
use air_security::{PathOp, classify_path};
use serde_json::Value;

use crate::gate::{Permit, admit_command};
use crate::kit::Kit;
use crate::shell::{Ended, Follower, Request, report, wait_for};
use crate::tool::{Builtin, Call, Step};

/// A tool that another crate brings.
pub(crate) struct External(pub Arc<dyn Tool>);

impl Builtin for External {
    fn definition(&self) -> &ToolDefinition {
        self.0.definition()
    }

    fn plan<'a>(
        &'a self,
        _: &'a Kit,
        context: &'a CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<CallPlan>> {
        self.0.plan(context, input)
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let cache = call.kit.deps.cache_dir.join("tools").join(&self.definition().name);
            std::fs::create_dir_all(&cache).map_err(|error| AirError::io(cache.display(), &error))?;
            let host = Host { permit, call, cache };
            Ok(self.0.execute(&host, call.context, plan).await?)
        })
    }
}

/// The world of one call.
struct Host<'a> {
    permit: &'a Permit,
    call: &'a Call<'a>,
    cache: PathBuf,
}

impl Host<'_> {
    /// The resolved path, where it may be used without a question and lies inside the workspace or the cache.
    fn inside(&self, path: &Path, op: PathOp) -> Result<PathBuf> {
        let boundaries = self.call.kit.boundaries(self.call.context);
        let verdict = classify_path(path, op, &boundaries, &self.call.kit.facts);
        let below = verdict.resolved.starts_with(&boundaries.workspace_root)
            || verdict.resolved.starts_with(&self.cache);
        if below && verdict.decision <= Decision::Announce {
            return Ok(verdict.resolved);
        }
        let text = format!("{}: {} Nothing was done.", path.display(), verdict.reason);
        Err(AirError::new(codes::EDIT_PATH_ESCAPE, text))
    }

    async fn run_one(&self, spec: CommandSpec) -> Result<CommandResult> {
        let kit = self.call.kit;
        let permit = admit_command(self.permit, self.call, &spec.command, &spec.cwd).await?;
        let run_id = ToolRunId::from_uuid(kit.deps.ids.next());
        let CommandSpec { command, cwd, env, timeout_ms } = spec;
        let request = Request { command, cwd, env, timeout_ms, background: false };
        let mut running = kit.runner.start(&permit, self.call, run_id, &request)?;
        let ended = wait_for(&mut running, self.call.cancel, Follower::new(self.call)).await?;
        let Ended::Finished(record) = ended else {
            return Err(AirError::new(
                codes::TOOL_INTERRUPTED,
                "a command of the tool was interrupted: its outcome is unknown",
            ));
        };
        let kept = running.folder.output(8 * 1024 * 1024, 8 * 1024 * 1024)?;
        let report = report(self.call, Some(&record), Some(&running.folder)).await?;
        let _ = running.folder.remove(); // swept at the next start where it cannot go now
        let output = [kept.head, kept.tail].concat();
        Ok(CommandResult { outcome: report.outcome, output, artifact: report.artifact })
    }
}

impl ToolHost for Host<'_> {
    fn run(&self, spec: CommandSpec) -> BoxFuture<'_, Result<CommandResult>> {
        Box::pin(self.run_one(spec))
    }

    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(async move {
            let path = self.inside(path, PathOp::Read)?;
            let whole = crate::fs::read_whole(&path, 64 * 1024 * 1024)
                .map_err(|error| AirError::io(path.display(), &error))?;
            whole.ok_or_else(|| {
                AirError::new(codes::EDIT_TOO_LARGE, format!("{} is larger than 64 MiB", path.display()))
            })
        })
    }

    fn write<'a>(&'a self, path: &'a Path, bytes: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let path = self.inside(path, PathOp::Write)?;
            crate::fs::replace_whole(&path, bytes, &self.call.run_id.hex())
        })
    }

    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Vec<OsString>>> {
        Box::pin(async move {
            let path = self.inside(path, PathOp::Read)?;
            let entries = std::fs::read_dir(&path).map_err(|error| AirError::io(path.display(), &error))?;
            let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
            names.sort();
            Ok(names)
        })
    }

    fn artifact<'a>(
        &'a self,
        bytes: &'a [u8],
        media_type: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<ArtifactRef>> {
        Box::pin(async move {
            let store = &self.call.kit.deps.store;
            match std::str::from_utf8(bytes) {
                Ok(text) => store.put_artifact(self.call.kit.redact(text).as_bytes(), media_type, name).await,
                Err(_) => store.put_artifact(bytes, media_type, name).await,
            }
        })
    }

    fn progress(&self, text: &str) {
        let (context, kit) = (self.call.context, self.call.kit);
        kit.deps.store.ingest_ephemeral(EphemeralEvent::OutputChunk {
            session_id: context.session_id,
            turn_id: context.turn_id,
            run_id: self.call.run_id,
            text: kit.redact(text),
        });
    }

    fn cancelled(&self) -> bool {
        self.call.cancel.reason().is_some()
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.call.kit.deps.clock.millis())
    }

    fn cache_dir(&self) -> &Path {
        &self.cache
    }
}
