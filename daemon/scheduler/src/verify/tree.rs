//! The look: checks on a tree that stood still while they ran, and what the task changed.

use std::collections::BTreeSet;

use air_contracts::Result;
use air_contracts::path::WirePath;
use air_contracts::workspace::{Checkpoint, FileChange};

use super::Verification;
use crate::checks::{CheckList, CheckRun, Purpose};

/// What was seen.
#[derive(Debug, Clone)]
pub(crate) struct Looked {
    /// The tree that the checks ran on.
    pub(crate) tree: String,
    pub(crate) write_seq: u64,
    /// One run for each check, in their order.
    pub(crate) runs: Vec<CheckRun>,
    /// What the task changed, without what its checks wrote and without foreign edits.
    pub(crate) changed: Vec<FileChange>,
    pub(crate) patch: String,
    pub(crate) foreign: BTreeSet<WirePath>,
    /// The tree after the last check.
    pub(crate) end: Checkpoint,
}

impl Verification<'_> {
    /// Runs the checks; once more where the tree moved under them.
    pub(crate) async fn look(&self, list: &CheckList) -> Result<Looked> {
        let executor = &self.deps.executor;
        let workspace = &self.deps.workspace;
        let name = format!("tasks/k{}/verified", self.task.n);
        let mut foreign = BTreeSet::new();
        let mut tree = executor.checkpoint(workspace, None).await?.tree;
        let mut round = 0;
        let (runs, write_seq, end) = loop {
            round += 1;
            let write_seq = self.deps.store.turn(self.task.turn_id).await?.write_seq;
            let runs = self.runs_on(list, &tree, write_seq).await;
            let end = executor.checkpoint(workspace, Some(&name)).await?;
            let moved = if end.tree == tree { BTreeSet::new() } else { self.moved(&tree, &end.tree).await? };
            if moved.is_empty() || round == 2 {
                foreign.extend(moved);
                break (runs, write_seq, end);
            }
            foreign.extend(moved);
            tree = end.tree;
        };
        let (changed, patch) = self.changed_since_start(&tree, &foreign).await?;
        Ok(Looked { tree, write_seq, runs, changed, patch, foreign, end })
    }

    /// Runs what has no run on this very tree after the last write.
    async fn runs_on(&self, list: &CheckList, tree: &str, write_seq: u64) -> Vec<CheckRun> {
        let checker = self.checker();
        let mut runs = Vec::with_capacity(list.specs.len());
        for spec in &list.specs {
            let fresh = |run: &CheckRun| run.write_seq == write_seq && run.turn_id == self.task.turn_id;
            let run = match self.cache.get(tree, &spec.check).filter(fresh) {
                Some(run) => run,
                None => {
                    let mut run = checker.run(&spec.check, Purpose::Verify).await;
                    (run.tree, run.write_seq) = (tree.to_owned(), write_seq);
                    run
                }
            };
            runs.push(run);
        }
        runs
    }

    /// Paths that differ, but for what the checks write at each run.
    async fn moved(&self, from: &str, to: &str) -> Result<BTreeSet<WirePath>> {
        let changes = self.deps.executor.changes(&self.deps.workspace, from, to, &[]).await?;
        let paths = changes.files.into_iter().map(|file| file.path);
        Ok(paths.filter(|path| !self.baseline.products.contains(path)).collect())
    }

    async fn changed_since_start(
        &self,
        tree: &str,
        foreign: &BTreeSet<WirePath>,
    ) -> Result<(Vec<FileChange>, String)> {
        let store = &self.deps.store;
        let Some(start) = store.last_checkpoint(self.task.turn_id, Some(self.task.id), "task_start").await?
        else {
            return Ok((Vec::new(), String::new()));
        };
        let from = &start.checkpoint.tree;
        if from == tree {
            return Ok((Vec::new(), String::new()));
        }
        let changes = self.deps.executor.changes(&self.deps.workspace, from, tree, &[]).await?;
        let own =
            |file: &FileChange| !self.baseline.products.contains(&file.path) && !foreign.contains(&file.path);
        Ok((changes.files.into_iter().filter(own).collect(), changes.patch))
    }
}
