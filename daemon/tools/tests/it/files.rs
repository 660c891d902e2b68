//! Reading, searching, links, and what the worker has seen.

use air_contracts::tool::ToolStatus;
use serde_json::json;

use crate::world::{SECRET, World};

#[tokio::test]
async fn reads_are_paged_and_say_how_to_go_on() {
    let world = World::new().await;
    world.file("a.txt", (1..=3_000).map(|n| format!("line {n}\n")).collect::<String>());
    let first = world.call("Read", json!({ "file_path": "a.txt" })).await.content;
    assert!(first.starts_with("[a.txt · lines 1-2000 of 3000]\n1|line 1\n"), "{}", &first[..80]);
    assert!(first.ends_with("\n[1000 lines left: offset 2001]"));
    let part =
        world.call("fs_read", json!({ "path": "a.txt", "start_line": "10", "end_line": 11 })).await.content;
    assert_eq!(part, "[a.txt · lines 10-11 of 3000]\n10|line 10\n11|line 11\n[2989 lines left: offset 12]");
    let beyond = world.call("fs.read", json!({ "path": "a.txt", "offset": 9_999 })).await;
    assert!(
        beyond.content.contains("offset_out_of_range") && beyond.content.contains("offset 2801"),
        "{}",
        beyond.content
    );
    world.file("parse.cpp", "x");
    let missing = world.call("fs.read", json!({ "path": "pasre.cpp" })).await;
    assert!(
        missing.content.contains("error no_such_file: pasre.cpp does not exist. Near: parse.cpp."),
        "{}",
        missing.content
    );
    world.file("bin", b"\x7fELF\0\0");
    assert!(world.call("fs.read", json!({ "path": "bin" })).await.content.contains("ELF binary"));
    let folder =
        world.call("fs.read", json!({ "path": world.root.join(".").display().to_string() })).await.content;
    assert!(folder.contains("parse.cpp"), "{folder}");
}

#[tokio::test]
async fn a_search_shows_all_hits_at_once_and_no_secrets() {
    let world = World::new().await;
    world.file("src/a.c", "int one;\nint two; // needle\n");
    world.file("src/b.c", "needle\n".repeat(30));
    world.file("build/c.c", "needle\n");
    world.file(".gitignore", "build/\n");
    world.file(".env", "needle=1\n");
    let found = world.call("grep", json!({ "pattern": "needle", "path": "." })).await.content;
    assert!(
        found.starts_with("[31 hits in 2 files]\nsrc/a.c:2:int two; // needle\nsrc/b.c:1:needle"),
        "{found}"
    );
    assert!(found.ends_with("[10 hits more: src/b.c 10, narrow with path or glob]"), "{found}");
    let none = world.call("fs.search", json!({ "pattern": "absent", "glob": "*.c" })).await.content;
    assert_eq!(none, "[no matches in 2 files]");
    let bad = world.call("fs.search", json!({ "pattern": "foo(bar" })).await;
    assert!(
        bad.content.contains("error invalid_pattern") && bad.content.contains("literal"),
        "{}",
        bad.content
    );
    let literal = world
        .call("fs.search", json!({ "pattern": "two; //", "literal": true, "output_mode": "files" }))
        .await
        .content;
    assert_eq!(literal, "[1 hit in 1 file]\nsrc/a.c");
    // A hit counts as a read.
    let edit =
        world.call("fs.edit", json!({ "path": "src/a.c", "old_string": "one", "new_string": "uno" })).await;
    assert_eq!(edit.status, ToolStatus::Ok, "{}", edit.content);
    let glob = world.call("fs.glob", json!({ "pattern": "**/*.c" })).await.content;
    assert!(glob.starts_with("[2 files · 1 ignored]\n"), "{glob}");
}

#[tokio::test]
async fn links_stay_links_and_what_is_seen_survives_a_restart() {
    let mut world = World::new().await;
    world.file("real.txt", "a\n");
    std::os::unix::fs::symlink("real.txt", world.root.join("link.txt")).unwrap();
    world.call("fs.read", json!({ "path": "link.txt" })).await;
    world.restart().await;
    let edit =
        world.call("fs.edit", json!({ "path": "link.txt", "old_string": "a", "new_string": "b" })).await;
    assert_eq!(edit.status, ToolStatus::Ok, "{}", edit.content);
    assert_eq!(world.text("real.txt"), "b\n");
    assert!(world.root.join("link.txt").is_symlink());
    world.file("real.txt", "c\nb\n");
    let stale =
        world.call("fs.edit", json!({ "path": "link.txt", "old_string": "b", "new_string": "d" })).await;
    assert!(stale.content.contains("stale_file") && stale.content.contains("1|c"), "{}", stale.content);
    let again =
        world.call("fs.edit", json!({ "path": "link.txt", "old_string": "b", "new_string": "d" })).await;
    assert_eq!(again.status, ToolStatus::Ok, "{}", again.content);
}

#[tokio::test]
async fn what_lies_outside_is_refused_or_asked() {
    let mut world = World::new().await;
    world.approve = air_contracts::permission::ApproveMode::Safe;
    let key = world.base.join("home/.ssh/id_ed25519");
    std::fs::create_dir_all(key.parent().unwrap()).unwrap();
    std::fs::write(&key, "KEY MATERIAL").unwrap();
    std::os::unix::fs::symlink(&key, world.root.join("key")).unwrap();
    for (tool, input) in [
        ("fs.read", json!({ "path": "key" })),
        ("fs.read", json!({ "path": key.display().to_string() })),
        ("fs.write", json!({ "path": "../outside.txt", "content": "x" })),
        ("fs.write", json!({ "path": ".air/shared/permissions.yaml", "content": "x" })),
        (
            "fs.write",
            json!({ "path": world.deps.project_dir.join("grants.yaml").display().to_string(), "content": "x" }),
        ),
    ] {
        let result = world.call(tool, input.clone()).await;
        assert_eq!(result.status, ToolStatus::Denied, "{input}: {}", result.content);
        assert!(!result.content.contains("MATERIAL"));
    }
    assert!(!world.base.join("outside.txt").exists());
}

#[tokio::test]
async fn secrets_do_not_reach_the_log() {
    let world = World::new().await;
    world.file("a.txt", format!("key {SECRET}\n"));
    let read = world.call("fs.read", json!({ "path": "a.txt" })).await;
    assert!(!read.content.contains(SECRET), "{}", read.content);
    world.shell(&format!("echo {SECRET}")).await;
    for event in world.deps.store.events(air_store::EventQuery::default()).await.unwrap() {
        assert!(!event.payload.to_string().contains(SECRET), "{}", event.payload);
    }
}
