//! `fs.search`: a regular expression over the files that git does not ignore.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use air_contracts::error::codes;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use air_contracts::{AirError, Result};
use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};

use super::open::read_whole;
use super::text::cut_line;
use super::{file_error, relative, shown, walker};
use crate::cancel::Cancel;
use crate::gate::{Permit, ReadFilter};
use crate::kit::{Kit, blocking};
use crate::seen::seen_data;
use crate::tool::{Builtin, Call, Step, define, effect, object, parse, plan_of};

const MOST_HITS: usize = 100;
const MOST_PER_FILE: usize = 20;
const MOST_FILES: usize = 200;
const LINE: usize = 300;
const FILE_LIMIT: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Content,
    Files,
    Count,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    glob: Option<String>,
    #[serde(default)]
    output_mode: OutputMode,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    literal: bool,
}

/// The tool.
pub(super) struct Search(ToolDefinition);

impl Search {
    /// With its texts.
    pub fn new() -> Self {
        let schema = object(
            json!({
                "pattern": { "type": "string", "description": "Regular expression" },
                "path": { "type": "string", "description": "File or folder" },
                "glob": { "type": "string", "description": "`*.cpp`, `src/**`" },
                "output_mode": { "type": "string", "enum": ["content", "files", "count"] },
                "context": { "type": "integer", "minimum": 0, "maximum": 10 },
                "case_insensitive": { "type": "boolean" },
                "literal": { "type": "boolean" },
            }),
            &["pattern"],
        );
        Self(define(
            "fs.search",
            ToolCategory::Fs,
            EffectClass::Pure,
            "read inside the workspace",
            "Searches file contents, ignored files left out. At most 100 hits, 20 a file, as `path:line:text`; for the rest counts per file. Lines shown count as read. For names use `fs.glob`.",
            schema,
        ))
    }
}

impl Builtin for Search {
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
            let typed: Input = parse("fs.search", &input)?;
            let path = relative(typed.path.as_deref().unwrap_or("."), &context.workspace_root);
            let title = if path == "." { typed.pattern } else { format!("{} in {path}", typed.pattern) };
            input["path"] = Value::String(path.clone());
            Ok(plan_of(input, title, vec![effect(EffectKind::Read, path)]))
        })
    }

    fn execute<'a>(
        &'a self,
        permit: &'a Permit,
        call: &'a Call<'a>,
        plan: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let input: Input = parse("fs.search", &plan.input)?;
            let start = permit.path(0)?.to_path_buf();
            let root = call.context.workspace_root.clone();
            let (filter, cancel, given) = (permit.read_filter(call), call.cancel.clone(), input.clone());
            let found = blocking(move || search(&given, &start, &root, &filter, &cancel)).await??;
            let read = found.files.iter().filter(|_| input.output_mode == OutputMode::Content);
            let seen: Vec<(PathBuf, String)> = read
                .filter(|file| !file.shown.is_empty())
                .map(|file| (file.path.clone(), call.kit.seen.note(call.context, &file.path, &file.bytes)))
                .collect();
            let summary = format!("{} hits in {} files", found.hits(), found.files.len());
            Ok(ToolOutcome {
                summary,
                content: render(&input, &found),
                data: seen_data(seen),
                ..ToolOutcome::default()
            })
        })
    }
}

/// What was found in one file.
struct FileHits {
    path: PathBuf,
    name: String,
    count: usize,
    /// Lines in the form in which they are shown.
    shown: Vec<String>,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct Found {
    files: Vec<FileHits>,
    searched: usize,
    stopped: bool,
}

impl Found {
    fn hits(&self) -> usize {
        self.files.iter().map(|file| file.count).sum()
    }
}

fn matcher(input: &Input) -> Result<RegexMatcher> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(input.case_insensitive).fixed_strings(input.literal).multi_line(true);
    // A pattern with a newline cannot match within lines; the builder says so.
    builder.line_terminator(Some(b'\n'));
    builder.build(&input.pattern).map_err(|error| {
        let text = error.to_string();
        let reason = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it cannot be parsed");
        let reason = reason.trim().trim_start_matches("error: ");
        let text = format!(
            "{reason} in `{}`. Nothing was searched. For plain text set literal true.",
            input.pattern
        );
        AirError::new(codes::SEARCH_INVALID_PATTERN, text)
    })
}

/// A glob over paths below the start; one without a slash matches names at any depth.
pub(super) fn glob_of(glob: &str) -> Result<GlobMatcher> {
    let glob = glob.trim_start_matches("./");
    let whole = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
    let built = GlobBuilder::new(&whole).literal_separator(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| {
        AirError::new(
            codes::SEARCH_INVALID_PATTERN,
            format!("{} in the glob `{glob}`. Nothing was searched.", error.kind()),
        )
    })
}

