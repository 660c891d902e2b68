//! Walking a tree as git sees it: ignore files hold, `.git` and `.air` are left out.

use std::path::Path;

use ignore::WalkBuilder;

/// A walker below `root`, links not followed. `hidden` includes names that start with a dot.
pub(crate) fn walker(root: &Path, hidden: bool) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(!hidden)
        .git_ignore(true)
        .git_exclude(true)
        .git_global(true)
        .ignore(true)
        .require_git(false)
        .parents(true)
        .follow_links(false)
        .filter_entry(|entry| {
            let name = entry.file_name();
            entry.depth() == 0 || (name != ".git" && name != ".air")
        });
    builder
}
