//! `air submit`, `air wait`, and everything else that stays with a turn until it ends.

mod finish;
mod live;
mod message;
mod progress;
mod prompt;
mod watch;

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::plain::is_lost;
use air_contracts::Result;
use air_contracts::api::{
    OutcomeStatus, TurnOutcome, TurnSubmit, TurnSubmitParams, TurnSubmitResult, TurnWait, TurnWaitParams,
};
use serde_json::json;

use crate::app::{App, Opened};
use crate::args::{Approve, SubmitArgs, WaitArgs};
use crate::exit::Exit;

pub use message::read_stdin;
pub use watch::{Ended, Follow, Watched};

/// Sends a message; with `--wait` stays.
pub async fn submit(app: &App, args: SubmitArgs) -> Result<Exit> {
    let text = message::text(app, &args.text)?;
    let opened = app.open().await?;
    let follow = Follow {
        hold_ms: args.hold,
        interrupts: true,
        approve_all: args.approve == Some(Approve::All),
        ..Follow::default()
    };
    let wait = args.wait;
    let params = message::params(opened.id(), args, text)?;
    let (opened, sent) = send(app, opened, params).await?;
    if wait {
        return self::follow(app, opened, &sent, follow).await;
    }
    if app.out.is_json() {
        let turn = json!({
            "turn_id": sent.turn_id, "turn": sent.turn, "session_id": sent.session_id,
            "session": sent.session, "seq": sent.seq, "queued": sent.queued,
        });
        app.out.json(&turn)?;
    } else {
        app.out.line(&sent.turn.to_string());
        if app.out.err_tty && !app.out.quiet {
            let queued = if sent.queued { " after the turn before it" } else { "" };
            app.out.note(&format!("sent to {}{queued}; air wait {} stays with it", sent.session, sent.turn));
        }
    }
    Ok(Exit::Ok)
}

/// Submits; over a new connection again where the first one broke. The client's own key makes sure that
/// it is one turn.
async fn send(app: &App, opened: Opened, params: TurnSubmitParams) -> Result<(Opened, TurnSubmitResult)> {
    match opened.client.call::<TurnSubmit>(params.clone()).await {
        Err(error) if is_lost(&error) => {
            let opened = app.open().await?;
            let sent = opened.client.call::<TurnSubmit>(params).await?;
            Ok((opened, sent))
        }
        sent => Ok((opened, sent?)),
    }
}

/// `air wait`: Ctrl-C stops only the waiting.
pub async fn wait(app: &App, args: WaitArgs) -> Result<Exit> {
    let opened = app.open().await?;
    let follow = Follow { hold_ms: args.hold, ..Follow::default() };
    follow_turn(app, opened, &args.turn, follow).await
}

/// Stays with a turn that was just sent.
pub async fn follow(app: &App, opened: Opened, sent: &TurnSubmitResult, follow: Follow) -> Result<Exit> {
    let (watched, follow) = just_sent(sent, follow);
    run(app, opened, watched, follow).await
}

/// Stays with a turn that is named.
pub async fn follow_turn(app: &App, opened: Opened, turn: &str, follow: Follow) -> Result<Exit> {
    let outcome = state_of(&opened, turn).await?;
    let watched = Watched {
        turn_id: outcome.turn_id,
        turn: outcome.turn,
        session_id: outcome.session_id,
        session: outcome.session,
    };
    run(app, opened, watched, follow).await
}

async fn run(app: &App, opened: Opened, watched: Watched, follow: Follow) -> Result<Exit> {
    let ended = watch(app, opened, watched, follow).await?;
    print_end(app, &ended).await?;
    Ok(Exit::of_outcome(ended.outcome.status))
}

/// Sends a message and shows its progress until it has ended.
pub async fn send_and_watch(
    app: &App,
    opened: Opened,
    params: TurnSubmitParams,
    follow: Follow,
) -> Result<Ended> {
    let (opened, sent) = send(app, opened, params).await?;
    let (watched, follow) = just_sent(&sent, follow);
    watch(app, opened, watched, follow).await
}

fn just_sent(sent: &TurnSubmitResult, follow: Follow) -> (Watched, Follow) {
    let watched = Watched {
        turn_id: sent.turn_id,
        turn: sent.turn,
        session_id: sent.session_id,
        session: sent.session,
    };
    (watched, Follow { after_seq: Some(sent.seq.saturating_sub(1)), queued: sent.queued, ..follow })
}

async fn watch(app: &App, opened: Opened, watched: Watched, follow: Follow) -> Result<Ended> {
    watch::Watch::new(app, opened, watched, follow).run().await
}

/// Prints how a turn ended.
pub async fn print_end(app: &App, ended: &Ended) -> Result<()> {
    finish::print(app, ended).await
}

/// How a turn stands now.
async fn state_of(opened: &Opened, turn: &str) -> Result<TurnOutcome> {
    let params = TurnWaitParams {
        project_id: opened.id(),
        turn: turn.to_owned(),
        timeout_ms: 0,
        until_approval: false,
    };
    opened.client.call::<TurnWait>(params).await
}

/// Whether nothing more is to come.
const fn is_over(status: OutcomeStatus) -> bool {
    !matches!(status, OutcomeStatus::Running | OutcomeStatus::Waiting)
}
