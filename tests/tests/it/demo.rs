//! `air demo`: a whole run on a C++ project with a real cmake and ctest.

use std::process::Command;

use crate::env::{TestEnv, ran};

#[test]
fn the_demo_proves_its_change_and_shows_where_everything_is() {
    let env = TestEnv::without_git(&[]);
    let place = env.air_home().join("demo");
    let shown =
        ran(env.command(&["demo", "--dir", place.to_str().unwrap()]).output().unwrap()).expect_code(0);
    for word in ["✓", "3 of 3, before 2 of 3", "src/merge.cpp", "evidence.recorded"] {
        assert!(shown.stdout.contains(word), "{word}: {shown:#?}");
    }
    // The project's own tests pass by hand.
    let project = place.join("slots");
    let build = place.join("by-hand");
    for args in [
        vec!["-S", project.to_str().unwrap(), "-B", build.to_str().unwrap()],
        vec!["--build", build.to_str().unwrap()],
    ] {
        let done = Command::new("cmake").args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    let tested = Command::new("ctest")
        .args(["--test-dir", build.to_str().unwrap(), "--no-tests=error"])
        .output()
        .unwrap();
    assert!(tested.status.success(), "{tested:?}");
}
