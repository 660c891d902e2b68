//! What a command cannot do. These need a kernel with Landlock and user namespaces, and say so.

use std::fs;
use std::net::TcpListener;

use air_sandbox::{FilesystemLimit, NetworkLimit, platform};

use crate::bed::Bed;

/// Whether this machine can enforce the whole policy; otherwise a test has nothing to prove.
fn can_isolate() -> bool {
    let machine = platform();
    let able = machine.landlock_abi >= 3 && machine.user_namespaces;
    if !able {
        eprintln!("skipped: no Landlock or no user namespaces here");
    }
    able
}

#[test]
fn the_report_says_what_is_enforced() {
    if !can_isolate() {
        return;
    }
    let ended = Bed::new("true").with(|spec| spec.policy.required = true).run();
    let report = ended.record.sandbox;
    assert_eq!((report.filesystem, report.network), (FilesystemLimit::Full, NetworkLimit::Namespace));
    assert!(report.user_namespace && report.masked && report.seccomp && report.is_full(), "{report:?}");
    let open = Bed::new("true").with(|spec| spec.policy.network = true).run().record.sandbox;
    assert_eq!(open.network, NetworkLimit::Open);
}

/// Runs a command for a bed with a project in its workspace; `refused` parts must fail, the rest work.
fn check(allowed: &str, refused: &[&str]) {
    if !can_isolate() {
        return;
    }
    let attempts: String = refused
        .iter()
        .map(|part| format!("if ({part}) 2>/dev/null; then echo 'DONE: {part}'; fi\n"))
        .collect();
    let bed = Bed::new(&format!("set -e\n{allowed}\nset +e\n{attempts}"));
    fs::write(bed.path("victim"), "old").unwrap();
    fs::create_dir_all(bed.path("ws/.git/hooks")).unwrap();
    fs::create_dir_all(bed.path("ws/.air/shared")).unwrap();
    fs::write(bed.path("ws/.git/config"), "[core]\n").unwrap();
    fs::create_dir_all(bed.path("user/.ssh")).unwrap();
    fs::write(bed.path("user/.ssh/id_ed25519"), "SECRET KEY").unwrap();
    fs::write(bed.path("user/.netrc"), "SECRET PASSWORD").unwrap();
    fs::write(bed.path("home/credentials"), "SECRET TOKEN").unwrap();
    let ended = bed.run();
    assert_eq!((ended.record.exit_code, ended.output.as_str()), (Some(0), ""));
    assert_eq!(fs::read_to_string(ended.bed.path("victim")).unwrap(), "old");
}

#[test]
fn only_the_trees_of_the_policy_can_be_written() {
    check(
        "echo x >a; mkdir d; mv a d/b; ln d/b c; rm c; : >/dev/null; echo x >/dev/shm/x; mkfifo f",
        &[
            "echo x >>../victim",
            "truncate -s 0 ../victim",
            "rm ../victim",
            "mv ../victim stolen",
            "ln ../victim linked && echo x >linked",
            "ln -s ../victim l && echo x >l",
            "chmod 777 ../victim && echo x >../victim",
            "touch ../new",
            "mkdir ../new",
            "touch /etc/air-test",
            "touch /tmp/air-test-outside",
            "echo x >/proc/self/root$PWD/../new",
            "mount -t tmpfs none .",
            "umount /dev/shm",
            "unshare -rm touch ../new",
        ],
    );
}

#[test]
fn git_and_runtime_files_of_the_project_are_read_only() {
    check(
        "cat .git/config >/dev/null; echo x >.git/index; mkdir -p .git/refs; touch .git/index.lock; rm .git/index.lock",
        &[
            "echo x >>.git/config",
            "rm .git/config",
            "mv .git/config .git/c",
            "echo x >.git/n && mv .git/n .git/config",
            "echo x >.git/hooks/pre-commit",
            "mv .git/hooks .git/h",
            "mv .git g",
            "touch .air/shared/permissions.yaml",
            "mv .air a",
        ],
    );
}

#[test]
fn credentials_and_the_daemon_are_out_of_sight() {
    check(
        "[ -d ../home/workspaces/other ]; [ -d ~/.ssh ]",
        &[
            "grep -r SECRET ~/.ssh ~/.netrc ../home",
            "[ -s ~/.netrc ]",
            "ls ~/.ssh/id_ed25519",
            "ls ../home/projects",
            "echo x >../home/workspaces/other/x",
            "echo '{}' >../home/projects/p/runs/r/exit.json",
            "touch ../home/projects/p/runs/r/cancel",
            "rm -r ../home",
            "mv ../home ../moved",
            "kill -0 $PPID",
            "grep -q . /proc/$PPID/environ",
            "ls /proc/$PPID/root/",
        ],
    );
}

