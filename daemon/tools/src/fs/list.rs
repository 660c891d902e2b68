//! `fs.list`: what a folder holds. Models read folders with `fs.read`.

use std::fmt::Write as _;
use std::path::Path;

use air_contracts::error::codes;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::text::human_bytes;
use super::{file_error, relative};
use crate::gate::Permit;
use crate::kit::{Kit, blocking};
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

const MOST: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    depth: Option<usize>,
}

/// The tool.
pub(super) struct List(ToolDefinition);

impl List {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({ "path": { "type": "string" }, "depth": { "type": "integer", "minimum": 1, "maximum": 3 } }),
            &["path"],
        );
        Self(define(
            "fs.list",
            ToolCategory::Fs,
            EffectClass::Pure,
            "read inside the workspace",
            "Lists a folder, at most 500 names, 1 to 3 levels deep. `fs.glob` finds files by pattern.",
            schema,
        ))
    }
}

impl Builtin for List {
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
            let Input { path, .. } = parse("fs.list", &input)?;
            let path = relative(&path, &context.workspace_root);
            input["path"] = Value::String(path.clone());
            Ok(plan_of(input, path.clone(), vec![effect(EffectKind::Read, path)]))
        })
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        _: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("fs.list", &plan.input)?;
            let (path, shown) = (permit.path(0)?.to_path_buf(), input.path.clone());
            let content = blocking(move || listing(&path, &shown, input.depth.unwrap_or(1))).await??;
            Ok(ToolOutcome { summary: format!("{}: folder", input.path), content, ..ToolOutcome::default() })
        })
    }
}

/// The names in a folder: folders with a slash, files with their size.
pub(super) fn listing(path: &Path, shown: &str, depth: usize) -> Result<String> {
    let meta =
        std::fs::symlink_metadata(path).map_err(|error| file_error(shown, &error, "Nothing was read."))?;
    if !meta.is_dir() {
        let text = format!("{shown} is not a directory. Nothing was listed. `fs.read` reads a file.");
        return Err(AirError::new(codes::EDIT_NOT_A_DIRECTORY, text));
    }
    let mut names = Vec::new();
    collect(path, "", depth, &mut names).map_err(|error| file_error(shown, &error, "Nothing was read."))?;
    let total = names.len();
    let mut text = format!("[{shown}/ · {total} entries]");
    if total == 0 {
        return Ok(format!("[{shown}/ · empty folder]"));
    }
    for name in names.iter().take(MOST) {
        let _ = write!(text, "\n{name}");
    }
    if total > MOST {
        let _ = write!(text, "\n[{} more: list a folder below, or use `fs.glob`]", total - MOST);
    }
    Ok(text)
}

fn collect(folder: &Path, prefix: &str, depth: usize, names: &mut Vec<String>) -> std::io::Result<()> {
    let mut entries: Vec<std::fs::DirEntry> = std::fs::read_dir(folder)?.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if names.len() > 20_000 {
            break;
        }
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            names.push(format!("{name}/"));
            if depth > 1 && entry.file_name() != ".git" {
                let _ = collect(&entry.path(), &format!("{name}/"), depth - 1, names); // one that cannot be read shows nothing below
            }
        } else if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap_or_default();
            names.push(format!("{name} -> {}", target.display()));
        } else {
            let size = entry.metadata().map_or(0, |meta| meta.len());
            names.push(format!("{name}  {}", human_bytes(size)));
        }
    }
    Ok(())
}
