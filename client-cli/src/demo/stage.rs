//! The folder of the demo, its model, and its own daemon.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::rpc::{SocketEnv, socket_path};
use air_contracts::api::{CommandsAtStop, DaemonShutdown, ShutdownParams};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};

use super::files;
use crate::app::App;
use crate::connect::Dial;
use crate::process;

/// The variable that the demo's daemon has a key in. The scripted model takes any.
pub(super) const KEY: &str = "AIR_DEMO_KEY";
/// How long the model may take until it listens.
const MODEL_DEADLINE: Duration = Duration::from_secs(10);

/// Everything that was put up.
pub(super) struct Stage {
    pub folder: PathBuf,
    pub project: PathBuf,
    pub home: PathBuf,
    /// Works in the project, with the demo's own daemon.
    pub app: App,
    model: Child,
}

impl Stage {
    /// Makes the folder, unpacks the project, starts the model and writes the configuration.
    pub(super) async fn set(app: &App, wanted: Option<&Path>) -> Result<Self> {
        let folder = folder(wanted)?;
        let (project, home) = (folder.join("slots"), folder.join("home"));
        let socket =
            socket_path(&SocketEnv { air_home: Some(home.clone().into_os_string()), ..SocketEnv::default() })
                .map_err(|error| error.hint("air demo --dir /tmp/air-demo"))?;
        process::private_folder(&project)?;
        process::private_folder(&home)?;
        files::unpack(&project)?;
        let mut model = start_model(&folder)?;
        let port = match port(&folder, &mut model).await {
            Ok(port) => port,
            Err(error) => {
                process::end(&mut model);
                return Err(error);
            }
        };
        let config = home.join("config.yaml");
        std::fs::write(&config, config_text(port)).map_err(|error| AirError::io(config.display(), &error))?;
        let app = App {
            out: app.out.clone(),
            dial: Dial { socket, air_home: home.clone(), env: env(&home), ..app.dial.clone() },
            folder: project.clone(),
        };
        Ok(Self { folder, project, home, app, model })
    }

    /// The process id of the model.
    pub(super) fn model_pid(&self) -> u32 {
        self.model.id()
    }

    /// Ends the demo's daemon and its model. The folder stays.
    pub(super) async fn strike(&mut self) {
        if let Ok(client) = self.app.dial.connect_only().await {
            let params = ShutdownParams { drain: false, commands: CommandsAtStop::End };
            // It may be gone before it has answered.
            let _ = client.call::<DaemonShutdown>(params).await;
        }
        process::end(&mut self.model);
    }
}

/// A daemon of the demo must not take over settings that are meant for the user's own.
fn env(home: &Path) -> Vec<(&'static str, Option<std::ffi::OsString>)> {
    vec![
        ("AIR_HOME", Some(home.as_os_str().to_owned())),
        (KEY, Some("scripted".into())),
        ("AIR_SOCKET", None),
        ("AIR_MODEL", None),
        ("AIR_MAX_COST", None),
        ("AIR_MAX_WORKERS", None),
    ]
}

fn config_text(port: u16) -> String {
    format!(
        "# Written by `air demo`. This model is a script on this machine.\n\
         providers:\n  \
           scripted:\n    \
             kind: anthropic\n    \
             base_url: \"http://127.0.0.1:{port}\"\n    \
             api_key_env: {KEY}\n\
         models:\n  \
           default: scripted/scripted-demo\n"
    )
}

/// An empty folder: the wanted one, or a new one in the system's temporary folder.
fn folder(wanted: Option<&Path>) -> Result<PathBuf> {
    let path = match wanted {
        Some(path) => path.to_owned(),
        None => std::env::temp_dir().join(format!("air-demo-{}", random_name())),
    };
    process::private_folder(&path)?;
    let io = |error: std::io::Error| AirError::io(path.display(), &error);
    if std::fs::read_dir(&path).map_err(io)?.next().is_some() {
        let message = format!("{} is not empty", path.display());
        return Err(AirError::new(codes::USAGE_VALUE, message).hint("air demo --dir NEW, or without --dir"));
    }
    path.canonicalize().map_err(io)
}

fn random_name() -> String {
    let uuid = std::fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
    let name: String = uuid.chars().take(6).collect();
    if name.is_empty() { std::process::id().to_string() } else { name }
}

fn start_model(folder: &Path) -> Result<Child> {
    let program = process::beside("air-scripted-model")?;
    let scenario = folder.join("scenario.yaml");
    std::fs::write(&scenario, files::SCENARIO).map_err(|error| AirError::io(scenario.display(), &error))?;
    let (port_file, record) = (folder.join("model.port"), folder.join("model-requests.jsonl"));
    let args: [&OsStr; 8] = [
        "--scenario".as_ref(),
        scenario.as_ref(),
        "--port".as_ref(),
        "0".as_ref(),
        "--port-file".as_ref(),
        port_file.as_ref(),
        "--record".as_ref(),
        record.as_ref(),
    ];
    process::start_in_background(&program, &args, &folder.join("model.log"))
}

/// The port that the model listens on, as soon as it does.
async fn port(folder: &Path, model: &mut Child) -> Result<u16> {
    let file = folder.join("model.port");
    let deadline = Instant::now() + MODEL_DEADLINE;
    loop {
        if let Some(port) = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) {
            return Ok(port);
        }
        let ended = model.try_wait().ok().flatten();
        if ended.is_some() || Instant::now() >= deadline {
            let log = std::fs::read_to_string(folder.join("model.log")).unwrap_or_default();
            let why =
                ended.map_or_else(|| "does not listen".to_owned(), |status| format!("ended ({status})"));
            return Err(AirError::new(codes::IO, format!("air-scripted-model {why}: {}", log.trim())));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
