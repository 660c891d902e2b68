//! From a command to its code: this file only dispatches.

mod answer;
mod artifact;
mod attach;
mod context;
mod daemon;
mod diff;
mod evidence;
mod graph;
mod list;
mod log;
mod log_line;
mod rpc;
mod setup;
mod turn;
mod usage;

use air_contracts::Result;

pub(crate) use context::run as context;
pub(crate) use diff::run as diff;
pub(crate) use evidence::run as evidence;
pub(crate) use log::{json_line, run as log};

use crate::app::App;
use crate::args::{Command, EventsCommand, ProviderCommand, SessionCommand};
use crate::exit::Exit;
use crate::{demo, help, submit};

/// Runs a command; without one, attaches.
pub async fn run(app: App, command: Option<Command>) -> Result<Exit> {
    match command.unwrap_or_else(|| Command::Attach(crate::args::AttachArgs::default())) {
        Command::Attach(args) => attach::run(&app, args).await,
        Command::Submit(args) => submit::submit(&app, *args).await,
        Command::Wait(args) => submit::wait(&app, args).await,
        Command::Interrupt(of) => turn::interrupt(&app, &of.session).await,
        Command::Continue(args) => turn::go_on(&app, args).await,
        Command::Cancel(args) => turn::cancel(&app, args).await,
        Command::Retry(args) => turn::retry(&app, args).await,
        Command::Approve(args) => answer::approve(&app, args).await,
        Command::Deny(args) => answer::deny(&app, args).await,
        Command::Answer(args) => answer::answer(&app, args).await,
        command => look(app, command).await,
    }
}

async fn look(app: App, command: Command) -> Result<Exit> {
    match command {
        Command::Sessions(args) => list::sessions(&app, args.limit).await,
        Command::Session(SessionCommand::Rename { id, title }) => {
            list::rename(&app, &id, &title.join(" ")).await
        }
        Command::Session(SessionCommand::Close { id }) => list::close(&app, &id).await,
        Command::Tasks(args) if args.graph => graph::run(&app, args).await,
        Command::Tasks(args) => list::tasks(&app, args).await,
        Command::Agents(args) => list::agents(&app, args).await,
        Command::Approvals(args) => list::approvals(&app, args).await,
        Command::Log(args) => log::run(&app, args).await,
        Command::Usage(args) => usage::run(&app, &args.of.session).await,
        Command::Context(args) => context::run(&app, args).await,
        Command::Diff(args) => diff::run(&app, args).await,
        Command::Evidence(args) => evidence::run(&app, args).await,
        Command::Artifact(args) => artifact::run(&app, &args.id).await,
        command => set_up(app, command).await,
    }
}

async fn set_up(app: App, command: Command) -> Result<Exit> {
    match command {
        Command::Init(args) => setup::init(&app, args.force).await,
        Command::Trust(args) => setup::trust(&app, !args.revoke).await,
        Command::Doctor => setup::doctor(&app).await,
        Command::Provider(ProviderCommand::List) => setup::providers(&app).await,
        Command::Config => setup::config(&app).await,
        Command::Daemon(command) => daemon::run(&app, command).await,
        Command::Demo(args) => demo::run(&app, args).await,
        Command::Events(EventsCommand::Verify) => log::verify(&app).await,
        Command::Rpc(args) => rpc::run(&app, args).await,
        Command::Schema => {
            app.out.json(&air_contracts::schema::all())?;
            Ok(Exit::Ok)
        }
        Command::HelpMarkdown => {
            app.out.data(help::markdown().as_bytes());
            Ok(Exit::Ok)
        }
        // Dispatched before.
        _ => Ok(Exit::Ok),
    }
}
