//! `fs.glob`: files by name, the newest first.

use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use air_contracts::Result;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use serde::Deserialize;
use serde_json::{Value, json};

use super::search::glob_of;
use super::{file_error, relative, shown, walker};
use crate::gate::Permit;
use crate::kit::{Kit, blocking};
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

const MOST: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
}

/// The tool.
pub(super) struct Glob(ToolDefinition);

impl Glob {
    /// With its texts.
    pub fn new() -> Self {
        let schema =
            object(json!({ "pattern": { "type": "string" }, "path": { "type": "string" } }), &["pattern"]);
        Self(define(
            "fs.glob",
            ToolCategory::Fs,
            EffectClass::Pure,
            "read inside the workspace",
            "Finds files by name, `**/*.h` or `test_*`, the newest first, at most 200. Ignored files are left out and counted.",
            schema,
        ))
    }
}

impl Builtin for Glob {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(
        &'a self,
        _: &'a Kit,
        context: &'a CallContext,
        mut input: Value,
    ) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move {
            let Input { pattern, path } = parse("fs.glob", &input)?;
            glob_of(&pattern)?;
            let path = relative(path.as_deref().unwrap_or("."), &context.workspace_root);
            input["path"] = Value::String(path.clone());
            Ok(plan_of(input, pattern, vec![effect(EffectKind::Read, path)]))
        })
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let Input { pattern, .. } = parse("fs.glob", &plan.input)?;
            let (start, root) = (permit.path(0)?.to_path_buf(), call.context.workspace_root.clone());
            let (content, count) = blocking(move || find(&pattern, &start, &root)).await??;
            Ok(ToolOutcome { summary: format!("{count} files"), content, ..ToolOutcome::default() })
        })
    }
}

fn find(pattern: &str, start: &Path, root: &Path) -> Result<(String, usize)> {
    std::fs::symlink_metadata(start)
        .map_err(|error| file_error(&shown(start, root), &error, "Nothing was searched."))?;
    let glob = glob_of(pattern)?;
    let fits = |path: &Path| {
        let below = |from: &Path| path.strip_prefix(from).is_ok_and(|below| glob.is_match(below));
        below(start) || below(root)
    };
    let files = |ignored: bool| {
        let mut builder = walker(start, true);
        if ignored {
            builder.git_ignore(false).git_exclude(false).git_global(false).ignore(false);
        }
        builder
            .build()
            .flatten()
            .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
            .take(200_000)
    };
    let mut found: Vec<(SystemTime, String)> = files(false)
        .filter(|entry| fits(entry.path()))
        .map(|entry| {
            let time =
                entry.metadata().ok().and_then(|meta| meta.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
            (time, shown(entry.path(), root))
        })
        .collect();
    let ignored = files(true).filter(|entry| fits(entry.path())).count().saturating_sub(found.len());
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let left_out = if ignored == 0 { String::new() } else { format!(" · {ignored} ignored") };
    if found.is_empty() {
        return Ok((format!("[no files match `{pattern}`{left_out}]"), 0));
    }
    let mut text = format!("[{} files{left_out}]", found.len());
    for (_, name) in found.iter().take(MOST) {
        let _ = write!(text, "\n{name}");
    }
    if found.len() > MOST {
        let _ = write!(text, "\n[{} more: narrow the pattern]", found.len() - MOST);
    }
    Ok((text, found.len()))
}
