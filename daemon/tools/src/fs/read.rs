//! `fs.read`: the lines of a file with their numbers.

use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::open::read_whole;
use super::text::{LINE_LIMIT, cut_line, human_bytes, lines};
use super::{file_error, list, lookup, relative};
use crate::gate::Permit;
use crate::kit::{Kit, blocking};
use crate::seen::seen_data;
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

/// Lines and bytes of one answer.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 40_000;
/// Larger files are for the shell.
const READ_LIMIT: u64 = 64 * 1024 * 1024;
const NOTHING: &str = "Nothing was read.";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    limit: Option<usize>,
}

/// The tool.
pub(super) struct Read(ToolDefinition);

impl Read {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "path": { "type": "string" },
                "offset": { "type": "integer", "minimum": 1, "description": "First line, from 1" },
                "limit": { "type": "integer", "minimum": 1, "description": "Lines" },
            }),
            &["path"],
        );
        Self(define(
            "fs.read",
            ToolCategory::Fs,
            EffectClass::Pure,
            "read inside the workspace",
            "Reads a text file, with line numbers (`12|text`; the number and the bar are not part of the file). At most 2,000 lines or 40 KB a call; offset continues. A folder gives its listing. To find text in many files use `fs.search`.",
            schema,
        ))
    }
}

impl Builtin for Read {
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
            let Input { path, .. } = parse("fs.read", &input)?;
            let path = relative(&path, &context.workspace_root);
            input["path"] = Value::String(path.clone());
            Ok(plan_of(input, path.clone(), vec![effect(EffectKind::Read, path)]))
        })
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("fs.read", &plan.input)?;
            let path = permit.path(0)?.to_path_buf();
            let (target, shown, root) =
                (path.clone(), input.path.clone(), call.context.workspace_root.clone());
            let found = blocking(move || load(&target, &shown, &root)).await??;
            match found {
                Found::Folder(listing) => {
                    let summary = format!("{}: folder", input.path);
                    Ok(ToolOutcome { summary, content: listing, ..ToolOutcome::default() })
                }
                Found::File(bytes) => file(call, path, &bytes, &input),
            }
        })
    }
}

enum Found {
    Folder(String),
    File(Vec<u8>),
}

fn load(path: &Path, shown: &str, root: &Path) -> Result<Found> {
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(lookup::no_such_file(shown, path, root, NOTHING));
        }
        Err(error) => return Err(file_error(shown, &error, NOTHING)),
    };
    if meta.is_dir() {
        return list::listing(path, shown, 1).map(Found::Folder);
    }
    match read_whole(path, READ_LIMIT).map_err(|error| file_error(shown, &error, NOTHING))? {
        Some(bytes) => Ok(Found::File(bytes)),
        None => {
            let text = format!(
                "{shown} has {}; a read takes at most {}. {NOTHING} `fs.search` with path finds places in it.",
                human_bytes(meta.len()),
                human_bytes(READ_LIMIT)
            );
            Err(AirError::new(codes::EDIT_TOO_LARGE, text))
        }
    }
}

fn file(call: &Call<'_>, path: PathBuf, bytes: &[u8], input: &Input) -> Step<ToolOutcome> {
    let shown = &input.path;
    let text = match decode(bytes) {
        Decoded::Text(text) => text,
        Decoded::Binary(kind) => {
            let content =
                format!("[{shown} · {kind}, {} · not shown as text]", human_bytes(bytes.len() as u64));
            return Ok(ToolOutcome {
                summary: format!("{shown}: {kind}"),
                content,
                ..ToolOutcome::default()
            });
        }
    };
    let all = lines(&text);
    let page = page(shown, &all, input)?;
    let sha = call.kit.seen.note(call.context, &path, bytes);
    Ok(ToolOutcome {
        summary: format!("{shown}: {}", page.what),
        content: page.content,
        data: seen_data([(path, sha)]),
        ..ToolOutcome::default()
    })
}

struct Page {
    what: String,
    content: String,
}

fn page(shown: &str, all: &[&[u8]], input: &Input) -> Result<Page> {
    let total = all.len();
    if total == 0 {
        return Ok(Page { what: "empty".to_owned(), content: format!("[{shown} · empty file]") });
    }
    let offset = input.offset.unwrap_or(1);
    if offset > total {
        let start = total.saturating_sub(199).max(1);
        let text = format!(
            "{shown} has {total} lines, offset is {offset}. {NOTHING} The last {} lines: offset {start}.",
            total - start + 1
        );
        return Err(AirError::new(codes::READ_OFFSET_OUT_OF_RANGE, text));
    }
    let most = input.limit.unwrap_or(MOST_LINES).min(MOST_LINES);
    let mut body = String::new();
    let mut last = offset - 1;
    for line in all.iter().skip(offset - 1).take(most) {
        let line = format!("{}|{}\n", last + 1, cut_line(line, LINE_LIMIT));
        if body.len() + line.len() > MOST_BYTES && last >= offset {
            break;
        }
        body.push_str(&line);
        last += 1;
    }
    let what = format!("lines {offset}-{last} of {total}");
    let mut content = format!("[{shown} · {what}]\n{}", body.trim_end_matches('\n'));
    if last < total {
        content.push_str(&format!("\n[{} lines left: offset {}]", total - last, last + 1));
    }
    Ok(Page { what, content })
}

enum Decoded<'a> {
    Text(std::borrow::Cow<'a, [u8]>),
    Binary(&'static str),
}

fn decode(bytes: &[u8]) -> Decoded<'_> {
    if let Some(rest) = bytes.strip_prefix(&[0xFF, 0xFE]) {
        return Decoded::Text(utf16(rest, u16::from_le_bytes).into());
    }
    if let Some(rest) = bytes.strip_prefix(&[0xFE, 0xFF]) {
        return Decoded::Text(utf16(rest, u16::from_be_bytes).into());
    }
    if let Some(kind) = image(bytes) {
        return Decoded::Binary(kind);
    }
    if bytes.contains(&0) {
        return Decoded::Binary(if bytes.starts_with(b"\x7fELF") { "ELF binary" } else { "binary" });
    }
    Decoded::Text(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).into())
}

fn utf16(bytes: &[u8], from: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| from(*pair));
    char::decode_utf16(units).map(|c| c.unwrap_or('\u{FFFD}')).collect::<String>().into_bytes()
}

fn image(bytes: &[u8]) -> Option<&'static str> {
    const KINDS: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"\xFF\xD8\xFF", "JPEG image"),
        (b"GIF87a", "GIF image"),
        (b"GIF89a", "GIF image"),
        (b"BM\0", "BMP image"),
        (b"%PDF-", "PDF document"),
    ];
    let known = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    known.or(webp.then_some("WebP image"))
}
