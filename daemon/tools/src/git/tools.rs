//! `git.status`, `git.diff`, `git.log`.

use std::fmt::Write as _;

use air_contracts::Result;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use serde::Deserialize;
use serde_json::{Value, json};

use super::exec::line;
use super::range::trees;
use crate::fs::relative;
use crate::gate::Permit;
use crate::kit::Kit;
use crate::tool::{Builtin, Call, Step, define, object, parse, plan_of};

/// Bytes of one answer.
const MOST: usize = 40_000;

/// `git.status`.
pub(super) struct Status(ToolDefinition);
/// `git.diff`.
pub(super) struct Diff(ToolDefinition);
/// `git.log`.
pub(super) struct Log(ToolDefinition);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffInput {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    range: Option<String>,
    #[serde(default)]
    stat: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogInput {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    limit: Option<u32>,
    #[serde(default)]
    range: Option<String>,
}

fn read_only(name: &str, description: &str, schema: Value) -> ToolDefinition {
    define(name, ToolCategory::Git, EffectClass::Pure, "read the repository", description, schema)
}

impl Status {
    /// With its texts.
    pub fn new() -> Self {
        Self(read_only(
            "git.status",
            "Branch, and the files that differ from the last commit.",
            object(json!({}), &[]),
        ))
    }
}

impl Diff {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "path": { "type": "string" },
                "range": { "type": "string", "description": "`task` (default: this task's own changes), `base`, a commit, A..B" },
                "stat": { "type": "boolean", "description": "Files and counts only" },
            }),
            &[],
        );
        Self(read_only(
            "git.diff",
            "Shows what changed, new files included, as a patch of at most 40 KB.",
            schema,
        ))
    }
}

impl Log {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "path": { "type": "string" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 200 },
                "range": { "type": "string", "description": "A..B" },
            }),
            &[],
        );
        Self(read_only(
            "git.log",
            "Commits, the newest first: hash, date, author, subject. 20 unless limit says otherwise.",
            schema,
        ))
    }
}

impl Builtin for Status {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(&'a self, _: &'a Kit, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move { Ok(plan_of(input, "status", Vec::new())) })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        _: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let repository = call.kit.git.locate(&call.context.workspace_root).await?;
            if repository.shadow {
                let content = "[no git repository here]".to_owned();
                return Ok(ToolOutcome {
                    summary: "no repository".to_owned(),
                    content,
                    ..ToolOutcome::default()
                });
            }
            let out = repository
                .call()
                .args(["status", "--porcelain=v1", "--branch", "--untracked-files=all", "--", "."])
                .ok()
                .await?;
            let text = line(&out);
            let files = text.lines().count().saturating_sub(1);
            let branch = text.lines().next().unwrap_or_default().trim_start_matches("## ").to_owned();
            let mut content = format!("[{branch} · {files} changed]");
            for file in text.lines().skip(1).take(300) {
                let _ = write!(content, "\n{file}");
            }
            if files > 300 {
                let _ = write!(content, "\n[{} more]", files - 300);
            }
            Ok(ToolOutcome { summary: format!("{files} changed"), content, ..ToolOutcome::default() })
        })
    }
}

impl Builtin for Diff {
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
            let typed: DiffInput = parse("git.diff", &input)?;
            if let Some(path) = &typed.path {
                input["path"] = Value::String(relative(path, &context.workspace_root));
            }
            Ok(plan_of(input, typed.range.unwrap_or_else(|| "task".to_owned()), Vec::new()))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: DiffInput = parse("git.diff", &plan.input)?;
            let (from, to) = trees(call.kit, call.context, input.range.as_deref()).await?;
            let paths: Vec<String> = input.path.into_iter().filter(|path| path != ".").collect();
            let changes = call.kit.git.changes(&call.context.workspace_root, &from, &to, &paths).await?;
            let count = changes.files.len();
            if count == 0 {
                return Ok(ToolOutcome {
                    summary: "no changes".to_owned(),
                    content: "[no changes]".to_owned(),
                    ..ToolOutcome::default()
                });
            }
            let mut content = format!("[{count} file{} changed]", if count == 1 { "" } else { "s" });
            for file in changes.files.iter().take(300) {
                let counts = match (file.added, file.removed) {
                    (Some(added), Some(removed)) => format!("+{added} -{removed}"),
                    _ => "binary".to_owned(),
                };
                let _ = write!(content, "\n{} {} {counts}", file.status, file.path.display());
            }
            if !input.stat {
                content.push('\n');
                content.push_str(&patch(&changes.patch));
            }
            Ok(ToolOutcome { summary: format!("{count} files changed"), content, ..ToolOutcome::default() })
        })
    }
}

/// A patch for reading: binary contents left out, whole lines up to the limit.
fn patch(text: &str) -> String {
    let mut out = String::new();
    let mut binary = false;
    let mut left = 0;
    for line in text.lines() {
        if line.starts_with("diff --git ") {
            binary = false;
        } else if line == "GIT binary patch" {
            binary = true;
            out.push_str("[binary]\n");
        }
        if binary {
            continue;
        }
        if out.len() + line.len() > MOST || left > 0 {
            left += 1;
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    if left > 0 {
        let _ = write!(out, "[{left} lines left: give a path]");
    }
    out.trim_end_matches('\n').to_owned()
}

impl Builtin for Log {
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
            let typed: LogInput = parse("git.log", &input)?;
            if let Some(path) = &typed.path {
                input["path"] = Value::String(relative(path, &context.workspace_root));
            }
            Ok(plan_of(input, typed.path.or(typed.range).unwrap_or_else(|| "log".to_owned()), Vec::new()))
        })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: LogInput = parse("git.log", &plan.input)?;
            let repository = call.kit.git.locate(&call.context.workspace_root).await?;
            let limit = input.limit.unwrap_or(20);
            let mut git = repository.call().args([
                "log",
                "--no-color",
                "--no-show-signature",
                "--date=short",
                "--format=%h %ad %an: %s",
                "-n",
            ]);
            git = git
                .args([limit.to_string()])
                .args(["--end-of-options"])
                .args(input.range.as_slice())
                .args(["--"])
                .args(input.path.as_slice());
            let done = git.run().await?;
            let text = line(&done.stdout);
            let content = match (done.ok, text.is_empty()) {
                (true, false) => format!("[{} commits]\n{text}", text.lines().count()),
                (true, true) => "[no commits]".to_owned(),
                (false, _) if done.stderr.contains("does not have any commits") => "[no commits]".to_owned(),
                (false, _) if repository.shadow => "[no git repository here]".to_owned(),
                (false, _) => return Err(done.error("log").into()),
            };
            Ok(ToolOutcome {
                summary: format!("{} commits", text.lines().count()),
                content,
                ..ToolOutcome::default()
            })
        })
    }
}
