//! The same boundaries as an order to the kernel.

use air_contracts::permission::SandboxPolicy;

use crate::facts::Boundaries;

/// What a command may write and reach: the workspace, temporary files, caches of tools. A worktree also
/// writes to the object store and the refs of its main repository, or it could not commit.
pub fn sandbox_policy(boundaries: &Boundaries, network: bool) -> SandboxPolicy {
    let mut writable = vec![boundaries.workspace_root.clone()];
    if boundaries.workspace_root != boundaries.project_root {
        let git = boundaries.project_root.join(".git");
        writable.extend(["objects", "refs", "logs", "worktrees"].map(|part| git.join(part)));
    }
    writable.extend(boundaries.temp.iter().cloned());
    writable.extend(boundaries.extra_writable.iter().cloned());
    SandboxPolicy { writable, network, required: false }
}
