//! `doctor/run`: looks at what is needed, changes nothing, contacts nobody.

use std::path::Path;
use std::sync::Arc;

use air_api::Caller;
use air_contracts::Result;
use air_contracts::api::{DoctorCheck, DoctorReport, DoctorRunParams, DoctorStatus};
use air_contracts::task::AgentRole;
use air_host::{list_projects, locate_root};

use crate::daemon::{Daemon, VERSION};
use crate::project::{OpenProject, worker_binary};
use crate::settings::Settings;

pub async fn run(daemon: &Daemon, _: &Caller, params: DoctorRunParams) -> Result<DoctorReport> {
    let mut checks = vec![this_daemon(daemon)];
    match known_project(daemon, params.path.as_deref()).await? {
        Some(project) => {
            checks.push(model(&project.settings));
            checks.extend(files(&project.settings));
            checks.extend(air_tools::doctor(&project.tool_deps).await);
        }
        // Outside of a project there are no tools to ask; what they all rest on can be seen all the same.
        None => {
            checks.push(model(&daemon.settings));
            checks.extend(files(&daemon.settings));
            checks.extend([worker(), sandbox()]);
        }
    }
    let ok = checks.iter().all(|check| check.status != DoctorStatus::Broken);
    Ok(DoctorReport { ok, checks })
}

/// The project that a folder lies in, where it is one already.
async fn known_project(daemon: &Daemon, path: Option<&str>) -> Result<Option<Arc<OpenProject>>> {
    let Some(path) = path else { return Ok(None) };
    let Ok(root) = locate_root(Path::new(path), daemon.home().as_deref()) else { return Ok(None) };
    match list_projects(&daemon.paths)?.into_iter().find(|(_, known)| *known == root) {
        Some((id, _)) => daemon.project(id).await.map(Some),
        None => Ok(None),
    }
}

fn check(name: &str, status: DoctorStatus, detail: impl Into<String>, fix: Option<&str>) -> DoctorCheck {
    DoctorCheck { name: name.to_owned(), status, detail: detail.into(), fix: fix.map(str::to_owned) }
}

fn this_daemon(daemon: &Daemon) -> DoctorCheck {
    let detail = format!(
        "aird {VERSION}, pid {}, {}, {}",
        std::process::id(),
        daemon.started_by,
        daemon.socket.display()
    );
    check("daemon", DoctorStatus::Ok, detail, None)
}

/// Without its launcher the daemon runs neither workers nor commands.
fn worker() -> DoctorCheck {
    match worker_binary() {
        Ok(path) if path.is_file() => check("worker", DoctorStatus::Ok, path.display().to_string(), None),
        Ok(path) => {
            let detail = format!("{} is missing: no command can run", path.display());
            check(
                "worker",
                DoctorStatus::Broken,
                detail,
                Some("put air, aird and air-worker into one folder"),
            )
        }
        Err(error) => check("worker", DoctorStatus::Broken, error.message, None),
    }
}

fn model(settings: &Settings) -> DoctorCheck {
    let chosen = settings.in_force().providers.and_then(|providers| {
        let assignment = providers.select(AgentRole::Executor, None)?;
        let provider = assignment.matrix.model.split('/').next().unwrap_or_default().to_owned();
        let key = providers.statuses().into_iter().find(|status| status.id == provider);
        Ok((assignment, key.map_or_else(String::new, |status| format!(", key from {}", status.key_source))))
    });
    match chosen {
        Ok((assignment, key)) => {
            let detail = format!("{} ({}{key}); not contacted", assignment.matrix.model, assignment.reason);
            check("model", DoctorStatus::Ok, detail, None)
        }
        Err(error) => {
            // A hint that is a command mends it; the others say what is wrong.
            let (fixes, facts): (Vec<String>, Vec<String>) = error
                .hints
                .into_iter()
                .partition(|hint| hint.starts_with("air ") || hint.starts_with("export "));
            let detail = [vec![error.message], facts].concat().join("; ");
            check("model", DoctorStatus::Broken, detail, fixes.first().map(String::as_str))
        }
    }
}

fn sandbox() -> DoctorCheck {
    let platform = air_sandbox::platform();
    let landlock = match platform.landlock_abi {
        0 => "no Landlock".to_owned(),
        abi => format!("Landlock {abi}"),
    };
    if platform.user_namespaces && platform.landlock_abi > 0 {
        let detail = format!("{landlock}, seccomp, namespaces, kernel {}", platform.kernel);
        return check("sandbox", DoctorStatus::Ok, detail, None);
    }
    if !platform.user_namespaces {
        let detail = format!(
            "{landlock}; user namespaces are off: a command can reach sockets of other services by file"
        );
        return check(
            "sandbox",
            DoctorStatus::Missing,
            detail,
            Some("sysctl kernel.unprivileged_userns_clone=1"),
        );
    }
    let detail = format!(
        "{landlock} (kernel {}): writes are held to the workspace by namespaces alone",
        platform.kernel
    );
    check("sandbox", DoctorStatus::Missing, detail, Some("use Linux 5.13 or newer"))
}

/// Files of the project and configuration that are ignored or broken.
fn files(settings: &Settings) -> Vec<DoctorCheck> {
    let (rules, broken_rules) = settings.rules();
    let warnings = settings.in_force().warnings.into_iter().chain(broken_rules);
    let mut checks: Vec<DoctorCheck> =
        warnings.map(|warning| check("config", DoctorStatus::Missing, warning, None)).collect();
    if let Some(project) = settings.project() {
        let trust = if project.trusted { "trusted" } else { "not trusted" };
        let checks_of = settings.verify().map_or_else(
            || "checks are detected".to_owned(),
            |verify| format!("{} checks in project.json", verify.len()),
        );
        let detail = format!("{}, {trust}, {} rule files, {checks_of}", project.root.display(), rules.len());
        checks.insert(0, check("project", DoctorStatus::Ok, detail, None));
    }
    checks
}
