//! Evidence, and whether a write came after it.

use std::collections::HashMap;

use air_contracts::Result;
use air_contracts::evidence::EvidenceKind;
use air_contracts::ids::{RefKind, ShortRef, TaskId};
use air_contracts::projection::EvidenceView;

use super::Refs;
use crate::apply::kind_word;
use crate::{EvidenceFilter, EvidenceRow, Store};

/// The count of writes of the turn of each task.
pub(super) type Writes = HashMap<TaskId, u64>;

const WRITES: &str = "SELECT t.id, u.write_seq FROM json_each(?) AS j CROSS JOIN tasks AS t ON t.id = unhex(j.value) \
    JOIN turns AS u ON u.id = t.turn";

impl Store {
    /// Evidence, oldest first.
    pub async fn evidence_views(&self, filter: EvidenceFilter) -> Result<Vec<EvidenceView>> {
        let rows = self.evidence(filter).await?;
        let refs = self.numbers(rows.iter().flat_map(referred)).await.map(Refs)?;
        let writes = self.writes_of(rows.iter().map(|row| row.evidence.task_id)).await?;
        Ok(rows.into_iter().map(|row| view_evidence(row, &refs, &writes)).collect())
    }

    pub(super) async fn writes_of(&self, tasks: impl IntoIterator<Item = TaskId>) -> Result<Writes> {
        let mut wanted: Vec<String> = tasks.into_iter().map(|task| task.hex()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(Writes::new());
        }
        let wanted = serde_json::to_string(&wanted).unwrap_or_default();
        let rows = self.rows(sqlx::query(WRITES).bind(wanted), |row| Ok((row.id(0)?, row.count(1)?))).await?;
        Ok(rows.into_iter().collect())
    }
}

/// The objects that a piece of evidence names, as hex.
pub(super) fn referred(row: &EvidenceRow) -> Vec<String> {
    let mut ids = vec![row.evidence.task_id.hex()];
    if let EvidenceKind::CheckPassed { tool_run, baseline } = &row.evidence.kind {
        ids.push(tool_run.hex());
        ids.extend(baseline.map(|run| run.hex()));
    }
    ids
}

pub(super) fn view_evidence(row: EvidenceRow, refs: &Refs, writes: &Writes) -> EvidenceView {
    let evidence = row.evidence;
    let (run, baseline) = match &evidence.kind {
        EvidenceKind::CheckPassed { tool_run, baseline } => (Some(*tool_run), *baseline),
        _ => (None, None),
    };
    EvidenceView {
        id: evidence.id,
        short: ShortRef::new(RefKind::Evidence, evidence.n),
        task: refs.task(evidence.task_id).unwrap_or(ShortRef::new(RefKind::Task, 0)),
        criterion: evidence.claim,
        kind: kind_word(&evidence.kind).to_owned(),
        stale: writes.get(&evidence.task_id).is_some_and(|now| evidence.write_seq < *now),
        weaker: evidence.weaker,
        run: run.and_then(|run| refs.run(run)),
        baseline: baseline.and_then(|run| refs.run(run)),
        tree: evidence.tree,
        command: evidence.command,
        exit_code: evidence.exit_code,
        artifact: evidence.artifact,
        note: evidence.note,
        recorded_at: row.recorded_at,
    }
}
