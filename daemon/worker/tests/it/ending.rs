//! How runs end: by themselves, by their limit, by a cancel, by violence.

use air_sandbox::{RunFolder, RunState};
use rustix::process::{Pid, Signal, kill_process};

use crate::bed::{Bed, alive, spawn, until};

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

/// A process that has left its session and its parent, and does not listen to SIGTERM.
const STUBBORN_DAEMON: &str = "setsid bash -c 'trap \"\" TERM HUP; (echo $BASHPID >deep; exec sleep 300) & \
     echo $BASHPID >top; wait' </dev/null >/dev/null 2>&1 & until [ -s deep ] && [ -s top ]; do sleep 0.01; done; ";

#[test]
fn what_outlives_the_shell_of_a_foreground_run_is_ended_and_counted() {
    let ended = Bed::new("sleep 300 & echo $! >pid; echo started").run();
    assert_eq!((ended.record.exit_code, ended.record.survivors), (Some(0), 1));
    assert_eq!(ended.output, "started\n");
    assert!(!alive(ended.bed.pid("pid")));

    let ended = Bed::new(&format!("{STUBBORN_DAEMON} echo shell ends")).run();
    assert_eq!((ended.record.exit_code, ended.record.survivors), (Some(0), 2));
    assert!(!alive(ended.bed.pid("top")) && !alive(ended.bed.pid("deep")));
}

#[test]
fn a_process_substitution_may_finish_its_work() {
    let ended = Bed::new("exec > >(tee -a log.txt) 2>&1; echo hi").run();
    assert_eq!((ended.output.as_str(), ended.bed.read("log.txt").as_str()), ("hi\n", "hi\n"));
    assert_eq!((ended.record.exit_code, ended.record.survivors), (Some(0), 0));
}

#[test]
fn a_background_run_lasts_as_long_as_anything_of_it() {
    let bed = Bed::new("(until [ -e go ]; do sleep 0.01; done; echo late; exit 9) & echo early; exit 4");
    let run = bed.with(|spec| spec.background = true).start();
    until("the shell", || (run.folder.output_len().unwrap() == 6).then_some(()));
    run.launcher();
    std::fs::write(run.bed.path("ws/go"), "").unwrap();
    let ended = run.wait();
    assert_eq!((ended.record.exit_code, ended.output.as_str()), (Some(4), "early\nlate\n"));
    assert_eq!(ended.record.survivors, 0);
}

#[test]
fn the_limit_ends_the_whole_tree_and_keeps_the_output() {
    let command = format!("{STUBBORN_DAEMON} echo so far; (trap '' TERM; sleep 300) | cat");
    let ended = Bed::new(&command).with(|spec| spec.timeout_ms = 1500).run();
    let record = &ended.record;
    assert!(record.timed_out && !record.cancelled);
    assert_eq!((record.exit_code, record.signal, ended.output.as_str()), (None, Some(15), "so far\n"));
    assert!(!alive(ended.bed.pid("top")) && !alive(ended.bed.pid("deep")));

    let bed = Bed::new("kill -STOP $BASHPID").with(|spec| spec.timeout_ms = 100);
    assert!(bed.run().record.timed_out);
}

#[test]
fn a_cancel_ends_this_run_and_no_other() {
    let command = format!("{STUBBORN_DAEMON} echo $$ >shell; sleep 300");
    let (run, other) = (Bed::new(&command).start(), Bed::new("echo $$ >shell; sleep 300").start());
    let (shell, other_shell) = (run.bed.pid("shell"), other.bed.pid("shell"));
    assert!(run.folder.cancel().unwrap());
    let ended = run.wait();
    assert!(ended.record.cancelled && !ended.record.timed_out);
    assert!(!alive(shell) && !alive(ended.bed.pid("top")) && !alive(ended.bed.pid("deep")));
    assert!(!ended.folder.cancel().unwrap(), "a finished run was cancelled");
    assert!(alive(other_shell));
    assert!(other.folder.cancel().unwrap());
    assert!(other.wait().record.cancelled);
}

#[test]
fn a_run_that_is_cancelled_before_it_starts_does_not_start() {
    let bed = Bed::new("touch ran");
    let folder = RunFolder::create(bed.path("home/projects/p/runs/r"), &bed.spec).unwrap();
    assert!(folder.cancel().unwrap());
    assert!(spawn(folder.path()).wait().unwrap().success());
    let RunState::Finished(record) = folder.state().unwrap() else { panic!("not finished") };
    assert!(record.cancelled && record.exit_code.is_none() && record.spawn_error.is_none());
    assert!(!bed.path("ws/ran").exists());
}

#[test]
fn signals_to_the_launcher_mean_nothing_without_the_word_of_the_daemon() {
    let run = Bed::new("echo $$ >shell; until [ -e go ]; do sleep 0.01; done; echo done").start();
    let (launcher, guard) = (run.launcher(), run.guard.id());
    run.bed.pid("shell");
    for deaf in
        [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::USR1, Signal::PIPE, Signal::ALARM]
    {
        signal(launcher, deaf);
        signal(guard, deaf);
    }
    std::fs::write(run.bed.path("ws/go"), "").unwrap();
    let ended = run.wait();
    assert_eq!((ended.record.exit_code, ended.record.cancelled), (Some(0), false));
    assert_eq!(ended.output, "done\n");
}

#[test]
fn a_killed_launcher_leaves_nothing_behind_and_says_so() {
    let mut run = Bed::new(&format!("{STUBBORN_DAEMON} echo $$ >shell; echo partial; sleep 300")).start();
    let shell = run.bed.pid("shell");
    until("the output", || (run.folder.output_len().unwrap() == 8).then_some(()));
    signal(run.launcher(), Signal::KILL);
    until("the end", || (run.folder.state().unwrap() == RunState::Vanished).then_some(()));
    assert!(!alive(shell) && !alive(run.bed.pid("top")) && !alive(run.bed.pid("deep")));
    assert_eq!(run.folder.output(100, 100).unwrap().head, b"partial\n");
    assert!(run.folder.wait_fd().unwrap().is_none());
    assert!(!run.folder.cancel().unwrap());
    assert!(!run.guard.wait().unwrap().success());
}

#[test]
fn a_killed_guard_changes_nothing() {
    let mut run =
        Bed::new("echo $$ >shell; until [ -e go ]; do sleep 0.01; done; sleep 300 & exit 3").start();
    run.bed.pid("shell");
    run.guard.kill().unwrap();
    run.guard.wait().unwrap();
    run.launcher();
    std::fs::write(run.bed.path("ws/go"), "").unwrap();
    let record = until("the record", || match run.folder.state().unwrap() {
        RunState::Finished(record) => Some(record),
        _ => None,
    });
    assert_eq!((record.exit_code, record.survivors), (Some(3), 1));
}
