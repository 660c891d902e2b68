//! A tool run: one line with its object; a failure with its first message.

use air_contracts::projection::ToolRunView;
use ratatui::text::Span;

use super::Setting;
use super::item::row;
use crate::app::row::{Row, plain, wrap};
use crate::text::escape::{visible_block, visible_line};
use crate::text::layout::cells;
use crate::text::style::Role;
use crate::text::{amounts, lines, words};

/// Rows of what the model read, where it is unfolded.
const SHOWN: usize = 30;
/// Below so many columns nothing is aligned.
const NARROW: usize = 60;
/// Rows of a failure's message.
const MESSAGE: usize = 3;

pub(super) fn rows(run: &ToolRunView, open: bool, at: Setting<'_>) -> Vec<Row> {
    let mut rows = vec![head(run, at)];
    if open {
        rows.extend(content(run, at));
    } else if let Some(message) = message(run) {
        let room = at.width.saturating_sub(8);
        let lines = wrap(&message, room);
        rows.extend(lines.into_iter().take(MESSAGE).map(|line| plain(at.theme, Role::Text, indent(&line))));
    }
    rows
}

fn indent(line: &str) -> String {
    format!("       {line}")
}

fn head(run: &ToolRunView, at: Setting<'_>) -> Row {
    let (mark, _) = words::tool_run(run);
    let tool = visible_line(&run.tool);
    let head = if at.width < NARROW {
        format!(" {} {tool} ", run.short)
    } else {
        format!(" {:<3} {tool:<10} ", run.short.to_string())
    };
    // The mark, both margins and the duration take the rest.
    let text = format!("{head}{}", what(run, at, at.width.saturating_sub(cells(&head) + 12)));
    let took = run.duration_ms.unwrap_or_else(|| at.now.millis_since(run.started_at));
    let right = at.theme.span(Role::Dim, amounts::run_time(took));
    row(vec![Span::raw(" "), at.theme.mark(mark), Span::raw(text)], right, at)
}

/// While it runs its newest line, then what became of it.
fn what(run: &ToolRunView, at: Setting<'_>, room: usize) -> String {
    let output = at.model.outputs.get(&run.id).filter(|_| run.status.is_none());
    let line = output.and_then(|text| last_line(text));
    line.unwrap_or_else(|| lines::what(run, at.theme.pen, room))
}

/// The last line of an output that is not blank, as a terminal would show it.
fn last_line(text: &str) -> Option<String> {
    // Only the end is looked at: outputs are long, and this is drawn often.
    let from = text.ceil_char_boundary(text.len().saturating_sub(4096));
    let shown = visible_block(&text[from..]);
    shown.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(|line| line.replace('\t', " "))
}

/// The first message of a failure, where the line does not say it.
fn message(run: &ToolRunView) -> Option<String> {
    if let Some(error) = &run.error {
        let message = visible_line(&error.message);
        return (!message.is_empty() && !visible_line(&run.summary).contains(&message)).then_some(message);
    }
    if run.exit_code.is_none_or(|code| code == 0) {
        return None;
    }
    let shown = visible_block(&run.content);
    let telling = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "fail", "fatal", "panic", "assert", "expected"].iter().any(|word| line.contains(word))
    };
    let lines: Vec<&str> =
        shown.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('[')).collect();
    lines.iter().copied().find(telling).or_else(|| lines.last().copied()).map(str::to_owned)
}

fn content(run: &ToolRunView, at: Setting<'_>) -> Vec<Row> {
    let live = at.model.outputs.get(&run.id).map(String::as_str).filter(|_| run.status.is_none());
    let shown = visible_block(live.unwrap_or(&run.content));
    let lines = wrap(shown.trim_end(), at.width.saturating_sub(8));
    let more = lines.len().saturating_sub(SHOWN);
    let mut rows: Vec<Row> =
        lines.into_iter().take(SHOWN).map(|line| plain(at.theme, Role::Text, indent(&line))).collect();
    if let Some(error) = &run.error {
        rows.extend(
            wrap(&visible_block(&error.message), at.width.saturating_sub(8))
                .into_iter()
                .map(|line| plain(at.theme, Role::Bad, indent(&line))),
        );
    }
    if more > 0 {
        rows.push(plain(at.theme, Role::Dim, indent(&format!("{more} more rows: Enter shows all"))));
    }
    rows
}