fn search(input: &Input, start: &Path, root: &Path, filter: &ReadFilter, cancel: &Cancel) -> Result<Found> {
    let matcher = matcher(input)?;
    let glob = input.glob.as_deref().map(glob_of).transpose()?;
    std::fs::symlink_metadata(start)
        .map_err(|error| file_error(&shown(start, root), &error, "Nothing was searched."))?;
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .before_context(input.context)
        .after_context(input.context)
        .build();
    let mut found = Found::default();
    let mut left = MOST_HITS;
    let mut walk = walker(start, true);
    for entry in walk.sort_by_file_name(std::ffi::OsStr::cmp).build().flatten() {
        if cancel.reason().is_some() || found.files.len() >= 5_000 {
            found.stopped = true;
            break;
        }
        let path = entry.path();
        let file = entry.file_type().is_some_and(|kind| kind.is_file());
        let below = path.strip_prefix(start).ok().filter(|below| !below.as_os_str().is_empty());
        let wanted = glob.as_ref().is_none_or(|glob| {
            let from_root = path.strip_prefix(root).is_ok_and(|below| glob.is_match(below));
            from_root || below.is_some_and(|below| glob.is_match(below))
        });
        if !file || !wanted {
            continue;
        }
        let Ok(Some(bytes)) = read_whole(path, FILE_LIMIT) else { continue };
        found.searched += 1;
        let most = if input.output_mode == OutputMode::Content { left.min(MOST_PER_FILE) } else { 0 };
        let Some(hits) = search_file(&mut searcher, &matcher, path, bytes, root, most) else { continue };
        if !filter.allows(path) {
            continue;
        }
        left -= hits.count.min(most);
        found.files.push(hits);
    }
    Ok(found)
}

fn search_file(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    path: &Path,
    bytes: Vec<u8>,
    root: &Path,
    most: usize,
) -> Option<FileHits> {
    let name = shown(path, root);
    let mut sink = Collect { name: &name, most, count: 0, shown: Vec::new() };
    searcher.search_slice(matcher, &bytes, &mut sink).ok()?;
    let Collect { count, shown, .. } = sink;
    let keep = if shown.is_empty() { Vec::new() } else { bytes };
    (count > 0).then(|| FileHits { path: path.to_path_buf(), name, count, shown, bytes: keep })
}

struct Collect<'a> {
    name: &'a str,
    most: usize,
    count: usize,
    shown: Vec<String>,
}

impl Collect<'_> {
    fn line(&mut self, number: Option<u64>, bytes: &[u8], mark: char) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let number = number.unwrap_or(0);
        self.shown.push(format!("{}{mark}{number}{mark}{}", self.name, cut_line(bytes, LINE)));
    }
}

impl Sink for Collect<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> std::io::Result<bool> {
        self.count += 1;
        if self.count <= self.most {
            self.line(hit.line_number(), hit.bytes(), ':');
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> std::io::Result<bool> {
        if self.count <= self.most && self.most > 0 {
            self.line(context.line_number(), context.bytes(), '-');
        }
        Ok(true)
    }
}

fn render(input: &Input, found: &Found) -> String {
    let (hits, files) = (found.hits(), found.files.len());
    if hits == 0 {
        return format!("[no matches in {} files]", found.searched);
    }
    let plural = |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
    let mut text = format!("[{} in {}]", plural(hits, "hit"), plural(files, "file"));
    match input.output_mode {
        OutputMode::Content => {
            for line in found.files.iter().flat_map(|file| &file.shown) {
                let _ = write!(text, "\n{line}");
            }
            text.push_str(&rest(found));
        }
        OutputMode::Files | OutputMode::Count => {
            for file in found.files.iter().take(MOST_FILES) {
                let count = if input.output_mode == OutputMode::Count {
                    format!(": {}", file.count)
                } else {
                    String::new()
                };
                let _ = write!(text, "\n{}{count}", file.name);
            }
            if files > MOST_FILES {
                let _ = write!(text, "\n[{} files more: narrow with path or glob]", files - MOST_FILES);
            }
        }
    }
    if found.stopped {
        text.push_str("\n[stopped early: narrow with path or glob]");
    }
    text
}

/// Counts of hits that are not shown, by file.
fn rest(found: &Found) -> String {
    let left: BTreeMap<&str, usize> = found
        .files
        .iter()
        .map(|file| {
            (
                file.name.as_str(),
                file.count - file.shown.iter().filter(|line| is_hit(line, &file.name)).count(),
            )
        })
        .filter(|(_, left)| *left > 0)
        .collect();
    if left.is_empty() {
        return String::new();
    }
    let sum: usize = left.values().sum();
    let mut text = format!("\n[{sum} hits more:");
    for (name, count) in left.iter().take(30) {
        let _ = write!(text, " {name} {count},");
    }
    if left.len() > 30 {
        let _ = write!(text, " {} files more,", left.len() - 30);
    }
    text.push_str(" narrow with path or glob]");
    text
}

fn is_hit(line: &str, name: &str) -> bool {
    line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
}
