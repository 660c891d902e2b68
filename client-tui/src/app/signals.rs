//! Signals that the loop looks at (signal(7)).

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caught {
    /// SIGWINCH: the terminal has another size.
    Resized,
    /// SIGTERM, SIGHUP, SIGINT: the window is closed, or somebody ends this client.
    End,
    /// SIGCONT: somebody stopped this process and let it go on.
    Continued,
}

/// All of them.
#[derive(Debug)]
pub struct Signals {
    resized: Signal,
    terminated: Signal,
    hung_up: Signal,
    interrupted: Signal,
    continued: Signal,
}

impl Signals {
    /// From now on none of them ends the process by itself.
    pub fn new() -> std::io::Result<Self> {
        let number = |signal: rustix::process::Signal| SignalKind::from_raw(signal.as_raw());
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            terminated: signal(SignalKind::terminate())?,
            hung_up: signal(SignalKind::hangup())?,
            interrupted: signal(SignalKind::interrupt())?,
            continued: signal(number(rustix::process::Signal::CONT))?,
        })
    }

    /// The next one.
    pub async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.resized.recv() => Caught::Resized,
            _ = self.terminated.recv() => Caught::End,
            _ = self.hung_up.recv() => Caught::End,
            _ = self.interrupted.recv() => Caught::End,
            _ = self.continued.recv() => Caught::Continued,
        }
    }
}
