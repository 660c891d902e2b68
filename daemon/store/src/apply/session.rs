//! Sessions, turns, messages.

use air_contracts::artifact::Stored;
use air_contracts::event::{
    MessageAppended, SessionClosed, SessionConfigured, SessionCreated, TurnEnded, TurnResumed, TurnStarted,
    TurnSubmitted,
};
use air_contracts::ids::SessionId;
use air_contracts::message::{ContentBlock, MessageRole};
use air_contracts::session::TurnStatus;
use serde_json::{Value, json as value};

use super::changes::{json, word};
use super::statements::{Insert, Update};
use super::{Changes, Entry, ItemKind};

pub(super) fn created(entry: Entry<'_>, body: &SessionCreated, changes: &mut Changes) {
    let forked = body.forked_from.as_ref().map_or(Value::Null, json);
    let row = (body.n, body.session_id.hex(), json(&body.settings), forked, entry.seq, entry.at, entry.at);
    changes.insert(Insert::Session, row);
}

pub(super) fn configured(entry: Entry<'_>, body: &SessionConfigured, changes: &mut Changes) {
    changes.update(
        Update::Session,
        body.session_id.hex(),
        [json(&body.settings), Value::Null, value!(entry.at)],
    );
}

pub(super) fn closed(entry: Entry<'_>, body: &SessionClosed, changes: &mut Changes) {
    changes.update(Update::Session, body.session_id.hex(), [Value::Null, value!(1), value!(entry.at)]);
}

/// Work in a session: it is not closed any more.
fn touch(entry: Entry<'_>, session: Option<SessionId>, changes: &mut Changes) {
    if let Some(session) = session {
        changes.update(Update::Session, session.hex(), [Value::Null, value!(0), value!(entry.at)]);
    }
}

pub(super) fn submitted(entry: Entry<'_>, body: &TurnSubmitted, changes: &mut Changes) {
    let status = word(TurnStatus::Queued);
    let row =
        (body.n, body.turn_id.hex(), body.session_id.hex(), status, &body.client_id, entry.seq, entry.at);
    changes.insert(Insert::Turn, row);
    changes.item(body.session_id, entry.seq, ItemKind::Turn, body.n);
    touch(entry, Some(body.session_id), changes);
}

pub(super) fn started(entry: Entry<'_>, body: &TurnStarted, changes: &mut Changes) {
    let columns = [value!(word(TurnStatus::Running)), value!(entry.at), Value::Null, Value::Null];
    changes.update(Update::Turn, body.turn_id.hex(), columns);
    touch(entry, entry.session, changes);
}

/// Does not touch `closed`: a session is closed by ending its turns.
pub(super) fn ended(entry: Entry<'_>, body: &TurnEnded, changes: &mut Changes) {
    let columns = [value!(word(body.status)), Value::Null, value!(entry.seq), value!(entry.at)];
    changes.update(Update::Turn, body.turn_id.hex(), columns);
    if let Some(session) = entry.session {
        changes.item(session, entry.seq, ItemKind::TurnEnd, 0);
        changes.update(Update::Session, session.hex(), [Value::Null, Value::Null, value!(entry.at)]);
    }
}

/// Rows of how it ended stay; they do not count while it runs.
pub(super) fn resumed(entry: Entry<'_>, body: &TurnResumed, changes: &mut Changes) {
    let columns = [value!(word(TurnStatus::Running)), Value::Null, Value::Null, Value::Null];
    changes.update(Update::Turn, body.turn_id.hex(), columns);
    touch(entry, entry.session, changes);
    if body.note.as_ref().is_some_and(|note| !note.is_empty()) {
        note(entry, changes);
    }
}

pub(super) fn note(entry: Entry<'_>, changes: &mut Changes) {
    if let Some(session) = entry.session {
        changes.item(session, entry.seq, ItemKind::Note, 0);
    }
}

pub(super) fn message(entry: Entry<'_>, body: &MessageAppended, changes: &mut Changes) {
    let task = body.task_id.map(|task| task.hex());
    let row = (body.session_id.hex(), task, entry.seq, body.message_id.hex(), word(body.role));
    changes.insert(Insert::Message, row);
    if body.role == MessageRole::Assistant && may_show(&body.content) {
        changes.item(body.session_id, entry.seq, ItemKind::Message, 0);
    }
}

/// Whether there is text to show. What lies in an artifact is looked at when it is shown.
fn may_show(content: &Stored<Vec<ContentBlock>>) -> bool {
    match content {
        Stored::Inline { value } => {
            value.iter().any(|block| matches!(block, ContentBlock::Text { text } if !text.trim().is_empty()))
        }
        Stored::Artifact { .. } => true,
    }
}
