//! `fs.stat`: the facts of one name.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use air_contracts::Result;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{file_error, relative};
use crate::gate::Permit;
use crate::kit::Kit;
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
}

/// The tool.
pub(super) struct Stat(ToolDefinition);

impl Stat {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(json!({ "path": { "type": "string" } }), &["path"]);
        let description = "Kind, size, mode and time of a file or folder, without its content.";
        Self(define(
            "fs.stat",
            ToolCategory::Fs,
            EffectClass::Pure,
            "read inside the workspace",
            description,
            schema,
        ))
    }
}

impl Builtin for Stat {
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
            let Input { path } = parse("fs.stat", &input)?;
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
            let Input { path: shown } = parse("fs.stat", &plan.input)?;
            let meta = std::fs::symlink_metadata(permit.path(0)?)
                .map_err(|error| file_error(&shown, &error, "Nothing was read."))?;
            let kind = match meta.file_type() {
                kind if kind.is_dir() => "folder",
                kind if kind.is_file() => "file",
                _ => "special file",
            };
            let mode = meta.permissions().mode() & 0o7777;
            let time = air_contracts::Timestamp::from_millis(meta.mtime().saturating_mul(1_000));
            let content =
                format!("[{shown} · {kind} · {} bytes · mode {mode:04o} · changed {time}]", meta.len());
            let data = json!({ "kind": kind, "size": meta.len(), "mode": mode, "mtime": time });
            Ok(ToolOutcome { summary: format!("{shown}: {kind}"), content, data, ..ToolOutcome::default() })
        })
    }
}
