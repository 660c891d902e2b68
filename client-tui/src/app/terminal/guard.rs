//! The terminal as it was found: saved at the start, given back at the end, at a panic, before a stop.

use std::os::fd::AsFd;
use std::sync::{Mutex, Once, PoisonError};

use air_contracts::{AirError, Result};
use rustix::termios::{ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, Termios};
use tokio::sync::Notify;

use super::modes::{self, Modes};

/// What is needed to give the terminal back; there is one terminal per process.
static SAVED: Mutex<Option<Saved>> = Mutex::new(None);
/// A panic somewhere in the process: the screen is given back already.
static PANICKED: Notify = Notify::const_new();

#[derive(Clone)]
struct Saved {
    termios: Termios,
    modes: Modes,
}

/// Restores the terminal when it is dropped.
#[derive(Debug)]
pub struct Guard {
    modes: Modes,
}

impl Guard {
    /// Raw mode and the alternate screen, on the terminal behind stdout.
    pub fn enter(modes: Modes) -> Result<Self> {
        install_panic_hook();
        let guard = Self { modes };
        guard.resume()?;
        Ok(guard)
    }

    /// Takes the terminal again, after [`Guard::suspend`].
    pub fn resume(&self) -> Result<()> {
        let found = rustix::termios::tcgetattr(std::io::stdout()).map_err(failed)?;
        // Where it was not given back since, what was found first is what is given back.
        let ours = lock().is_some();
        let dirty = !ours && is_raw(&found);
        let mut raw = found.clone();
        raw.make_raw();
        if !ours {
            let termios = if dirty { cooked(found) } else { found };
            *lock() = Some(Saved { termios, modes: self.modes });
        }
        rustix::termios::tcsetattr(std::io::stdout(), OptionalActions::Now, &raw).map_err(failed)?;
        write_all(modes::enter(self.modes, dirty).as_bytes())
            .map_err(|error| AirError::io("the terminal", &error))
    }

    /// Gives the terminal back for a while.
    pub fn suspend(&self) {
        restore();
    }

    /// Turns mouse reports on or off.
    pub fn set_mouse(&mut self, on: bool) {
        self.modes.mouse = on;
        // A terminal that is gone is noticed by reading.
        let _ = write_all(modes::mouse(on).as_bytes());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Returns when something in the process has panicked.
pub async fn panicked() {
    PANICKED.notified().await;
}

fn lock() -> std::sync::MutexGuard<'static, Option<Saved>> {
    SAVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back, once; errors are left: there is nobody to tell them to.
fn restore() {
    let Some(saved) = lock().take() else { return };
    let _ = write_all(modes::leave(saved.modes).as_bytes());
    let _ = rustix::termios::tcsetattr(std::io::stdout(), OptionalActions::Now, &saved.termios);
}

fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
            PANICKED.notify_one();
        }));
    });
}

/// Writes to the terminal without the buffer of `std::io::stdout`, whose lock a panic may hold.
pub fn write_all(mut bytes: &[u8]) -> std::io::Result<()> {
    let stdout = std::io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(stdout.as_fd(), bytes) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(length) => bytes = &bytes[length..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => wait_writable(&stdout)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn wait_writable(stdout: &std::io::Stdout) -> std::io::Result<()> {
    let mut fds = [rustix::event::PollFd::new(stdout, rustix::event::PollFlags::OUT)];
    match rustix::event::poll(&mut fds, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Columns and rows of the terminal; where it does not know, `COLUMNS` and `LINES`, else 80 x 24.
pub fn size() -> (u16, u16) {
    let found = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    known_size(found.map(|size| (size.ws_col, size.ws_row)), |name| std::env::var(name).ok())
}

fn known_size(found: Option<(u16, u16)>, var: impl Fn(&str) -> Option<String>) -> (u16, u16) {
    let number = |name: &str| var(name).and_then(|text| text.parse().ok()).filter(|size| *size > 0);
    let (columns, rows) = found.unwrap_or((0, 0));
    let columns = if columns > 0 { columns } else { number("COLUMNS").unwrap_or(80) };
    let rows = if rows > 0 { rows } else { number("LINES").unwrap_or(24) };
    (columns, rows)
}

fn is_raw(termios: &Termios) -> bool {
    !termios.local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
}

/// A terminal that somebody left in raw mode, as `stty sane` would make it.
fn cooked(mut termios: Termios) -> Termios {
    termios.input_modes |= InputModes::ICRNL | InputModes::IXON | InputModes::BRKINT;
    termios.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
    termios.control_modes |= ControlModes::CREAD;
    termios.local_modes |= LocalModes::ICANON
        | LocalModes::ISIG
        | LocalModes::IEXTEN
        | LocalModes::ECHO
        | LocalModes::ECHOE
        | LocalModes::ECHOK;
    termios
}

fn failed(error: rustix::io::Errno) -> AirError {
    AirError::io("the terminal", &error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_size_is_that_of_the_environment() {
        let set = |name: &str| (name == "COLUMNS").then(|| "100".to_owned());
        assert_eq!(known_size(Some((0, 0)), set), (100, 24));
        assert_eq!(known_size(None, |_| None), (80, 24));
        assert_eq!(known_size(Some((10, 3)), set), (10, 3));
    }
}
