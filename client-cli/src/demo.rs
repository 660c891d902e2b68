//! `air demo`: the real path on a bundled project, with a model that plays a script.
//!
//! Only the model is not real: it is a process of its own on loopback that answers from a file. The
//! daemon, the tools, the tests and the verification are those of every day.

mod files;
mod needs;
mod show;
mod stage;

use air_client_tui::ProjectionClientExt as _;
use air_contracts::Result;
use air_contracts::api::{OutcomeStatus, ProjectTrust, ProjectTrustParams, TurnOutcome, TurnSubmitParams};
use air_contracts::permission::ApproveMode;
use air_contracts::session::TurnOptions;
use air_contracts::task::CriterionState;

use crate::app::App;
use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::submit::{self, Ended, Follow};
use stage::Stage;

/// What the person of the demo asks for.
pub const REQUEST: &str = "Two bookings that touch end to start are not joined. Find out why and fix it.";

/// Runs the demo. 0 only when the turn completed and every criterion was proved.
pub async fn run(app: &App, args: DemoArgs) -> Result<Exit> {
    needs::check()?;
    let out = &app.out;
    if !out.quiet && !out.is_json() {
        out.note("This is a demo. The model is a script: a process on this machine, on loopback, that answers from");
        out.note("a file. No key, no network, no cost. All else is real: daemon, tools, build, tests, verification.");
    }
    let mut stage = Stage::set(app, args.dir.as_deref()).await?;
    let played = play(&stage).await;
    let exit = match &played {
        Ok(ended) => show::after(&stage, ended, args.keep).await.map(|()| exit_of(&ended.outcome)),
        Err(error) => Err(error.clone()),
    };
    if args.keep {
        return exit;
    }
    stage.strike().await;
    exit
}

/// Submits the request as `air submit --wait` does.
async fn play(stage: &Stage) -> Result<Ended> {
    let app = &stage.app;
    let opened = app.open().await?;
    // The project is ours, and just unpacked.
    let trust = ProjectTrustParams { project_id: opened.id(), trusted: true };
    opened.client.call::<ProjectTrust>(trust).await?;
    if app.out.shows_progress() {
        app.out.note(&format!("\n$ air submit --wait \"{REQUEST}\"\n"));
    }
    let params = TurnSubmitParams {
        project_id: opened.id(),
        session: "new".to_owned(),
        client_id: None,
        text: REQUEST.to_owned(),
        attachments: Vec::new(),
        options: TurnOptions { approve: Some(ApproveMode::All), ..TurnOptions::default() },
        ephemeral: false,
    };
    let follow = Follow { interrupts: true, ..Follow::default() };
    let ended = submit::send_and_watch(app, opened, params, follow).await?;
    if !app.out.is_json() {
        submit::print_end(app, &ended).await?;
    }
    Ok(ended)
}

fn exit_of(outcome: &TurnOutcome) -> Exit {
    let criteria = || outcome.tasks.iter().flat_map(|task| &task.criteria);
    let proved = criteria().count() > 0 && criteria().all(|one| one.state == CriterionState::Proved);
    match outcome.status {
        OutcomeStatus::Completed if proved => Exit::Ok,
        OutcomeStatus::Completed | OutcomeStatus::Answered => Exit::Failed,
        other => Exit::of_outcome(other),
    }
}
