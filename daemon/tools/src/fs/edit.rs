//! `fs.edit`: exact replacements in one file, all or none.

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

use super::diagnose::{explain, name_of};
use super::matching::{Edited, Replacement, apply};
use super::open::read_whole;
use super::text::{around, human_bytes, lines};
use super::{atomic, lookup, relative};
use crate::gate::Permit;
use crate::hash::sha256_hex;
use crate::kit::{Kit, blocking};
use crate::seen::{Seen, line_hashes, seen_data};
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

/// Larger files are not edited: they are no source text, and they would be held in memory twice.
pub(super) const EDIT_LIMIT: u64 = 64 * 1024 * 1024;

const NOTHING: &str = "Nothing was written.";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    old_string: Option<String>,
    #[serde(default)]
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
    #[serde(default)]
    edits: Vec<One>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// The tool.
pub(super) struct Edit(ToolDefinition);

impl Edit {
    /// With its texts.
    pub fn new() -> Self {
        let one = object(
            json!({ "old_string": { "type": "string" }, "new_string": { "type": "string" }, "replace_all": { "type": "boolean" } }),
            &["old_string", "new_string"],
        );
        let schema = object(
            json!({
                "path": { "type": "string" },
                "old_string": { "type": "string" },
                "new_string": { "type": "string" },
                "replace_all": { "type": "boolean" },
                "edits": { "type": "array", "items": one, "description": "Several places of the file, in place of old_string" },
            }),
            &["path"],
        );
        Self(define(
            "fs.edit",
            ToolCategory::Fs,
            EffectClass::Verifiable,
            "write inside the workspace",
            "Replaces exact text in a file that you have read. old_string must be unique there, unless replace_all is set. Line ends are the file's own. Several edits: all or none, each matched against the file as it is.",
            schema,
        ))
    }
}

impl Input {
    fn read(value: &Value) -> Result<(String, Vec<Replacement>)> {
        let input: Self = parse("fs.edit", value)?;
        let mut edits: Vec<Replacement> = Vec::new();
        if let Some(old) = input.old_string {
            let Some(new) = input.new_string else { return Err(missing("`new_string` is missing")) };
            edits.push(Replacement { old, new, all: input.replace_all });
        }
        edits.extend(input.edits.into_iter().map(|e| Replacement {
            old: e.old_string,
            new: e.new_string,
            all: e.replace_all,
        }));
        if edits.is_empty() {
            return Err(missing("neither `old_string` nor `edits` is there"));
        }
        for (index, edit) in edits.iter().enumerate() {
            let old = name_of("old_string", index, edits.len());
            if edit.old.is_empty() {
                let text = format!("{old} is empty. {NOTHING} To create or fill a file, use `fs.write`.");
                return Err(AirError::new(codes::EDIT_EMPTY_OLD_STRING, text));
            }
            if edit.old == edit.new {
                let text = format!("{old} and new_string are identical. {NOTHING}");
                return Err(AirError::new(codes::EDIT_NO_CHANGE, text));
            }
        }
        Ok((input.path, edits))
    }
}

fn missing(what: &str) -> AirError {
    AirError::new(codes::TOOL_INVALID_INPUT, format!("`fs.edit`: {what}. {NOTHING}"))
}

/// An edit that fits the file as it is now.
struct Ready {
    path: PathBuf,
    shown: String,
    before: String,
    after: String,
    edited: Edited,
}

impl Builtin for Edit {
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
            let (path, _) = Input::read(&input)?;
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
            let ready = ready(permit, call, &plan.input).await?;
            let (before, after) = (Some(ready.before), Some(ready.after));
            let path =
                WirePath::new(ready.path.strip_prefix(&call.context.workspace_root).unwrap_or(&ready.path));
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
            let ready = ready(permit, call, &plan.input).await?;
            atomic::replace(&ready.path, &ready.edited.bytes, &call.run_id.hex(), false)?;
            Ok(answer(call, ready))
        })
    }
}

fn answer(call: &Call<'_>, ready: Ready) -> ToolOutcome {
    let Ready { path, shown, after, edited, .. } = ready;
    call.kit.seen.note(call.context, &path, &edited.bytes);
    let all = lines(&edited.bytes);
    let places = edited.places.len();
    let word = if places == 1 { "place" } else { "places" };
    let content = format!(
        "[edited {shown} · {places} {word} · {} lines]\n{}",
        all.len(),
        around(&all, &edited.places, 8_000)
    );
    let written = vec![WirePath::new(path.strip_prefix(&call.context.workspace_root).unwrap_or(&path))];
    ToolOutcome {
        summary: format!("{shown}: {places} {word}"),
        content,
        written,
        data: seen_data([(path, after)]),
        ..ToolOutcome::default()
    }
}

