//! Requests to models, usage, summaries.

use air_contracts::event::{ContextAssembled, SummaryCreated, UsageRecorded};

use super::changes::word;
use super::statements::Insert;
use super::{Changes, Entry};

pub(super) fn assembled(entry: Entry<'_>, body: &ContextAssembled, changes: &mut Changes) {
    let row = (
        entry.seq,
        body.n,
        body.request_id.hex(),
        body.session_id.hex(),
        body.agent_id.hex(),
        word(body.role),
        body.tokens,
        body.context_window,
    );
    changes.insert(Insert::Request, row);
}

pub(super) fn usage(entry: Entry<'_>, body: &UsageRecorded, changes: &mut Changes) {
    let usage = &body.usage;
    let row = (
        entry.seq,
        body.session_id.hex(),
        body.turn_id.hex(),
        body.task_id.map(|task| task.hex()),
        body.agent_id.hex(),
        word(body.role),
        &body.model,
        usage.input_tokens.unwrap_or(0),
        usage.cache_read_tokens.unwrap_or(0),
        usage.cache_write_tokens.unwrap_or(0),
        usage.output_tokens.unwrap_or(0),
        // A cost that is no number would refuse the whole batch.
        body.cost_usd.filter(|cost| cost.is_finite()).unwrap_or(0.0),
    );
    changes.insert(Insert::Usage, row);
}

pub(super) fn summary(entry: Entry<'_>, body: &SummaryCreated, changes: &mut Changes) {
    let task = body.task_id.map(|task| task.hex());
    changes.insert(Insert::Summary, (entry.seq, body.summary_id.hex(), body.session_id.hex(), task));
}
