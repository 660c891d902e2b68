//! Lines from stdin.

use std::io::{BufRead as _, IsTerminal as _};

use tokio::sync::mpsc;

/// Reads stdin line by line on a thread of its own, which ends with the process: a blocking read of a
/// terminal cannot be taken back.
#[derive(Debug)]
pub struct LineReader(mpsc::Receiver<String>);

impl LineReader {
    /// Starts to read.
    pub fn start() -> Self {
        let (sender, receiver) = mpsc::channel(16);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self(receiver)
    }

    /// The next line without its end; `None` at the end of input.
    pub async fn next(&mut self) -> Option<String> {
        self.0.recv().await
    }

    /// Forgets lines that were read and not asked for.
    pub fn forget(&mut self) {
        while self.0.try_recv().is_ok() {}
    }
}

/// Discards what was typed on the terminal and not read yet (`tcflush(3)`), so that it answers no
/// question that it was not meant for. Without a terminal nothing happens.
pub fn discard_typed() {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        // A terminal that is gone has nothing to discard.
        let _ = rustix::termios::tcflush(&stdin, rustix::termios::QueueSelector::IFlush);
    }
}
