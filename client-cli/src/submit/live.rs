//! The last lines of a terminal, redrawn in place.

use std::io::Write as _;

/// The most lines that are redrawn.
const MOST: usize = 4;

/// Lines that stand below what has settled.
#[derive(Debug, Default)]
pub(super) struct Live {
    drawn: Vec<String>,
    paused: bool,
}

impl Live {
    /// Prints lines that stay, above the live ones.
    pub(super) fn settle(&mut self, lines: &[String]) {
        let live = std::mem::take(&mut self.drawn);
        let mut text = erase(live.len());
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&joined(&live));
        self.drawn = live;
        write(&text);
    }

    /// Replaces the live lines. Nothing is written where nothing changed, or while paused.
    pub(super) fn draw(&mut self, mut lines: Vec<String>) {
        lines.truncate(MOST);
        if self.paused || lines == self.drawn {
            return;
        }
        write(&format!("{}{}", erase(self.drawn.len()), joined(&lines)));
        self.drawn = lines;
    }

    /// Removes the live lines until [`Live::resume`]: a question has the bottom of the screen.
    pub(super) fn pause(&mut self) {
        self.draw(Vec::new());
        self.paused = true;
    }

    pub(super) const fn resume(&mut self) {
        self.paused = false;
    }

    pub(super) const fn is_paused(&self) -> bool {
        self.paused
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Up `count` lines and clear to the end of the screen (ECMA-48: CPL, ED).
fn erase(count: usize) -> String {
    if count == 0 { String::new() } else { format!("\x1b[{count}F\x1b[J") }
}

fn write(text: &str) {
    if !text.is_empty() {
        let mut err = std::io::stderr().lock();
        // There is nobody to tell that stderr is closed.
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}