/// Reads the file and makes the edits in memory. What may take long has a thread of its own.
async fn ready(permit: &Permit, call: &Call<'_>, input: &Value) -> Step<Ready> {
    let (shown, edits) = Input::read(input)?;
    let path = permit.path(0)?.to_path_buf();
    let (target, name, root) = (path.clone(), shown.clone(), call.context.workspace_root.clone());
    let (file, current) = blocking(move || {
        let file = load(&target, &name, &root)?;
        let sha = sha256_hex(&file);
        Ok::<_, AirError>((file, sha))
    })
    .await??;
    check_seen(call, &path, &shown, &file, &current)?;
    let name = shown.clone();
    let (file, edited) = blocking(move || {
        let edited = apply(&file, &edits).map_err(|mismatch| explain(&name, &file, &edits, &mismatch));
        (file, edited)
    })
    .await?;
    let edited = edited.map_err(|(error, shows)| {
        if shows {
            call.kit.seen.note(call.context, &path, &file);
        }
        error
    })?;
    if edited.bytes == file {
        let text = format!("{shown} would be identical after this edit. {NOTHING}");
        return Err(AirError::new(codes::EDIT_NO_CHANGE, text).into());
    }
    let after = sha256_hex(&edited.bytes);
    Ok(Ready { path, shown, before: current, after, edited })
}

/// The bytes of a file that may be edited as text.
fn load(path: &Path, shown: &str, root: &Path) -> Result<Vec<u8>> {
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(lookup::no_such_file(shown, path, root, NOTHING));
        }
        Err(error) => return Err(super::file_error(shown, &error, NOTHING)),
    };
    if meta.is_dir() {
        return Err(AirError::new(codes::EDIT_IS_DIRECTORY, format!("{shown} is a directory. {NOTHING}")));
    }
    refuse_read_only(shown, &meta)?;
    let whole = read_whole(path, EDIT_LIMIT).map_err(|error| super::file_error(shown, &error, NOTHING))?;
    let Some(bytes) = whole else { return Err(too_large(shown, meta.len())) };
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        let text = format!("{shown} is UTF-16 text, which is not edited in place. {NOTHING}");
        return Err(AirError::new(codes::EDIT_UNSUPPORTED_ENCODING, text));
    }
    if bytes.contains(&0) {
        return Err(AirError::new(
            codes::EDIT_BINARY_FILE,
            format!("{shown} is a binary file (it holds NUL bytes). {NOTHING}"),
        ));
    }
    Ok(bytes)
}

/// Refuses a file that nobody may write: a rename would get around the wish of its owner.
pub(super) fn refuse_read_only(shown: &str, meta: &std::fs::Metadata) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if meta.permissions().mode() & 0o222 != 0 {
        return Ok(());
    }
    let mode = meta.permissions().mode() & 0o7777;
    let text = format!("{shown} is read-only (mode {mode:04o}). {NOTHING}");
    Err(AirError::new(codes::EDIT_PERMISSION_DENIED, text))
}

/// A file above the limit.
pub(super) fn too_large(shown: &str, size: u64) -> AirError {
    let text = format!(
        "{shown} has {}; files above {} are not edited. {NOTHING}",
        human_bytes(size),
        human_bytes(EDIT_LIMIT)
    );
    AirError::new(codes::EDIT_TOO_LARGE, text)
}

/// Refuses to change what the caller has not seen, or has seen otherwise.
pub(super) fn check_seen(
    call: &Call<'_>,
    path: &Path,
    shown: &str,
    file: &[u8],
    current: &str,
) -> Result<()> {
    let Some(seen) = call.kit.seen.get(call.context, path) else {
        let text = format!(
            "{shown} was not read in this task. {NOTHING} Use `fs.read` first (a hit of `fs.search` counts)."
        );
        return Err(AirError::new(codes::EDIT_NOT_READ, text));
    };
    if seen.sha == current {
        return Ok(());
    }
    let all = lines(file);
    let place = changed(&seen, file);
    let (what, shows) = match place {
        Some((first, last)) => (format!(" (lines {first}-{last})"), around(&all, &[first..=last], 8_000)),
        None => (String::new(), around(&all, &[1..=all.len().clamp(1, 200)], 8_000)),
    };
    call.kit.seen.note(call.context, path, file);
    let text = format!(
        "{shown} changed since it was read{what}. The lines that follow are the new ones and count as read. {NOTHING}"
    );
    Err(AirError::new(codes::EDIT_STALE_FILE, text).hint(shows))
}

/// The range of lines that differ from what was seen.
fn changed(seen: &Seen, file: &[u8]) -> Option<(usize, usize)> {
    let before = seen.lines.as_deref()?;
    let now = line_hashes(file);
    let head = before.iter().zip(now.iter()).take_while(|(a, b)| a == b).count();
    let room = before.len().min(now.len()) - head;
    let tail = before.iter().rev().zip(now.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let last = now.len().saturating_sub(tail);
    Some((head + 1, last.max(head + 1)))
}
