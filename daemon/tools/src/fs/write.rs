//! `fs.write`: a file whole.

use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::event::{FileIntent, Intent};
use air_contracts::path::WirePath;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::edit::{EDIT_LIMIT, check_seen, refuse_read_only, too_large};
use super::open::read_whole;
use super::text::lines;
use super::{atomic, file_error, relative};
use crate::gate::Permit;
use crate::hash::sha256_hex;
use crate::kit::Kit;
use crate::seen::seen_data;
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

const NOTHING: &str = "Nothing was written.";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    content: String,
    #[serde(default)]
    create_only: bool,
}

/// The tool.
pub(super) struct Write(ToolDefinition);

impl Write {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({ "path": { "type": "string" }, "content": { "type": "string" }, "create_only": { "type": "boolean" } }),
            &["path", "content"],
        );
        Self(define(
            "fs.write",
            ToolCategory::Fs,
            EffectClass::Verifiable,
            "write inside the workspace",
            "Creates a file or replaces it whole, byte for byte; folders are made. A file that exists must have been read. For a change of some lines `fs.edit` is shorter.",
            schema,
        ))
    }
}

impl Builtin for Write {
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
            let Input { path, .. } = parse("fs.write", &input)?;
            let path = relative(&path, &context.workspace_root);
            input["path"] = Value::String(path.clone());
            Ok(plan_of(input, path.clone(), vec![effect(EffectKind::Write, path)]))
        })
    }

    fn prepare<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: &'a mut CallPlan,
    ) -> BoxFuture<'a, Step<()>> {
        Box::pin(async move {
            let input: Input = parse("fs.write", &plan.input)?;
            let path = permit.path(0)?;
            let before = check(call, path, &input)?;
            let after = Some(sha256_hex(input.content.as_bytes()));
            let path = WirePath::new(path.strip_prefix(&call.context.workspace_root).unwrap_or(path));
            plan.intent = Intent::Files { files: vec![FileIntent { path, before, after }] };
            Ok(())
        })
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("fs.write", &plan.input)?;
            let path = permit.path(0)?.to_path_buf();
            let before = check(call, &path, &input)?;
            let (content, mark) = (input.content.clone(), call.run_id.hex());
            let target = path.clone();
            crate::kit::blocking(move || atomic::replace(&target, content.as_bytes(), &mark, true)).await??;
            Ok(answer(call, path, before.as_deref(), &input))
        })
    }
}

fn answer(call: &Call<'_>, path: PathBuf, before: Option<&str>, input: &Input) -> ToolOutcome {
    let sha = call.kit.seen.note(call.context, &path, input.content.as_bytes());
    let count = lines(input.content.as_bytes()).len();
    let what = match before {
        None => "new",
        Some(before) if before == sha => "unchanged",
        Some(_) => "replaced",
    };
    let shown = &input.path;
    ToolOutcome {
        summary: format!("{shown}: {count} lines, {what}"),
        content: format!("[wrote {shown} · {count} lines, {what}]"),
        written: vec![WirePath::new(path.strip_prefix(&call.context.workspace_root).unwrap_or(&path))],
        data: seen_data([(path, sha)]),
        ..ToolOutcome::default()
    }
}

/// Whether the file may be written; the hash of what stands there now.
fn check(call: &Call<'_>, path: &Path, input: &Input) -> Result<Option<String>> {
    let shown = &input.path;
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return check_parents(path).map(|()| None);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            let found = super::file_in_the_way(path, &call.context.workspace_root);
            return Err(found.unwrap_or_else(|| file_error(shown, &error, NOTHING)));
        }
        Err(error) => return Err(file_error(shown, &error, NOTHING)),
    };
    if meta.is_dir() {
        return Err(AirError::new(codes::EDIT_IS_DIRECTORY, format!("{shown} is a directory. {NOTHING}")));
    }
    if input.create_only {
        let text = format!("{shown} exists already, and create_only is set. {NOTHING}");
        return Err(AirError::new(codes::EDIT_ALREADY_EXISTS, text));
    }
    refuse_read_only(shown, &meta)?;
    let whole = read_whole(path, EDIT_LIMIT).map_err(|error| file_error(shown, &error, NOTHING))?;
    let Some(bytes) = whole else { return Err(too_large(shown, meta.len())) };
    let current = sha256_hex(&bytes);
    // Nothing is lost where nothing stands.
    if !bytes.is_empty() {
        check_seen(call, path, shown, &bytes, &current)?;
    }
    Ok(Some(current))
}

/// The nearest existing ancestor must be a folder.
fn check_parents(path: &Path) -> Result<()> {
    let parent =
        path.ancestors().skip(1).find_map(|folder| Some((folder, std::fs::symlink_metadata(folder).ok()?)));
    match parent {
        Some((folder, meta)) if !meta.is_dir() => Err(atomic::not_a_directory(folder)),
        _ => Ok(()),
    }
}
