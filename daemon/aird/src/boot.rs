//! The life of the daemon: lock, socket, service, stop.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use air_api::{Counters, Limits, ServeOptions, Server};
use air_contracts::Result;
use air_contracts::ids::InstanceId;
use air_contracts::{AirError, Timestamp};
use air_host::AirPaths;
use air_rt::{Clock, IdSource, OnCancel, Tasks};
use sd_notify::NotifyState;

use crate::daemon::{Daemon, VERSION};
use crate::environment::Environment;
use crate::gateway::Flow;
use crate::lock::{Info, Lock};
use crate::models::Models;
use crate::registry::Projects;
use crate::settings::Settings;
use crate::socket::{self, Listening};
use crate::stop::{Order, Signals, Stop};
use crate::{methods, metrics, process, takeover};

/// Time for calls that are under way when the daemon stops.
const CALLS: Duration = Duration::from_secs(5);
/// Time for answers of models that are under way when the daemon drains.
const ANSWERS: Duration = Duration::from_secs(20);

/// Runs the daemon until it is told to stop.
pub async fn run(foreground: bool) -> Result<()> {
    let environment = Arc::new(Environment::capture());
    let paths = AirPaths::from_env(&|name| environment.get(name))?;
    paths.create()?;
    let signals = Signals::new()?;
    let inherited = process::inherited_listener()?;
    let activated = inherited.is_some();
    let lock = takeover::take_lock(&paths, activated).await?;
    let (socket, listener) = match inherited {
        Some(listener) => (named(&listener)?, listener),
        None => {
            let path = paths.socket()?;
            let listener = socket::bind(&path)?;
            (path, listener)
        }
    };
    let started_by = match (activated || environment.get("NOTIFY_SOCKET").is_some(), foreground) {
        (true, _) => "systemd",
        (false, true) => "foreground",
        (false, false) => "on demand",
    };
    let daemon = build(paths, environment, socket.clone(), started_by);
    let server = server(&daemon);
    lock.publish(&info(&daemon))?;
    let listening =
        Arc::new(Listening::start(server.clone(), daemon.tasks.clone(), socket, listener, activated)?);
    background(&daemon, &listening, signals);
    notify(&[NotifyState::Ready]);
    tracing::info!(version = VERSION, socket = %daemon.socket.display(), started_by, "aird is ready");

    let order = daemon.stop.wait().await;
    notify(&[NotifyState::Stopping]);
    end(&daemon, &server, &listening, lock, order).await;
    Ok(())
}

fn named(listener: &std::os::unix::net::UnixListener) -> Result<PathBuf> {
    let address = listener.local_addr().map_err(|error| AirError::io("the socket from systemd", &error))?;
    match address.as_pathname() {
        Some(path) => Ok(path.to_owned()),
        None => Err(AirError::internal("the socket from systemd has no name in the file system")),
    }
}

/// The daemon's parts; nothing runs yet.
pub fn build(
    paths: AirPaths,
    environment: Arc<Environment>,
    socket: PathBuf,
    started_by: &'static str,
) -> Arc<Daemon> {
    let (clock, ids) = (Clock::system(), IdSource::new());
    let models = Arc::new(Models::new(Arc::clone(&environment)));
    let settings = Settings::new(paths.clone(), Arc::clone(&environment), Arc::clone(&models), None);
    Arc::new(Daemon {
        paths,
        environment,
        instance_id: InstanceId::from_uuid(ids.next()),
        started_at: Timestamp::from_millis(clock.millis()),
        clock,
        ids,
        tasks: Tasks::root(),
        socket,
        started_by,
        counters: Arc::new(Counters::default()),
        models,
        flow: Arc::new(Flow::default()),
        settings: Arc::new(settings),
        projects: Projects::default(),
        stop: Stop::new(),
    })
}

fn server(daemon: &Arc<Daemon>) -> Server {
    let measured = Arc::clone(daemon);
    let options = ServeOptions {
        version: VERSION.to_owned(),
        instance_id: daemon.instance_id,
        peer_check: Arc::new(|socket, _| air_sandbox::peer_verdict_of(socket)),
        metrics: Arc::new(move || metrics::render(&measured)),
        limits: Limits::DAEMON,
    };
    Server::new(methods::router(daemon), options, daemon.tasks.child("api"), Arc::clone(&daemon.counters))
}

fn info(daemon: &Daemon) -> Info {
    Info {
        socket: daemon.socket.clone(),
        pid: std::process::id(),
        version: VERSION.to_owned(),
        instance_id: daemon.instance_id,
        started_at: daemon.started_at,
    }
}

fn background(daemon: &Arc<Daemon>, listening: &Arc<Listening>, signals: Signals) {
    let stop = daemon.stop.clone();
    // Stays when all else is cancelled: the second signal must work until the end.
    daemon.tasks.child("signals").spawn("signals", OnCancel::Finish, signals.obey(stop));
    let kept = Arc::clone(listening);
    daemon.tasks.spawn("socket", OnCancel::Abort, async move { kept.keep().await });
    let recovered = Arc::clone(daemon);
    daemon.tasks.spawn(
        "recover",
        OnCancel::Abort,
        async move { recovered.projects.recover(&recovered).await },
    );
}

/// Stops in order: no new calls, answers of models, projects with their stores, name and lock.
async fn end(daemon: &Arc<Daemon>, server: &Server, listening: &Listening, lock: Lock, order: Order) {
    tracing::info!(drain = order.drain, commands = ?order.commands, "aird stops");
    listening.remove();
    server.shutdown(CALLS).await;
    if order.drain {
        daemon.flow.drain(ANSWERS).await;
    }
    daemon.projects.close_all(order.commands).await;
    daemon.tasks.shutdown(CALLS).await;
    drop(lock);
    tracing::info!("aird has stopped");
}

/// Tells systemd; does nothing where it is not there.
fn notify(states: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "systemd was not told");
    }
}
