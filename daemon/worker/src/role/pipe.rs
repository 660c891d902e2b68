//! The two pipes: one JSON object a line.

use std::io::{Error, ErrorKind, Result, Write as _};

use air_contracts::ipc::{MAX_LINE, ParentMessage, WorkerMessage};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

/// Standard input. It must be a pipe: this program is started by `aird`, not by hand.
pub struct Input {
    from: Receiver,
    buffer: Vec<u8>,
    searched: usize,
}

impl Input {
    pub fn open() -> Result<Self> {
        let stdin = rustix::io::dup(rustix::stdio::stdin())?;
        let from = Receiver::from_owned_fd(stdin).map_err(|error| {
            Error::new(error.kind(), format!("standard input is no pipe from aird: {error}"))
        })?;
        Ok(Self { from, buffer: Vec::new(), searched: 0 })
    }

    /// The next message; `None` at the end. May be dropped at any time without losing a byte.
    pub async fn next(&mut self) -> Result<Option<ParentMessage>> {
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let end = self.searched + at;
                let message = serde_json::from_slice(&self.buffer[..end]).map_err(|error| {
                    Error::new(ErrorKind::InvalidData, format!("a line is no message: {error}"))
                })?;
                self.buffer.drain(..=end);
                self.searched = 0;
                return Ok(Some(message));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > MAX_LINE {
                return Err(Error::new(
                    ErrorKind::InvalidData,
                    format!("a line has more than {MAX_LINE} bytes"),
                ));
            }
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// Standard output.
#[derive(Default)]
pub struct Output {
    buffer: Vec<u8>,
}

impl Output {
    /// Sends messages in one write.
    pub fn send(&mut self, messages: &[WorkerMessage]) -> Result<()> {
        self.buffer.clear();
        for message in messages {
            serde_json::to_writer(&mut self.buffer, message)?;
            self.buffer.push(b'\n');
        }
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut out = std::io::stdout().lock();
        out.write_all(&self.buffer)?;
        out.flush()
    }
}
