//! Questions to the user. The first answer wins.

use air_contracts::approval::ApprovalState;
use air_contracts::event::{ApprovalAnswered, ApprovalRequested, ApprovalWithdrawn};
use serde_json::{Value, json as value};

use super::changes::word;
use super::statements::{Insert, Update};
use super::{Changes, Entry, ItemKind};

pub(super) fn requested(entry: Entry<'_>, body: &ApprovalRequested, changes: &mut Changes) {
    let approval = &body.approval;
    let row = (
        approval.n,
        approval.id.hex(),
        approval.session_id.hex(),
        approval.turn_id.hex(),
        approval.task_id.map(|task| task.hex()),
        &approval.call_id,
        word(ApprovalState::Open),
        entry.seq,
    );
    changes.insert(Insert::Approval, row);
    changes.item(approval.session_id, entry.seq, ItemKind::Approval, approval.n);
}

pub(super) fn answered(entry: Entry<'_>, body: &ApprovalAnswered, changes: &mut Changes) {
    let scope = body.answer.scope.map_or(Value::Null, |scope| value!(word(scope)));
    let columns = [value!(word(ApprovalState::Answered)), scope, value!(entry.seq)];
    changes.update(Update::Approval, body.approval_id.hex(), columns);
}

pub(super) fn withdrawn(entry: Entry<'_>, body: &ApprovalWithdrawn, changes: &mut Changes) {
    let columns = [value!(word(ApprovalState::Withdrawn)), Value::Null, value!(entry.seq)];
    changes.update(Update::Approval, body.approval_id.hex(), columns);
}
