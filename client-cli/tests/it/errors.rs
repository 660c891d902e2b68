//! Errors: their form, their place, their exit codes.

use air_contracts::AirError;
use air_contracts::error::codes;
use serde_json::Value;

use crate::air::{Ran, command, run};
use crate::daemon::{Daemon, Reply};

fn failing(code: &'static str) -> Daemon {
    Daemon::start(move |_, _, _| {
        Reply::Error(AirError::new(code, "no task k9 in s3").hint("tasks of s3: k1, k2"))
    })
}

#[test]
fn an_error_of_the_api_is_a_block_on_stderr() {
    let ran = run(&failing(codes::TASK_NOT_FOUND), &["evidence", "k9"]);
    let expected = "\
error: no task k9 in s3                                           task.not_found
  hint    tasks of s3: k1, k2
";
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), ("", expected, Some(1)));
}

#[test]
fn the_code_decides_the_exit_code() {
    for (code, exit) in [
        (codes::BUDGET_REACHED, 5),
        (codes::DAEMON_STOPPING, 4),
        (codes::USAGE_VALUE, 2),
        (codes::INTERNAL, 1),
    ] {
        assert_eq!(run(&failing(code), &["tasks"]).code, Some(exit), "{code}");
    }
}

#[test]
fn with_json_the_error_is_an_object_on_stdout_for_usage_too() {
    let check = |ran: Ran, code: &str, exit: i32| {
        let object: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(object["error"]["code"], code);
        assert_eq!((object["error"]["exit_code"].as_i64(), ran.code), (Some(i64::from(exit)), Some(exit)));
    };
    check(
        run(&failing(codes::TASK_NOT_FOUND), &["evidence", "k9", "--output", "json"]),
        codes::TASK_NOT_FOUND,
        1,
    );
    let home = tempfile::tempdir().unwrap();
    let args = ["approve", "a7", "--scope", "forever", "--output=json"];
    check(command(home.path()).args(args).output().unwrap().into(), codes::USAGE_VALUE, 2);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    let mut child = command(home.path())
        .arg("schema")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)));
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let home = tempfile::tempdir().unwrap();
    let ran: Ran = command(home.path()).args(["-C", "nowhere", "tasks"]).output().unwrap().into();
    assert!(ran.err.contains("/nowhere: No such file") && ran.err.contains("io.not_found"), "{}", ran.err);
    assert_eq!(ran.code, Some(1));
}
