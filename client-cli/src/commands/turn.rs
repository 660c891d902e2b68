//! Stopping and going on: `air interrupt`, `continue`, `cancel`, `retry`.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::words;
use air_contracts::Result;
use air_contracts::api::{
    SessionRefParams, TaskCancel, TaskCancelParams, TaskRetry, TaskRetryParams, TurnCancel, TurnContinue,
    TurnContinueParams, TurnInterrupt, TurnRefParams,
};
use air_contracts::ids::{RefKind, ShortRef, TurnId};

use crate::app::App;
use crate::args::{CancelArgs, ContinueArgs, RetryArgs};
use crate::exit::Exit;
use crate::submit;

pub(super) async fn interrupt(app: &App, session: &str) -> Result<Exit> {
    let opened = app.open().await?;
    let params = SessionRefParams { project_id: opened.id(), session: session.to_owned() };
    let stopped = opened.client.call::<TurnInterrupt>(params).await?;
    if app.out.is_json() {
        app.out.json(&stopped)?;
    } else if stopped.turn_id.is_some() {
        app.out.line("stopped; air continue goes on, air submit says what to change");
    } else {
        app.out.line("nothing runs");
    }
    Ok(Exit::Ok)
}

pub(super) async fn go_on(app: &App, args: ContinueArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let params = TurnContinueParams {
        project_id: opened.id(),
        session: args.of.session,
        note: args.note,
        max_cost_usd: args.max_cost,
    };
    let resumed = opened.client.call::<TurnContinue>(params).await?;
    if args.wait {
        return submit::follow(app, opened, &resumed, submit::Follow::default()).await;
    }
    if app.out.is_json() {
        app.out.json(&resumed)?;
    } else {
        app.out.line(&resumed.turn.to_string());
    }
    Ok(Exit::Ok)
}

pub(super) async fn cancel(app: &App, args: CancelArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let project_id = opened.id();
    let is_turn = args.id.parse::<ShortRef>().is_ok_and(|short| short.kind == RefKind::Turn)
        || args.id.parse::<TurnId>().is_ok();
    if is_turn {
        let done =
            opened.client.call::<TurnCancel>(TurnRefParams { project_id, turn: args.id.clone() }).await?;
        if app.out.is_json() {
            app.out.json(&done)?;
        } else {
            app.out.line(&format!("{} removed from the queue", args.id));
        }
        return Ok(Exit::Ok);
    }
    let params = TaskCancelParams { project_id, task: args.id, reason: args.reason };
    let task = opened.client.call::<TaskCancel>(params).await?;
    if app.out.is_json() {
        app.out.json(&task)?;
    } else {
        app.out.line(&format!("{} {}", task.short, words::task_status(task.status).1));
    }
    Ok(Exit::Ok)
}

pub(super) async fn retry(app: &App, args: RetryArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let params =
        TaskRetryParams { project_id: opened.id(), task: args.task, note: args.note, model: args.model };
    let task = opened.client.call::<TaskRetry>(params).await?;
    if args.wait {
        return submit::follow_turn(app, opened, &task.turn_id.to_string(), submit::Follow::default()).await;
    }
    if app.out.is_json() {
        app.out.json(&task)?;
    } else {
        app.out.line(&format!("{} {}", task.short, words::task_status(task.status).1));
    }
    Ok(Exit::Ok)
}
