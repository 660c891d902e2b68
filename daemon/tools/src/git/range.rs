//! What `git.diff` compares.

use air_contracts::error::codes;
use air_contracts::tool::CallContext;
use air_contracts::{AirError, Result};

use super::Git;
use super::exec::line;
use crate::kit::Kit;

/// The two trees of a range word.
pub(super) async fn trees(kit: &Kit, context: &CallContext, range: Option<&str>) -> Result<(String, String)> {
    let root = &context.workspace_root;
    let store = &kit.deps.store;
    match range.unwrap_or("task") {
        "task" | "base" => {
            let task = match (range, context.task_id) {
                (Some("base"), _) | (_, None) => None,
                (_, Some(task)) => store.last_checkpoint(context.turn_id, Some(task), "task_start").await?,
            };
            let turn = store.last_checkpoint(context.turn_id, None, "turn_start").await?;
            let from = match task.or(turn) {
                Some(saved) => saved.checkpoint.tree,
                None => kit.git.head_tree(root).await?,
            };
            Ok((from, kit.git.checkpoint(root, None).await?.tree))
        }
        range => kit.git.range(root, range).await,
    }
}

impl Git {
    /// The tree of HEAD; the empty tree where there is no commit.
    pub async fn head_tree(&self, root: &std::path::Path) -> Result<String> {
        let repository = self.locate(root).await?;
        let name = format!("HEAD:{}", repository.prefix);
        let done = repository.call().args(["rev-parse", "--verify", "-q", &name]).run().await?;
        if done.ok {
            return Ok(line(&done.stdout));
        }
        let empty = repository.call().args(["hash-object", "-w", "-t", "tree", "/dev/null"]).ok().await?;
        Ok(line(&empty))
    }

    /// The trees of `A..B` or of one commit against the files as they are.
    async fn range(&self, root: &std::path::Path, range: &str) -> Result<(String, String)> {
        let unknown = |name: &str| {
            let text = format!(
                "`git.diff`: {name} is no commit of this repository. `range` takes `task`, `base`, a commit, or A..B."
            );
            AirError::new(codes::TOOL_INVALID_INPUT, text)
        };
        let repository = self.locate(root).await?;
        let resolve = async |name: &str| {
            let spec = format!("{name}^{{commit}}:{}", repository.prefix);
            if name.starts_with('-') || name.is_empty() {
                return Err(unknown(name));
            }
            let done = repository
                .call()
                .args(["rev-parse", "--verify", "-q", "--end-of-options", &spec])
                .run()
                .await?;
            if done.ok { Ok(line(&done.stdout)) } else { Err(unknown(name)) }
        };
        match range.split_once("..") {
            Some((from, to)) => {
                let to = to.trim_start_matches('.');
                Ok((resolve(from).await?, resolve(if to.is_empty() { "HEAD" } else { to }).await?))
            }
            None => Ok((resolve(range).await?, self.checkpoint(root, None).await?.tree)),
        }
    }
}
