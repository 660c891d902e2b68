//! Lines from a pipe, with a limit.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Why there is no further line.
#[derive(Debug)]
pub(crate) enum LineError {
    /// The other side closed the pipe.
    Closed,
    /// A line is longer than the limit.
    TooLong,
    Io(std::io::Error),
}

/// Splits a stream into lines. `next` may be dropped at any time without losing a byte.
pub(crate) struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    /// Bytes at the start of the buffer that were handed out.
    taken: usize,
    /// Bytes of the buffer that hold no line end.
    searched: usize,
    limit: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(from: R, limit: usize) -> Self {
        Self { from, buffer: Vec::new(), taken: 0, searched: 0, limit }
    }

    /// The next line, without its end. What follows the last line end of a closed pipe is no line.
    pub(crate) async fn next(&mut self) -> Result<&[u8], LineError> {
        self.buffer.drain(..self.taken);
        self.searched = self.searched.saturating_sub(self.taken);
        self.taken = 0;
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let end = self.searched + at;
                self.taken = end + 1;
                self.searched = end + 1;
                return Ok(&self.buffer[..end]);
            }
            self.searched = self.buffer.len();
            if self.buffer.len() > self.limit {
                return Err(LineError::TooLong);
            }
            match self.from.read_buf(&mut self.buffer).await {
                Ok(0) => return Err(LineError::Closed),
                Ok(_) => {}
                Err(error) => return Err(LineError::Io(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_whole_and_bounded() {
        let mut lines = Lines::new(&b"one\n\nthree\ncut"[..], 8);
        let mut seen = Vec::new();
        while let Ok(line) = lines.next().await {
            seen.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(seen, ["one", "", "three"]);
        let mut lines = Lines::new(&b"far too long for this"[..], 8);
        assert!(matches!(lines.next().await, Err(LineError::TooLong)));
    }
}
