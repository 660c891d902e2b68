//! Rules, grants and the sandbox.

use std::path::{Path, PathBuf};

use air_contracts::permission::{Decision, GrantScope, PermissionDecision};
use air_security::{
    CommandContext, PathOp, PermissionsFile, Policy, analyse_command, classify_path, sandbox_policy,
};
use serde_json::json;

use crate::fixture::{Facts, ROOT, boundaries};

fn file(value: serde_json::Value) -> PermissionsFile {
    serde_json::from_value(value).unwrap()
}

fn decide(policy: &Policy, command: &str) -> PermissionDecision {
    let facts = Facts::project();
    let boundaries = boundaries();
    let context =
        CommandContext { boundaries: &boundaries, cwd: Path::new(ROOT), facts: &facts, secret_env: &[] };
    policy.decide_command(&analyse_command(command, &context))
}

#[test]
fn users_loosen_and_projects_only_tighten() {
    let loose = json!({"commands": [{"match": "git push", "decision": "announce"}, {"match": "git", "decision": "allow"}]});
    let user = Policy::merge(file(loose.clone()), PermissionsFile::default());
    let project = Policy::merge(PermissionsFile::default(), file(loose));
    let check = |policy: &Policy, command: &str, expected: Decision| {
        assert_eq!(decide(policy, command).decision, expected, "{command}");
    };
    // Where several rules apply, the strictest counts.
    check(&user, "git push origin main", Decision::Announce);
    check(&user, "git fetch", Decision::Allow);
    check(&project, "git push origin main", Decision::Ask);
    // The rule covers git, not what else the line does.
    check(&user, "git push; curl example.com", Decision::Ask);
    check(&user, "git push $(foo)", Decision::Ask);
    check(&user, "git push > ../x", Decision::Ask);
    // What is refused stays refused.
    let all = Policy::merge(
        file(json!({"commands": [{"match": "rm", "decision": "allow"}]})),
        PermissionsFile::default(),
    );
    check(&all, "rm -rf src", Decision::Allow);
    check(&all, "rm -rf ~", Decision::Deny);
    // Tightening counts for every part, from either file.
    let tight = json!({"commands": [{"match": "make", "decision": "deny"}], "network": [{"host": "*.example.com", "decision": "deny"}],
        "paths": [{"match": "docs/**", "ops": ["write"], "decision": "ask"}]});
    for policy in [
        Policy::merge(file(tight.clone()), PermissionsFile::default()),
        Policy::merge(PermissionsFile::default(), file(tight.clone())),
    ] {
        check(&policy, "ls && make test", Decision::Deny);
        check(&policy, "/usr/bin/make", Decision::Deny);
        check(&policy, "curl https://a.example.com/x", Decision::Deny);
        check(&policy, "echo x > docs/new.md", Decision::Ask);
        check(&policy, "cat docs/notes.md", Decision::Allow);
    }
}

#[test]
fn a_misspelt_rule_is_an_error() {
    for wrong in [
        json!({"command": []}),
        json!({"commands": [{"match": "x", "decison": "ask"}]}),
        json!({"paths": [{"match": "x", "decision": "maybe"}]}),
    ] {
        assert!(serde_json::from_value::<PermissionsFile>(wrong).is_err());
    }
}

#[test]
fn scopes_show_what_a_yes_covers() {
    let policy = Policy::default();
    let scopes = |command: &str| -> Vec<GrantScope> {
        decide(&policy, command).scopes.iter().map(|offer| offer.scope).collect()
    };
    assert_eq!(scopes("npm install"), [GrantScope::Once, GrantScope::Session, GrantScope::Project]);
    assert_eq!(scopes("cat .env"), [GrantScope::Once]);
    assert_eq!(scopes("rm -rf src"), [GrantScope::Once]);
    assert_eq!(scopes("python3 -c 'print(1)'"), [GrantScope::Once], "code has no fixed form");
    assert_eq!(scopes("curl $x"), [GrantScope::Once], "nor has a variable");
    assert_eq!(scopes("echo x | ssh host"), [GrantScope::Once], "nor what is fed");
    assert!(scopes("ls").is_empty());
    // The key is that of the command, however it is written.
    let key = |command: &str| decide(&policy, command).scopes.last().unwrap().key.clone();
    assert_eq!(key("npm install"), key("  npm   'install' "));
    assert_ne!(key("npm install"), key("npm install --force"));
    assert_ne!(key("npm install"), key("cd src && npm install"));
}

#[test]
fn path_rules_apply_to_tools() {
    let policy = Policy::merge(
        file(
            json!({"paths": [{"match": "src/secret/**", "decision": "deny"}, {"match": "/srv/data/**", "ops": ["read"], "decision": "allow"}]}),
        ),
        PermissionsFile::default(),
    );
    let check = |path: &str, op: PathOp, expected: Decision| {
        let verdict = classify_path(Path::new(path), op, &boundaries(), &Facts::project());
        assert_eq!(policy.decide_path(&verdict, op).decision, expected, "{path}");
    };
    check("src/main.cpp", PathOp::Read, Decision::Allow);
    check("src/secret/x", PathOp::Read, Decision::Deny);
    check("/srv/data/x", PathOp::Read, Decision::Allow);
    check("/srv/data/x", PathOp::Write, Decision::Ask);
    check("../../.ssh/id_rsa", PathOp::Read, Decision::Deny);
}

#[test]
fn the_kernel_gets_the_same_boundaries() {
    let policy = sandbox_policy(&boundaries(), false);
    assert!(policy.writable.contains(&PathBuf::from(ROOT)) && !policy.network);
    let mut worktree = boundaries();
    worktree.workspace_root = PathBuf::from("/home/dev/.air/workspaces/1");
    let policy = sandbox_policy(&worktree, true);
    assert!(policy.writable.contains(&PathBuf::from(ROOT).join(".git/objects")));
    assert!(!policy.writable.contains(&PathBuf::from(ROOT)));
}
