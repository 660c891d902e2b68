//! `air log` and `air events verify`.

use std::collections::VecDeque;

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::escape::visible_line;
use air_client_tui::text::style::Mark;
use air_contracts::Result;
use air_contracts::api::{EventsRead, EventsReadParams, EventsReadResult, EventsVerify, ProjectRefParams};
use air_contracts::event::RuntimeEvent;

use super::log_line::{NAMING, Names};
use crate::app::{App, Opened};
use crate::args::LogArgs;
use crate::exit::Exit;
use crate::table::{Cell, Table, flexible, left, right};

/// Events in one answer.
const PAGE: u32 = 1000;
/// How long one look at the end of the log waits, in milliseconds.
const WAIT_MS: u64 = 30_000;

pub(crate) async fn run(app: &App, args: LogArgs) -> Result<Exit> {
    let opened = app.open().await?;
    if args.follow {
        tokio::select! {
            result = follow(app, &opened, &args) => result,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    } else {
        show(app, &opened, &args).await
    }
}

async fn read(
    opened: &Opened,
    args: &LogArgs,
    after_seq: u64,
    types: Vec<String>,
    wait_ms: u64,
) -> Result<EventsReadResult> {
    let session = args.session.clone();
    let params =
        EventsReadParams { project_id: opened.id(), after_seq, limit: Some(PAGE), types, session, wait_ms };
    opened.client.call::<EventsRead>(params).await
}

/// Names that events before `after` gave.
async fn names_before(opened: &Opened, args: &LogArgs) -> Result<Names> {
    let mut names = Names::default();
    let mut after = 0;
    while after < args.after {
        let page = read(opened, args, after, NAMING.map(str::to_owned).to_vec(), 0).await?;
        page.events.iter().filter(|event| event.seq <= args.after).for_each(|event| names.learn(event));
        if !page.more {
            break;
        }
        after = page.seq;
    }
    Ok(names)
}

async fn show(app: &App, opened: &Opened, args: &LogArgs) -> Result<Exit> {
    let mut printer = Printer::new(app, opened, args).await?;
    let mut after = args.after;
    loop {
        let page = read(opened, args, after, Vec::new(), 0).await?;
        for event in page.events {
            printer.take(event)?;
        }
        if !page.more {
            break;
        }
        after = page.seq;
    }
    printer.finish()
}

async fn follow(app: &App, opened: &Opened, args: &LogArgs) -> Result<Exit> {
    let mut printer = Printer::new(app, opened, args).await?;
    printer.live = true;
    let mut after = args.after;
    loop {
        let page = read(opened, args, after, Vec::new(), WAIT_MS).await?;
        for event in page.events {
            printer.take(event)?;
        }
        after = page.seq.max(after);
    }
}

/// Prints events, or keeps them for the pager or for `--tail`.
struct Printer<'a> {
    app: &'a App,
    names: Names,
    types: &'a [String],
    tail: Option<usize>,
    live: bool,
    kept: VecDeque<RuntimeEvent>,
    text: String,
}

impl<'a> Printer<'a> {
    async fn new(app: &'a App, opened: &Opened, args: &'a LogArgs) -> Result<Self> {
        let names = if app.out.is_json() { Names::default() } else { names_before(opened, args).await? };
        Ok(Self {
            app,
            names,
            types: &args.types,
            tail: args.tail,
            live: false,
            kept: VecDeque::new(),
            text: String::new(),
        })
    }

    fn take(&mut self, event: RuntimeEvent) -> Result<()> {
        self.names.learn(&event);
        if !self.types.is_empty() && !self.types.contains(&event.kind) {
            return Ok(());
        }
        let Some(tail) = self.tail else { return self.print(&event) };
        self.kept.push_back(event);
        while self.kept.len() > tail {
            self.kept.pop_front();
        }
        Ok(())
    }

    fn print(&mut self, event: &RuntimeEvent) -> Result<()> {
        if self.app.out.is_json() {
            return if self.live || self.app.out.format == crate::args::Format::Jsonl {
                self.app.out.data(format!("{}\n", json_line(event)?).as_bytes());
                Ok(())
            } else {
                self.kept.push_back(event.clone());
                Ok(())
            };
        }
        let columns = self.app.out.out_tty.then_some(self.app.out.columns);
        let line = self.names.line(event, self.app.out.pen, columns);
        if self.live || !self.app.out.out_tty {
            self.app.out.line(&line);
        } else {
            self.text.push_str(&line);
            self.text.push('\n');
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Exit> {
        if self.tail.take().is_some() {
            for event in std::mem::take(&mut self.kept) {
                self.print(&event)?;
            }
        }
        if self.app.out.format == crate::args::Format::Json {
            let items = self.kept.iter().map(super::list::to_value).collect::<Result<Vec<_>>>()?;
            self.app.out.json_list(&items, None)?;
        }
        self.app.out.long(&self.text)?;
        Ok(Exit::Ok)
    }
}

/// An event as one line of JSON.
pub(crate) fn json_line(event: &RuntimeEvent) -> Result<String> {
    serde_json::to_string(event).map_err(|error| air_contracts::AirError::internal(error.to_string()))
}

pub(super) async fn verify(app: &App) -> Result<Exit> {
    let opened = app.open().await?;
    let verdict = opened.client.call::<EventsVerify>(ProjectRefParams { project_id: opened.id() }).await?;
    let exit = if verdict.equal && verdict.problems.is_empty() { Exit::Ok } else { Exit::Failed };
    if app.out.is_json() {
        app.out.json(&verdict)?;
        return Ok(exit);
    }
    let mut table = Table::new(&[left("TABLE"), right("ROWS"), left("REPLAYED"), flexible("DIFFERENCE")]);
    for one in &verdict.tables {
        let state = if one.equal { (Mark::Done, "equal") } else { (Mark::Failed, "different") };
        table.row(vec![
            one.table.as_str().into(),
            one.rows.into(),
            Cell::state(state),
            one.difference.as_deref().unwrap_or_default().into(),
        ]);
    }
    table.print(&app.out);
    for problem in &verdict.problems {
        app.out.line(&format!("problem\t{}", visible_line(problem)));
    }
    let word = if exit == Exit::Ok { "equal" } else { "not equal" };
    app.out.note(&format!("{} events replayed: the tables are {word}", verdict.events));
    Ok(exit)
}
