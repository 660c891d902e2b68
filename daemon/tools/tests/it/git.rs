//! Checkpoints and comparisons on real repositories.

use std::os::unix::fs::PermissionsExt as _;

use air_contracts::port::ToolExecutor;
use air_contracts::task::AgentRole;
use serde_json::json;

use crate::world::{World, git};

async fn tree(world: &World, name: Option<&str>) -> String {
    world.service.checkpoint(&world.workspace_ref(), name).await.unwrap().tree
}

async fn changed(world: &World, from: &str, to: &str) -> Vec<(String, String)> {
    let changes = world.service.changes(&world.workspace_ref(), from, to, &[]).await.unwrap();
    changes.files.into_iter().map(|file| (file.path.display(), file.status)).collect()
}

fn pair(path: &str, status: &str) -> (String, String) {
    (path.to_owned(), status.to_owned())
}

#[tokio::test]
async fn a_checkpoint_holds_all_work_and_leaves_the_index_alone() {
    let world = World::new().await;
    git(&world.root, &["init", "-q"]);
    world.file("tracked", "1\n");
    world.file("gone", "1\n");
    world.file(".gitignore", "ignored\n");
    git(&world.root, &["add", "."]);
    git(&world.root, &["commit", "-qm", "one"]);
    world.file("staged", "s\n");
    git(&world.root, &["add", "staged"]);
    let index = std::fs::read(world.root.join(".git/index")).unwrap();
    let first = tree(&world, None).await;

    world.file("tracked", "2\n");
    world.file("new name\u{e9}", "n\n");
    world.file("ignored", "i\n");
    world.file("out/CMakeCache.txt", "c\n");
    world.file("out/a.o", "o\n");
    world.file(".air/shared/project.json", "{}");
    std::fs::remove_file(world.root.join("gone")).unwrap();
    let second = tree(&world, Some("turns/t1")).await;
    assert_eq!(
        changed(&world, &first, &second).await,
        [pair("gone", "deleted"), pair("new name\u{e9}", "added"), pair("tracked", "modified")]
    );
    assert_eq!(std::fs::read(world.root.join(".git/index")).unwrap(), index);
    assert_eq!(git(&world.root, &["rev-parse", "refs/air/turns/t1^{tree}"]), second);
    assert_eq!(git(&world.root, &["diff", "--cached", "--name-only"]), "staged");
    assert_eq!(git(&world.root, &["stash", "list"]), "");

    // The patch is whole: it turns the first tree into the second.
    let changes = world.service.changes(&world.workspace_ref(), &first, &second, &[]).await.unwrap();
    let patch = world.base.join("p.patch");
    std::fs::write(&patch, &changes.patch).unwrap();
    let index = world.base.join("other-index");
    let run = |args: &[&str]| {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(&world.root)
            .env("GIT_INDEX_FILE", &index)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    run(&["read-tree", &first]);
    run(&["apply", "--cached", patch.to_str().unwrap()]);
    assert_eq!(run(&["write-tree"]), second);
    let only = world
        .service
        .changes(&world.workspace_ref(), &first, &second, &["tracked".to_owned()])
        .await
        .unwrap();
    assert_eq!(only.files.len(), 1);
    assert!(world.service.checkpoint(&world.workspace_ref(), Some("../x")).await.is_err());
}

#[tokio::test]
async fn no_commit_no_repository_and_a_folder_of_one() {
    // Unborn.
    let world = World::new().await;
    git(&world.root, &["init", "-q"]);
    let first = tree(&world, None).await;
    world.file("a", "1\n");
    let second = tree(&world, Some("x")).await;
    assert_eq!(changed(&world, &first, &second).await, [pair("a", "added")]);
    assert_eq!(git(&world.root, &["status", "--porcelain"]), "?? a");

    // None at all.
    let world = World::new().await;
    world.file("a", "1\n");
    let first = tree(&world, None).await;
    world.file("b", "2\n");
    world.file("a", "3\n");
    let second = tree(&world, Some("x")).await;
    assert_eq!(changed(&world, &first, &second).await, [pair("a", "modified"), pair("b", "added")]);
    assert!(!world.root.join(".git").exists());

    // A folder within a repository.
    let world = World::new().await;
    git(&world.base, &["init", "-q"]);
    let first = tree(&world, None).await;
    world.file("a", "1\n");
    let second = tree(&world, None).await;
    assert_eq!(changed(&world, &first, &second).await, [pair("a", "added")]);
}

#[tokio::test]
async fn nothing_that_a_repository_configures_is_started() {
    let world = World::new().await;
    git(&world.root, &["init", "-q"]);
    let trap =
        world.file("../trap.sh", format!("#!/bin/sh\ntouch {}\ncat\n", world.base.join("sprung").display()));
    std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.canonicalize().unwrap().display().to_string();
    for (key, value) in [
        ("filter.x.clean", trap.as_str()),
        ("filter.x.required", "true"),
        ("diff.x.textconv", &trap),
        ("diff.external", &trap),
        ("core.fsmonitor", &trap),
    ] {
        git(&world.root, &["config", key, value]);
    }
    let hook = world.file(".git/hooks/reference-transaction", std::fs::read(&trap).unwrap());
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.file(".gitattributes", "* filter=x diff=x\n");
    let first = tree(&world, None).await;
    world.file("a", "1\n");
    let second = tree(&world, Some("x")).await;
    assert_eq!(changed(&world, &first, &second).await, [pair("a", "added")]);
    assert!(!world.base.join("sprung").exists(), "a configured program was run");
}

#[tokio::test]
async fn models_see_changes_with_new_files() {
    let world = World::new().await;
    git(&world.root, &["init", "-q"]);
    world.file("a", "1\n");
    git(&world.root, &["add", "."]);
    git(&world.root, &["commit", "-qm", "first words"]);
    world.file("a", "2\n");
    world.file("b", "3\n");
    let call = |id: &str, tool: &str, input| {
        world.service.call(world.call_with(AgentRole::Reviewer, id, tool, input))
    };
    let diff = call("1", "git.diff", json!({})).await.content;
    assert!(
        diff.starts_with("[2 files changed]\nmodified a +1 -1\nadded b +1 -0\n") && diff.contains("+3"),
        "{diff}"
    );
    let stat = call("2", "git.diff", json!({ "stat": true, "range": "HEAD", "path": "b" })).await.content;
    assert_eq!(stat, "[1 file changed]\nadded b +1 -0");
    let bad = call("3", "git.diff", json!({ "range": "--output=/tmp/x" })).await.content;
    assert!(bad.contains("error invalid_input"), "{bad}");
    let log = call("4", "git.log", json!({ "limit": 5 })).await.content;
    assert!(log.starts_with("[1 commits]\n") && log.ends_with(" T: first words"), "{log}");
    let status = call("5", "git.status", json!({})).await.content;
    assert!(status.ends_with(" M a\n?? b"), "{status}");
}
