//! Frames: only what changed, in one write, shown at once.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use super::{guard, modes};

/// Collects a frame; the terminal sees it when it is whole.
#[derive(Debug, Clone, Default)]
struct FrameBuffer(Arc<Mutex<Vec<u8>>>);

impl FrameBuffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for FrameBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The screen as it is drawn on.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<FrameBuffer>>,
    buffer: FrameBuffer,
    last: Vec<u8>,
}

impl Screen {
    /// An empty screen of a size in columns and rows.
    pub fn new(size: (u16, u16)) -> io::Result<Self> {
        let buffer = FrameBuffer::default();
        Ok(Self { terminal: terminal(&buffer, size)?, buffer, last: Vec::new() })
    }

    /// Forgets what the terminal shows: the next frame draws everything.
    pub fn reset(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.terminal = terminal(&self.buffer, size)?;
        // What the old one said at its end, and the rest of the screen, are void.
        self.buffer.take();
        self.buffer.write_all(b"\x1b[0m\x1b[2J")?;
        self.last.clear();
        Ok(())
    }

    /// Draws a frame. One that changes nothing is not written.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(render)?;
        let bytes = self.buffer.take();
        if bytes == self.last {
            return Ok(());
        }
        let mut frame = Vec::with_capacity(bytes.len() + 16);
        frame.extend_from_slice(modes::FRAME.0.as_bytes());
        frame.extend_from_slice(&bytes);
        frame.extend_from_slice(modes::FRAME.1.as_bytes());
        self.last = bytes;
        guard::write_all(&frame)
    }
}

fn terminal(buffer: &FrameBuffer, size: (u16, u16)) -> io::Result<Terminal<CrosstermBackend<FrameBuffer>>> {
    // The size is ours: the backend would ask other programs where the terminal does not know it.
    let viewport = Viewport::Fixed(Rect::new(0, 0, size.0, size.1));
    Terminal::with_options(CrosstermBackend::new(buffer.clone()), TerminalOptions { viewport })
}
