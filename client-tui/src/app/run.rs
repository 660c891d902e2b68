//! The event loop: everything that waits, waits here.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use air_contracts::{AirError, Result};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::event::{Connected, Effect, Event};
use super::pace::Pace;
use super::signals::{Caught, Signals};
use super::state::{App, Start};
use super::terminal::guard::{self, Guard};
use super::terminal::modes::{self, Modes};
use super::terminal::parse::{ESCAPE_MS, Parser};
use super::terminal::screen::Screen;
use super::terminal::tty::Tty;
use super::theme::Theme;
use super::{document, link, update, views};
use crate::attach::AttachOptions;
use crate::rpc::{Notification, Notifications, ProjectionClient};
use crate::text::amounts;
use crate::text::style::Pen;

/// Notifications that are taken in before the next look at the keys.
const BATCH: usize = 256;
/// How long a stop may take to come.
const STOP: Duration = Duration::from_millis(300);
/// How long the last call may take.
const LAST_CALL: Duration = Duration::from_millis(300);

type Pending = Pin<Box<dyn Future<Output = Done>>>;

/// A future that ended.
enum Done {
    Event(Event),
    /// With the attempt that it belongs to.
    Connected(u64, Box<Result<(Arc<dyn ProjectionClient>, Connected)>>),
}

/// Runs until the person leaves.
pub(super) async fn run(options: AttachOptions) -> Result<()> {
    let modes = Modes { mouse: false, console: std::env::var("TERM").is_ok_and(|term| term == "linux") };
    let tty = Tty::open().map_err(|error| AirError::io("the terminal", &error))?;
    let signals = Signals::new().map_err(|error| AirError::io("signals", &error))?;
    let guard = Guard::enter(modes)?;
    let size = guard::size();
    let screen = Screen::new(size).map_err(screen_error)?;
    let mut running = Running {
        app: App::new(start(&options, size)),
        options,
        guard,
        tty,
        screen,
        signals,
        parser: Parser::default(),
        escape: None,
        client: None,
        notifications: None,
        pending: FuturesUnordered::new(),
        effects: VecDeque::new(),
        attempt: 0,
        pace: Pace::new(Instant::now()),
        stopped: None,
        last_call: None,
        done: false,
    };
    let ended = running.go().await;
    running.finish(ended).await
}

fn start(options: &AttachOptions, size: (u16, u16)) -> Start {
    let place =
        options.folder.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
    let now = amounts::now();
    Start {
        theme: Theme { pen: Pen { colour: options.colour, ascii: options.ascii } },
        zone: jiff::tz::TimeZone::system(),
        now,
        size,
        place,
        session: options.session.clone(),
        observer: options.observer,
        client: format!("tui-{}-{}", std::process::id(), now.as_millis()),
    }
}

fn screen_error(error: std::io::Error) -> AirError {
    AirError::io("the terminal", &error)
}

/// What woke the loop.
enum Woke {
    Bytes(std::io::Result<Vec<u8>>),
    Done(Done),
    Notified(Option<Notification>),
    Signal(Caught),
    Time,
    Panicked,
}

struct Running {
    app: App,
    options: AttachOptions,
    guard: Guard,
    tty: Tty,
    screen: Screen,
    signals: Signals,
    parser: Parser,
    /// When a lone Escape is the key.
    escape: Option<Instant>,
    client: Option<Arc<dyn ProjectionClient>>,
    notifications: Option<Notifications>,
    pending: FuturesUnordered<Pending>,
    effects: VecDeque<Effect>,
    /// Counts connections, so that an old one changes nothing.
    attempt: u64,
    pace: Pace,
    /// Stopped by ^Z until it is told to go on; where nothing can stop it, until then.
    stopped: Option<Instant>,
    last_call: Option<super::event::Call>,
    done: bool,
}

impl Running {
    async fn go(&mut self) -> Result<()> {
        // The first frame needs no daemon.
        self.draw()?;
        self.effects.push_back(Effect::Connect { after_ms: 0, observer: self.app.observer, start: true });
        self.act()?;
        while !self.done {
            let woke = self.wait().await;
            self.take(woke)?;
            self.act()?;
            if !self.done && self.app.dirty && self.stopped.is_none() && self.pace.next() <= Instant::now() {
                self.draw()?;
            }
        }
        Ok(())
    }

