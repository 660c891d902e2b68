//! Lists: aligned columns on a terminal, tab-separated elsewhere.

use air_client_tui::text::escape::visible_line;
use air_client_tui::text::layout::{cells, cut, pad, pad_left};
use air_client_tui::text::style::{Mark, Role};

use crate::output::Out;

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    head: &'static str,
    right: bool,
    /// Cut first where the terminal is too narrow.
    flexible: bool,
}

/// Text at the left.
pub const fn left(head: &'static str) -> Column {
    Column { head, right: false, flexible: false }
}

/// Numbers at the right.
pub const fn right(head: &'static str) -> Column {
    Column { head, right: true, flexible: false }
}

/// Text at the left that gives way.
pub const fn flexible(head: &'static str) -> Column {
    Column { head, right: false, flexible: true }
}

/// A cell.
#[derive(Debug, Clone)]
pub struct Cell {
    mark: Option<Mark>,
    text: String,
    role: Role,
}

impl Cell {
    /// A state: its mark and its word.
    pub fn state((mark, word): (Mark, &str)) -> Self {
        Self { mark: Some(mark), text: word.to_owned(), role: mark.role() }
    }

    /// An object with the mark of its state before it.
    pub fn marked(mark: Mark, text: &str) -> Self {
        Self { mark: Some(mark), text: visible_line(text), role: Role::Text }
    }
}

impl<T: std::fmt::Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { mark: None, text: visible_line(&text.to_string()), role: Role::Text }
    }
}

/// A list with its header.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty list.
    pub fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds an object.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Prints it to stdout.
    pub fn print(&self, out: &Out) {
        let lines = if out.out_tty { self.aligned(out) } else { self.tabbed() };
        out.lines(&lines);
    }

    /// Tab-separated, never cut; states without their symbols.
    pub fn tabbed(&self) -> Vec<String> {
        let head = self.columns.iter().map(|column| column.head).collect::<Vec<_>>().join("\t");
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("\t"));
        std::iter::once(head).chain(rows).collect()
    }

    /// Two spaces between columns, the flexible ones cut to the width of the terminal.
    pub fn aligned(&self, out: &Out) -> Vec<String> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| cells(column.head)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.cells());
            }
        }
        let total = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        let mut over = total.saturating_sub(out.columns.max(20));
        for (width, column) in widths.iter_mut().zip(&self.columns) {
            if column.flexible {
                let less = over.min(width.saturating_sub(12));
                *width -= less;
                over -= less;
            }
        }
        let head = self.columns.iter().map(|column| Cell::from(column.head)).collect::<Vec<_>>();
        std::iter::once(&head).chain(&self.rows).map(|row| self.line(row, &widths, out)).collect()
    }

    fn line(&self, row: &[Cell], widths: &[usize], out: &Out) -> String {
        let mut line = String::new();
        for ((cell, width), column) in row.iter().zip(widths).zip(&self.columns) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.push_str(&cell.drawn(*width, column.right, out));
        }
        line.trim_end().to_owned()
    }
}

impl Cell {
    fn cells(&self) -> usize {
        cells(&self.text) + if self.mark.is_some() { 2 } else { 0 }
    }

    fn drawn(&self, width: usize, right: bool, out: &Out) -> String {
        let pen = out.pen;
        let Some(mark) = self.mark else {
            let text = cut(&self.text, width, pen.ellipsis());
            let text = if right { pad_left(&text, width) } else { pad(&text, width) };
            return pen.paint(self.role, &text);
        };
        let text = cut(&self.text, width.saturating_sub(2), pen.ellipsis());
        let filled = pad(&text, width.saturating_sub(2));
        format!("{} {}", pen.mark(mark), pen.paint(self.role, &filled))
    }
}
