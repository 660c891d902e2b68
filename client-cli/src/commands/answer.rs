//! `air approve`, `air deny`, `air answer`.

use air_client_tui::ProjectionClientExt as _;
use air_client_tui::text::words;
use air_contracts::Result;
use air_contracts::api::{ApprovalAnswerMethod, ApprovalAnswerParams};
use air_contracts::approval::{ApprovalDecision, ApprovalSubject};
use air_contracts::projection::ApprovalView;
use serde_json::{Value, json};

use crate::app::App;
use crate::args::{AnswerArgs, ApproveArgs, DenyArgs};
use crate::exit::Exit;

pub(super) async fn approve(app: &App, args: ApproveArgs) -> Result<Exit> {
    let scope = Some(args.scope.into());
    send(app, args.id, |params| ApprovalAnswerParams {
        decision: Some(ApprovalDecision::Allow),
        scope,
        ..params
    })
    .await
}

pub(super) async fn deny(app: &App, args: DenyArgs) -> Result<Exit> {
    let note = args.note;
    send(app, args.id, |params| ApprovalAnswerParams {
        decision: Some(ApprovalDecision::Deny),
        note,
        ..params
    })
    .await
}

pub(super) async fn answer(app: &App, args: AnswerArgs) -> Result<Exit> {
    let answer = Some(args.text.join(" "));
    send(app, args.id, |params| ApprovalAnswerParams { answer, ..params }).await
}

async fn send(
    app: &App,
    approval: String,
    fill: impl FnOnce(ApprovalAnswerParams) -> ApprovalAnswerParams,
) -> Result<Exit> {
    let opened = app.open().await?;
    let params = ApprovalAnswerParams {
        project_id: opened.id(),
        approval,
        decision: None,
        answer: None,
        scope: None,
        note: None,
    };
    let answered = opened.client.call::<ApprovalAnswerMethod>(fill(params)).await?;
    if app.out.is_json() {
        app.out.json(&as_json(&answered)?)?;
    } else {
        let said = answered.answer.as_ref().map_or_else(|| "answered".to_owned(), words::answer);
        app.out.line(&format!("{} {said}", answered.short));
    }
    Ok(Exit::Ok)
}

/// An approval with the fields of its subject beside the others.
pub(super) fn as_json(approval: &ApprovalView) -> Result<Value> {
    let mut value = super::list::to_value(approval)?;
    let Some(object) = value.as_object_mut() else { return Ok(value) };
    match &approval.subject {
        ApprovalSubject::ToolCall { tool, input, effects, reason, scopes } => {
            let scopes: Vec<Value> =
                scopes.iter().map(|offer| json!({ "name": offer.scope, "covers": offer.covers })).collect();
            object.insert("tool".into(), json!(tool));
            object.insert("input".into(), input.clone());
            object.insert("effects".into(), json!(effects));
            object.insert("reason".into(), json!(reason));
            object.insert("scopes".into(), json!(scopes));
        }
        ApprovalSubject::Question { text, options, free_text } => {
            object.insert("text".into(), json!(text));
            object.insert("options".into(), json!(options));
            object.insert("free_text".into(), json!(free_text));
        }
    }
    Ok(value)
}