    /// The next time at which something is to be done.
    fn wake(&self) -> Option<Instant> {
        let frame = (self.app.dirty && self.stopped.is_none()).then(|| self.pace.next());
        let timer =
            self.app.wake().map(|at| Instant::now() + Duration::from_millis(at.millis_since(amounts::now())));
        [frame, timer, self.escape, self.stopped].into_iter().flatten().min()
    }

    async fn wait(&mut self) -> Woke {
        let wake = self.wake();
        let time = async {
            match wake {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let notified = async {
            match self.notifications.as_mut() {
                Some(notifications) => notifications.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            bytes = self.tty.read() => Woke::Bytes(bytes),
            Some(done) = self.pending.next(), if !self.pending.is_empty() => Woke::Done(done),
            notification = notified => Woke::Notified(notification),
            signal = self.signals.next() => Woke::Signal(signal),
            () = guard::panicked() => Woke::Panicked,
            () = time => Woke::Time,
        }
    }

    fn take(&mut self, woke: Woke) -> Result<()> {
        match woke {
            Woke::Bytes(Ok(bytes)) if !bytes.is_empty() => self.typed(&bytes),
            // The terminal is gone.
            Woke::Bytes(_) | Woke::Signal(Caught::End) => self.update(Event::Hangup),
            Woke::Done(Done::Event(event)) => self.update(event),
            Woke::Done(Done::Connected(attempt, result)) => self.connected(attempt, *result),
            Woke::Notified(notification) => self.notified(notification),
            Woke::Signal(Caught::Resized) => {
                let (columns, rows) = guard::size();
                self.update(Event::Resize(columns, rows));
            }
            Woke::Signal(Caught::Continued) => {
                self.stopped = None;
                self.back()?;
            }
            Woke::Time => {
                if self.stopped.is_some_and(|at| at <= Instant::now()) {
                    self.stopped = None;
                    self.back()?;
                }
                if self.escape.is_some_and(|at| at <= Instant::now()) {
                    self.escape = None;
                    for input in self.parser.flush() {
                        self.update(Event::Input(input));
                    }
                }
                self.update(Event::Time);
            }
            Woke::Panicked => return Err(AirError::internal("a part of this program panicked")),
        }
        Ok(())
    }

    fn update(&mut self, event: Event) {
        let effects = update::update(&mut self.app, amounts::now(), event);
        self.effects.extend(effects);
    }

    fn typed(&mut self, bytes: &[u8]) {
        for input in self.parser.feed(bytes) {
            self.update(Event::Input(input));
        }
        let wait = Duration::from_millis(ESCAPE_MS.unsigned_abs());
        self.escape = self.parser.waits().then(|| Instant::now() + wait);
    }

    fn notified(&mut self, first: Option<Notification>) {
        let mut next = first;
        for _ in 0..BATCH {
            let Some(notification) = next else {
                self.notifications = None;
                let stopped = self.client.as_ref().is_some_and(|client| client.said_goodbye());
                return self.update(Event::Lost { stopped });
            };
            self.update(Event::Notified(Box::new(notification)));
            match self.notifications.as_mut().and_then(|all| all.next().now_or_never()) {
                Some(more) => next = more,
                None => return,
            }
        }
        if let Some(notification) = next {
            self.update(Event::Notified(Box::new(notification)));
        }
    }

    fn connected(&mut self, attempt: u64, result: Result<(Arc<dyn ProjectionClient>, Connected)>) {
        if attempt != self.attempt {
            return;
        }
        match result {
            Ok((client, connected)) => {
                self.notifications = client.take_notifications();
                self.client = Some(client);
                self.update(Event::Connected(Box::new(connected)));
            }
            Err(error) => self.update(Event::ConnectFailed(error)),
        }
    }

    /// Does what was asked for, until nothing more is.
    fn act(&mut self) -> Result<()> {
        while let Some(effect) = self.effects.pop_front() {
            self.perform(effect)?;
        }
        Ok(())
    }

    fn perform(&mut self, effect: Effect) -> Result<()> {
        match effect {
            Effect::Connect { after_ms, observer, start } => self.connect(after_ms, observer, start),
            Effect::Call(call) => {
                if let (Some(client), Some(project)) = (self.client.clone(), self.app.project.as_ref()) {
                    let future = link::perform(client, project.id, call);
                    self.pending.push(Box::pin(async move { Done::Event(future.await) }));
                }
            }
            Effect::LastCall(call) => self.last_call = Some(call),
            Effect::Ring => self.write("\x07"),
            Effect::Title(title) => self.write(&modes::title(&title)),
            Effect::Mouse(on) => self.guard.set_mouse(on),
            Effect::Redraw => self.redraw()?,
            Effect::Suspend => self.suspend()?,
            Effect::Edit(text) => {
                let programs = Arc::clone(&self.options.programs);
                let result = self.outside(|| programs.edit(&text))?;
                self.update(Event::Edited(result));
            }
            Effect::Page(text) => {
                let programs = Arc::clone(&self.options.programs);
                let result = self.outside(|| programs.page(&text))?;
                self.update(Event::Paged(result));
            }
            Effect::Leave => self.done = true,
        }
        Ok(())
    }

    fn write(&mut self, text: &str) {
        // A terminal that is gone is noticed by reading.
        let _ = guard::write_all(text.as_bytes());
    }

    fn connect(&mut self, after_ms: u64, observer: bool, start: bool) {
        self.attempt += 1;
        self.client = None;
        self.notifications = None;
        let (attempt, options) = (self.attempt, self.options.clone());
        self.pending.push(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(after_ms)).await;
            Done::Connected(attempt, Box::new(link::connect(&options, observer, start).await))
        }));
    }

