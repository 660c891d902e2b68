//! What to say about an edit that does not match: what the file holds, so that the next try is a copy.

use air_contracts::AirError;
use air_contracts::error::codes;

use super::fold::look_alike;
use super::matching::{Mismatch, Replacement};
use super::nearest::{Indentation, but_for_space, nearest};
use super::text::{around, cut_line, lines, to_lf};

/// Bytes of the file that an error may show.
const BUDGET: usize = 8_000;

/// The error, and whether it shows lines of the file (which then count as read).
pub(super) fn explain(
    shown: &str,
    file: &[u8],
    edits: &[Replacement],
    mismatch: &Mismatch,
) -> (AirError, bool) {
    match mismatch {
        Mismatch::NotFound { edit } => {
            let name = name_of("old_string", *edit, edits.len());
            match edits.get(*edit) {
                Some(edit) => not_found(shown, file, &edit.old, &name),
                None => (AirError::internal("an edit without its text"), false),
            }
        }
        Mismatch::Ambiguous { edit, lines } => {
            let name = name_of("old_string", *edit, edits.len());
            let mut places: Vec<String> = lines.iter().take(20).map(usize::to_string).collect();
            if lines.len() > 20 {
                places.push("…".to_owned());
            }
            let text = format!(
                "{name} occurs {} times in {shown} (lines {}). Add a neighbouring line that is unique, or set replace_all. Nothing was written.",
                lines.len(),
                places.join(", ")
            );
            (AirError::new(codes::EDIT_AMBIGUOUS_MATCH, text), false)
        }
        Mismatch::Overlapping { first, second, line } => {
            let text = format!(
                "edits {} and {} change the same text of {shown} (line {line}). Make one edit of them. Nothing was written.",
                first + 1,
                second + 1
            );
            (AirError::new(codes::EDIT_OVERLAPPING, text), false)
        }
    }
}

/// `old_string`, or `old_string of edit 2`.
pub(super) fn name_of(what: &str, edit: usize, edits: usize) -> String {
    if edits > 1 { format!("{what} of edit {}", edit + 1) } else { what.to_owned() }
}

fn error(text: String) -> AirError {
    AirError::new(codes::EDIT_NOT_FOUND, text)
}

fn not_found(shown: &str, file: &[u8], old: &str, name: &str) -> (AirError, bool) {
    if file.is_empty() {
        let text =
            format!("{name} is not in {shown}: the file is empty. Nothing was written. `fs.write` fills it.");
        return (error(text), false);
    }
    if old.contains('\u{FFFD}') {
        let text = format!(
            "{name} is not in {shown}: it holds U+FFFD, which a read shows in place of bytes that are not UTF-8. Use text beside them. Nothing was written."
        );
        return (error(text), false);
    }
    let old = to_lf(old);
    if let Some(text) = final_newline(shown, file, &old, name) {
        return (error(text), false);
    }
    let raw = lines(file);
    // Lines that are no text cannot be like the text; a very long one is compared by its beginning.
    let text_lines: Vec<String> = raw.iter().map(|line| cut_line(line, 4_000)).collect();
    let old_lines: Vec<&str> = old.strip_suffix('\n').unwrap_or(&old).split('\n').collect();
    if let Some((first, kind)) = but_for_space(&text_lines, &old_lines) {
        let last = first + old_lines.len();
        let has = match kind {
            Indentation::FileTabs => "the file has tabs, old_string has spaces",
            Indentation::FileSpaces => "the file has spaces, old_string has tabs",
            Indentation::Amount => "the amount of white space is another",
        };
        let what = if kind == Indentation::Amount { "white space" } else { "indentation" };
        let text = format!(
            "{name} is not in {shown}: the text at lines {}-{last} differs in {what} only: {has}. The lines follow and count as read; copy them. Nothing was written.",
            first + 1
        );
        return (error(text).hint(around(&raw, &[first + 1..=last], BUDGET)), true);
    }
    if let Some((first, difference)) = look_alike(&text_lines, &old) {
        let text = format!(
            "{name} is not in {shown}, but line {} looks like it: {difference}. Copy the line that follows. Nothing was written.",
            first + 1
        );
        return (error(text).hint(around(&raw, &[first + 1..=first + old_lines.len()], BUDGET)), true);
    }
    nearest_place(shown, &raw, &text_lines, &old_lines, name)
}

fn final_newline(shown: &str, file: &[u8], old: &str, name: &str) -> Option<String> {
    let bare = old.trim_end_matches('\n');
    let file = String::from_utf8_lossy(file).replace("\r\n", "\n");
    let missing = old.len() > bare.len() && !bare.is_empty() && !file.contains(old);
    (missing && file.trim_end_matches('\n').ends_with(bare)).then(|| {
        format!(
            "{name} ends in a newline that {shown} does not have there: its text stands at the end of file. Leave the newline out. Nothing was written."
        )
    })
}

fn nearest_place(shown: &str, raw: &[&[u8]], file: &[String], old: &[&str], name: &str) -> (AirError, bool) {
    let Some(near) = nearest(file, old) else {
        let text = format!(
            "{name} is not in {shown}, and nothing there is like it ({} lines). Nothing was written. Find the place with `fs.search`.",
            raw.len()
        );
        return (error(text), false);
    };
    let (first, last) = (near.first + 1, (near.first + old.len()).min(raw.len()));
    let show = |line: Option<&str>| match line {
        Some(line) => format!("`{}`", cut_line(line.as_bytes(), 200)),
        None => "nothing (end of file)".to_owned(),
    };
    let text = format!(
        "{name} is not in {shown}. Nearest: lines {first}-{last}; line {} of old_string differs: file has {}, old_string has {}. Lines around follow and count as read. Nothing was written.",
        near.differs + 1,
        show(file.get(near.first + near.differs).map(String::as_str)),
        show(old.get(near.differs).copied()),
    );
    (error(text).hint(around(raw, &[first..=last], BUDGET)), true)
}
