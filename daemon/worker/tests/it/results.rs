//! What is recorded: status, output, the environment that a command finds.

use air_sandbox::{RunFolder, RunState};

use crate::bed::{Bed, spawn, until};

/// Exit code, signal and output of a command.
fn check(command: &str, code: Option<i32>, signal: Option<i32>, output: &str) {
    let ended = Bed::new(command).run();
    let record = &ended.record;
    assert_eq!((record.exit_code, record.signal, ended.output.as_str()), (code, signal, output), "{command}");
    assert_eq!((record.timed_out, record.cancelled, record.survivors), (false, false, 0), "{command}");
    assert_eq!(record.spawn_error, None);
}

#[test]
fn status_and_output_are_those_of_the_command() {
    check("exit 7", Some(7), None, "");
    check("kill -9 $$", None, Some(9), "");
    check("kill -TERM 0", None, Some(15), "");
    check("nosuchcommand 2>/dev/null", Some(127), None, "");
    check(
        "for n in 1 2 3; do echo out$n; echo err$n >&2; done",
        Some(0),
        None,
        "out1\nerr1\nout2\nerr2\nout3\nerr3\n",
    );
    check("printf 'no newline'; exec >&-; exec 2>&-", Some(0), None, "no newline");
}

#[test]
fn a_command_finds_no_input_no_terminal_no_descriptors_and_default_signals() {
    check("cat; read -r line; echo $?", Some(0), None, "1\n");
    check("tty", Some(1), None, "not a tty\n");
    check(
        "(: </dev/tty) 2>&1 | grep -o 'No such device or address'",
        Some(0),
        None,
        "No such device or address\n",
    );
    // ls opens the listing itself as 3.
    check("exec ls /proc/self/fd", Some(0), None, "0\n1\n2\n3\n");
    let masks = "exec grep -E '^Sig(Blk|Ign)' /proc/self/status";
    let zero = "0000000000000000";
    check(masks, Some(0), None, &format!("SigBlk:\t{zero}\nSigIgn:\t{zero}\n"));
    check("ulimit -Sc; grep NoNewPrivs /proc/self/status", Some(0), None, "0\nNoNewPrivs:\t1\n");
}

#[test]
fn the_environment_and_the_folder_are_exactly_those_of_the_specification() {
    let bed = Bed::new("exec env").with(|spec| spec.env = vec![("ONLY".into(), "a=b ü".into())]);
    // The shell itself adds the last two.
    let shell = format!("PWD={}\nSHLVL=0\n", bed.path("ws").display());
    assert_eq!(bed.run().output, format!("ONLY=a=b ü\n{shell}"));
    let ended = Bed::new("pwd -P; git --version >/dev/null && echo git").run();
    assert_eq!(ended.output, format!("{}\ngit\n", ended.bed.path("ws").display()));
}

#[test]
fn what_cannot_be_started_says_why() {
    let ended = Bed::new("true").with(|spec| spec.cwd.push("gone")).run();
    assert_eq!(ended.record.exit_code, None);
    let error = ended.record.spawn_error.unwrap();
    assert!(error.contains("ws/gone") && error.contains("No such file"), "{error}");

    let error = Bed::new("echo \0").run().record.spawn_error.unwrap();
    assert!(error.contains("NUL"), "{error}");
}

#[test]
fn a_path_that_is_not_utf8_works() {
    use std::os::unix::ffi::OsStringExt;
    let bed = Bed::new("echo x >made; pwd | od -An -c | grep -c 377");
    let odd = bed.path("ws").join(std::ffi::OsString::from_vec(b"d\xff".to_vec()));
    std::fs::create_dir(&odd).unwrap();
    let bed = bed.with(|spec| (spec.cwd, spec.policy.writable) = (odd.clone(), vec![odd.clone()]));
    let ended = bed.run();
    assert_eq!(ended.output, "1\n");
    assert!(odd.join("made").exists());
}

#[test]
fn a_hundred_megabytes_keep_both_ends_and_the_true_size() {
    let bed = Bed::new("echo first; yes abcdefg | head -c 104857600; echo last");
    let ended = bed.with(|spec| (spec.head_cap, spec.tail_cap) = (1000, 500)).run();
    let total = 6 + 104_857_600 + 5;
    assert_eq!(ended.record.output_bytes, total);
    assert_eq!(ended.record.output_error, None);
    let kept = ended.folder.output(20, 13).unwrap();
    assert_eq!(
        (kept.head.as_slice(), kept.tail.as_slice()),
        (&b"first\nabcdefg\nabcdef"[..], &b"abcdefg\nlast\n"[..])
    );
    assert_eq!((kept.total, kept.omitted), (total, total - 33));
    let most = ended.folder.output(1 << 20, 1 << 20).unwrap();
    assert_eq!((most.head.len(), most.tail.len()), (1000, 500));
    let on_disk = |name: &str| ended.folder.path().join(name).metadata().unwrap().len();
    assert_eq!((on_disk("output.head"), on_disk("output.tail")), (1000, 500));
}

#[test]
fn a_run_can_be_followed_and_adopted_through_its_folder_alone() {
    let bed = Bed::new("echo one; until [ -e go ]; do sleep 0.01; done; echo two");
    let run = bed.start();
    let launcher = run.launcher();
    until("the first line", || (run.folder.output_len().unwrap() == 4).then_some(()));

    // Another daemon knows nothing but the path.
    let adopted = RunFolder::open(run.folder.path()).unwrap();
    let RunState::Running(id) = adopted.state().unwrap() else { panic!("not running") };
    assert_eq!(id.pid, launcher);
    assert_eq!(adopted.spec().unwrap(), run.bed.spec);
    assert_eq!(adopted.read_output_at(0, 3).unwrap(), b"one");
    assert_eq!(adopted.read_output_at(4, 10).unwrap(), b"");
    let ended = adopted.wait_fd().unwrap().expect("a launcher to wait for");
    assert!(adopted.clone().remove().is_err(), "a living run was removed");

    std::fs::write(run.bed.path("ws/go"), "").unwrap();
    rustix::event::poll(&mut [rustix::event::PollFd::new(&ended, rustix::event::PollFlags::IN)], None)
        .unwrap();
    let RunState::Finished(record) = adopted.state().unwrap() else { panic!("not finished") };
    assert_eq!((record.exit_code, record.output_bytes), (Some(0), 8));
    assert_eq!(adopted.read_output_at(4, 10).unwrap(), b"two\n");
    assert!(adopted.wait_fd().unwrap().is_none());
    let _bed = run.wait();
    adopted.remove().unwrap();
}

#[test]
fn a_folder_is_run_once_and_by_one_launcher() {
    let bed = Bed::new("echo x >>count; until [ -e go ]; do sleep 0.01; done");
    let folder = RunFolder::create(bed.path("home/projects/p/runs/r"), &bed.spec).unwrap();
    assert_eq!(folder.state().unwrap(), RunState::NotStarted);
    assert!(RunFolder::create(folder.path(), &bed.spec).is_err());

    let mut first = spawn(folder.path());
    until("the command", || (!bed.read("count").is_empty()).then_some(()));
    assert_eq!(spawn(folder.path()).wait().unwrap().code(), Some(3));
    std::fs::write(bed.path("ws/go"), "").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(spawn(folder.path()).wait().unwrap().code(), Some(3));
    assert_eq!(bed.read("count"), "x\n");
    assert_eq!(spawn(bed.path("nothing").as_path()).wait().unwrap().code(), Some(2));
}
