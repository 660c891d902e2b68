//! The app without a terminal: bytes go through the parser into updates, frames into a test backend.

mod cases;
mod fixture;
mod frames;
mod keys;
mod reconnect;

use air_contracts::Timestamp;
use air_contracts::projection::ProjectionSnapshot;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::event::{Connected, Effect, Event, Reply};
use super::state::{App, Start};
use super::terminal::keys::Input;
use super::terminal::parse::Parser;
use super::theme::Theme;
use super::{update, views};
use crate::rpc::Notification;
use crate::text::style::Pen;

/// An app that is fed by hand.
struct Bench {
    app: App,
    parser: Parser,
    now: Timestamp,
}

impl Bench {
    fn start(size: (u16, u16), pen: Pen, observer: bool) -> Self {
        let now = fixture::at("20:14:14");
        let start = Start {
            theme: Theme { pen },
            zone: TimeZone::UTC,
            now,
            size,
            place: "stats".to_owned(),
            session: None,
            observer,
            client: "tui-test".to_owned(),
        };
        Self { app: App::new(start), parser: Parser::default(), now }
    }

    /// Connected, with a snapshot.
    fn with(size: (u16, u16), snapshot: ProjectionSnapshot) -> Self {
        let mut bench = Self::start(size, Pen::default(), false);
        bench.connect();
        bench.event(Event::Answered(Box::new(Reply::Snapshot(snapshot))));
        bench
    }

    fn connect(&mut self) -> Vec<Effect> {
        let connected = Connected { server: fixture::server(1), project: fixture::project() };
        self.event(Event::Connected(Box::new(connected)))
    }

    fn event(&mut self, event: Event) -> Vec<Effect> {
        update::update(&mut self.app, self.now, event)
    }

    fn notify(&mut self, notification: Notification) -> Vec<Effect> {
        self.event(Event::Notified(Box::new(notification)))
    }

    /// Bytes as a terminal sends them; a lone Escape at the end is the key.
    fn keys(&mut self, bytes: &str) -> Vec<Effect> {
        let mut inputs = self.parser.feed(bytes.as_bytes());
        inputs.extend(self.parser.flush());
        inputs.into_iter().flat_map(|input| self.input(input)).collect()
    }

    fn input(&mut self, input: Input) -> Vec<Effect> {
        self.event(Event::Input(input))
    }

    /// Time goes on.
    fn later(&mut self, millis: i64) -> Vec<Effect> {
        self.now = Timestamp::from_millis(self.now.as_millis() + millis);
        self.event(Event::Time)
    }

    fn resize(&mut self, size: (u16, u16)) {
        self.event(Event::Resize(size.0, size.1));
    }

    fn draw(&self, backend: (u16, u16)) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(backend.0, backend.1)).unwrap();
        terminal.draw(|frame| views::draw(frame, &self.app)).unwrap();
        terminal
    }

    /// The screen as text, blanks at the ends of rows left out.
    fn frame(&self) -> String {
        let terminal = self.draw(self.app.size);
        let buffer = terminal.backend().buffer();
        let rows = buffer.content().chunks(usize::from(buffer.area.width).max(1));
        let row = |cells: &[ratatui::buffer::Cell]| {
            let mut text = String::new();
            let mut skip = 0;
            for cell in cells {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                skip = crate::text::layout::cells(cell.symbol()).saturating_sub(1);
                text.push_str(cell.symbol());
            }
            text.trim_end().to_owned()
        };
        rows.map(row).collect::<Vec<_>>().join("\n")
    }

    /// Row and column of the cursor.
    fn cursor(&self) -> (u16, u16) {
        let mut terminal = self.draw(self.app.size);
        let position = terminal.get_cursor_position().unwrap();
        (position.y, position.x)
    }
}