    fn redraw(&mut self) -> Result<()> {
        self.screen.reset(self.app.size).map_err(screen_error)?;
        self.app.dirty = true;
        Ok(())
    }

    /// Runs something that needs the terminal for itself.
    fn outside<T>(&mut self, act: impl FnOnce() -> T) -> Result<T> {
        self.guard.suspend();
        let result = act();
        self.back()?;
        Ok(result)
    }

    fn back(&mut self) -> Result<()> {
        self.guard.resume()?;
        let (columns, rows) = guard::size();
        self.update(Event::Resize(columns, rows));
        self.write(&modes::title(&self.app.title));
        Ok(())
    }

    /// Stops as ^Z does. The stop may come a moment after the signal was sent, and not at all in a group that
    /// nobody watches (`setpgid(2)`): the terminal is taken again when this goes on.
    fn suspend(&mut self) -> Result<()> {
        self.guard.suspend();
        self.stopped = Some(Instant::now() + STOP);
        let stop = rustix::process::Signal::TSTP;
        rustix::process::kill_current_process_group(stop).map_err(|error| AirError::io("^Z", &error.into()))
    }

    fn draw(&mut self) -> Result<()> {
        self.app.dirty = false;
        self.pace.drawn(Instant::now());
        let app = &self.app;
        match self.screen.draw(|frame| views::draw(frame, app)) {
            Ok(()) => Ok(()),
            // The terminal is gone: reading says so, too.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => Ok(()),
            Err(error) => Err(screen_error(error)),
        }
    }

    /// Gives the terminal back, and says goodbye on it.
    async fn finish(self, ended: Result<()>) -> Result<()> {
        let Self { app, guard, client, last_call, .. } = self;
        drop(guard);
        if let (Some(client), Some(project), Some(call)) = (client, app.project.as_ref(), last_call) {
            // The draft that is lost is one second of typing.
            let _ = tokio::time::timeout(LAST_CALL, link::perform(client, project.id, call)).await;
        }
        ended?;
        if let Some(error) = app.fatal {
            return Err(error);
        }
        // The window may be closed.
        let _ = guard::write_all(document::farewell(&app).as_bytes());
        Ok(())
    }
}
