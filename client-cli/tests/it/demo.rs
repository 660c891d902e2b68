//! What the demo needs and refuses. Its whole run is an end-to-end test.

use crate::air::{Ran, command};

#[test]
fn a_missing_compiler_is_named_before_anything_is_made() {
    let home = tempfile::tempdir().unwrap();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["git", "cmake", "ctest", "make"] {
        std::os::unix::fs::symlink("/bin/true", bin.join(program)).unwrap();
    }
    let made = home.path().join("demo");
    let ran: Ran =
        command(home.path()).env("PATH", &bin).args(["demo", "--dir"]).arg(&made).output().unwrap().into();
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("lacks: a C++ compiler") && ran.err.contains("demo.missing_program"),
        "{}",
        ran.err
    );
    assert!(!made.exists());
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("mine.txt"), "mine").unwrap();
    let ran: Ran = command(home.path()).args(["demo", "--dir", "."]).output().unwrap().into();
    assert!(ran.err.contains("is not empty"), "{}", ran.err);
    assert_eq!(ran.code, Some(2));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
}
