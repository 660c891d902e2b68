//! The input as rows of cells.

use std::ops::Range;

use super::Editor;
use super::motion::clusters;
use crate::text::escape::visible_block;
use crate::text::layout::cells;

/// Cells of a tab.
const TAB: &str = "    ";

/// One row as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorRow {
    pub text: String,
    /// The bytes that it shows.
    pub start: usize,
    pub end: usize,
    /// Whether the line ends here, so that the cursor can stand behind its last cell.
    ends: bool,
}

/// All rows, and the cursor in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorRows {
    /// At least one.
    pub rows: Vec<EditorRow>,
    /// Row and cell.
    pub cursor: (usize, usize),
}

impl EditorRow {
    /// The places in this row where the cursor can stand, with the cells of what is there.
    pub(super) fn stops(&self, text: &str, folds: &[Range<usize>]) -> Vec<(usize, usize)> {
        let mut stops: Vec<(usize, usize)> = Vec::new();
        let mut at = self.start;
        while at < self.end {
            let (length, shown) = next(text, folds, at, self.end);
            stops.push((at, cells(&shown)));
            at += length;
        }
        if self.ends {
            stops.push((self.end, 1));
        }
        stops
    }
}

/// What stands at an offset: its bytes, and how it is shown.
fn next(text: &str, folds: &[Range<usize>], at: usize, end: usize) -> (usize, String) {
    if let Some(fold) = folds.iter().find(|fold| fold.start == at) {
        return (fold.len(), stand_in(&text[fold.clone()]));
    }
    let stop = folds.iter().map(|fold| fold.start).find(|start| *start > at).unwrap_or(end).min(end);
    let cluster = clusters(&text[at..stop]).next().map_or("", |(_, cluster)| cluster);
    (cluster.len().max(1), shown(cluster))
}

fn shown(cluster: &str) -> String {
    match cluster {
        "\t" => TAB.to_owned(),
        // A lone return would overwrite its line.
        "\r" => "\\r".to_owned(),
        other => visible_block(other),
    }
}

fn stand_in(text: &str) -> String {
    let lines = text.lines().count();
    if lines > 1 {
        format!("[pasted {lines} lines]")
    } else {
        format!("[pasted {} characters]", text.chars().count())
    }
}

impl Editor {
    /// The rows at the width that was set. `_ellipsis` cuts a stand-in that is wider than a row.
    pub fn rows(&self, ellipsis: &str) -> EditorRows {
        let width = self.width.max(1);
        let mut out = EditorRows { rows: Vec::new(), cursor: (0, 0) };
        let mut row = EditorRow { text: String::new(), start: 0, end: 0, ends: false };
        let mut used = 0;
        let mut at = 0;
        while at < self.text.len() {
            if at == self.cursor {
                out.cursor = (out.rows.len(), used);
            }
            let folded = self.folds.iter().any(|fold| fold.start == at);
            if !folded && self.text[at..].starts_with('\n') {
                row.end = at;
                row.ends = true;
                out.rows.push(std::mem::replace(&mut row, start_at(at + 1)));
                used = 0;
                at += 1;
                continue;
            }
            let (length, mut text) = next(&self.text, &self.folds, at, self.text.len());
            let mut wide = cells(&text);
            if wide > width {
                text = crate::text::layout::cut(&text, width, ellipsis);
                wide = cells(&text);
            }
            if used + wide > width {
                row.end = at;
                out.rows.push(std::mem::replace(&mut row, start_at(at)));
                used = 0;
                if at == self.cursor {
                    out.cursor = (out.rows.len(), 0);
                }
            }
            row.text.push_str(&text);
            used += wide;
            at += length;
        }
        (row.end, row.ends) = (self.text.len(), true);
        if self.cursor >= self.text.len() {
            out.cursor = (out.rows.len(), used);
        }
        out.rows.push(row);
        out
    }
}

fn start_at(at: usize) -> EditorRow {
    EditorRow { text: String::new(), start: at, end: at, ends: false }
}