/// Even when the whole scratch machine is writable, a run cannot forge its own result.
#[test]
fn a_result_cannot_be_forged_from_a_tree_above_it() {
    if !can_isolate() {
        return;
    }
    let forge = "cd ..; mv home h2; mkdir -p home/projects/p/runs/r; echo '{}' >home/projects/p/runs/r/exit.json; \
         rm -rf home/projects; mv home/projects x; ls -d h2; touch beside; exit 6";
    let bed = Bed::new(forge);
    let root = bed.path("");
    let ended = bed.with(|spec| spec.policy.writable = vec![root]).run();
    assert_eq!(ended.record.exit_code, Some(6));
    assert!(ended.bed.path("beside").exists() && !ended.bed.path("h2").exists());
}

#[test]
fn without_the_network_only_the_own_localhost_is_there() {
    if !can_isolate() {
        return;
    }
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let connect = format!("(: </dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo connected; ");
    let own = "perl -MIO::Socket::INET -e '$l=IO::Socket::INET->new(Listen=>1,LocalAddr=>\"127.0.0.1\") or die; \
         IO::Socket::INET->new(PeerAddr=>\"127.0.0.1:\".$l->sockport) or die; print \"own\\n\"'";
    assert_eq!(Bed::new(&format!("{connect}{own}")).run().output, "own\n");
    let open = Bed::new(&connect).with(|spec| spec.policy.network = true).run();
    assert_eq!(open.output, "connected\n");
}

/// A worktree of the daemon, with a private temporary folder beside the hidden run folders.
#[test]
fn what_the_policy_names_below_the_daemon_home_can_be_used() {
    if !can_isolate() {
        return;
    }
    let bed = Bed::new("pwd; echo x >made; echo y >$TMPDIR/made; ls ../../projects/p ../..");
    let (work, temp) = (bed.path("home/workspaces/other"), bed.path("home/projects/p/tmp"));
    fs::create_dir(&temp).unwrap();
    let ended = bed
        .with(|spec| {
            spec.cwd = work.clone();
            spec.env.push(("TMPDIR".into(), temp.display().to_string()));
            spec.policy.writable = vec![work.clone(), temp.clone()];
        })
        .run();
    let listing = "../..:\nprojects\nworkspaces\n\n../../projects/p:\ntmp\n";
    assert_eq!(ended.output, format!("{}\n{listing}", work.display()));
    assert_eq!(fs::read_to_string(work.join("made")).unwrap(), "x\n");
    assert_eq!(fs::read_to_string(temp.join("made")).unwrap(), "y\n");
}

/// Ubuntu's default for programs without a profile, containers, hardened kernels.
#[test]
fn without_namespaces_landlock_still_holds_and_the_report_is_honest() {
    if !can_isolate() {
        return;
    }
    let command = "echo x >in; echo x >../out; echo x >../home/projects/p/runs/r/exit.json; kill -0 $PPID; \
         perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>\"s\") or print \"$!\\n\"' >said; \
         perl -MIO::Socket::INET -e '$l=IO::Socket::INET->new(Listen=>1,LocalAddr=>\"127.0.0.1\") or die; \
         IO::Socket::INET->new(PeerAddr=>\"127.0.0.1:\".$l->sockport) or die' && echo localhost >>said; exit 3";
    let bed = Bed::new(command);
    let _listener = std::os::unix::net::UnixListener::bind(bed.path("ws/s")).unwrap();
    let ended = bed.run_without_namespaces();
    let report = ended.record.sandbox;
    assert_eq!(ended.record.exit_code, Some(3));
    assert_eq!((report.filesystem, report.network), (FilesystemLimit::Full, NetworkLimit::NotEnforced));
    assert!(!report.masked && !report.user_namespace && report.seccomp && !report.is_full(), "{report:?}");
    assert_eq!(report.weaknesses.len(), 2, "{report:?}");
    assert!(ended.bed.path("ws/in").exists() && !ended.bed.path("out").exists());
    assert_eq!(ended.bed.read("said"), "Permission denied\nlocalhost\n");

    let refused = Bed::new("touch ran").with(|spec| spec.policy.required = true).run_without_namespaces();
    let error = refused.record.spawn_error.unwrap();
    assert!(error.contains("cannot be enforced") && error.contains("network"), "{error}");
    assert_eq!(refused.record.exit_code, None);
    assert!(!refused.bed.path("ws/ran").exists());
}

#[test]
fn terminals_can_be_made_but_not_those_of_the_user_reached() {
    check(
        "script -qec 'test -t 0' /dev/null >/dev/null; [ \"$(ls /dev/pts)\" = ptmx ]",
        &["exec 3<>/dev/tty", "exec 3<>/dev/console && echo x >&3"],
    );
}
