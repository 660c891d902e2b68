//! What failed, as keys that are equal from run to run: failing tests, else first lines of errors.

use std::collections::BTreeSet;
use std::path::Path;

const MOST: usize = 50;

/// Names of failing tests; where there are none, the error lines without places and numbers.
pub(super) fn instances(output: &str, root: &Path, build_dir: &Path) -> Vec<String> {
    let tests: BTreeSet<String> = output.lines().filter_map(failed_test).collect();
    if !tests.is_empty() {
        return tests.into_iter().take(MOST).collect();
    }
    let errors: BTreeSet<String> =
        output.lines().filter(|line| is_error(line)).map(|line| normalised(line, root, build_dir)).collect();
    if !errors.is_empty() {
        return errors.into_iter().take(MOST).collect();
    }
    let last = output.lines().rev().find(|line| !line.trim().is_empty());
    last.map(|line| normalised(line, root, build_dir)).into_iter().collect()
}

/// The test that a line says has failed.
fn failed_test(line: &str) -> Option<String> {
    let line = line.trim();
    let name = |text: &str| {
        let text = text.split_whitespace().next()?;
        (!text.is_empty()).then(|| text.trim_end_matches(',').to_owned())
    };
    // ctest: `2 - parser.number (Failed)`
    if let Some((head, tail)) = line.rsplit_once(" (")
        && [
            "Failed)",
            "Timeout)",
            "SEGFAULT)",
            "Subprocess aborted)",
            "ILLEGAL)",
            "Exception)",
            "Not Run)",
            "NUMERICAL)",
        ]
        .iter()
        .any(|word| tail.ends_with(word))
        && let Some((number, test)) = head.split_once(" - ")
        && number.trim().parse::<u32>().is_ok()
    {
        return Some(test.trim().to_owned());
    }
    // cargo: `test a::b ... FAILED`
    if let Some(test) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
        return Some(test.to_owned());
    }
    // pytest: `FAILED tests/test_a.py::test_b - assert …`
    if let Some(rest) = line
        .strip_prefix("FAILED ")
        .or_else(|| line.strip_prefix("ERROR "))
        .filter(|rest| rest.contains("::") || rest.contains(".py"))
    {
        return name(rest);
    }
    // unittest: `FAIL: test_a (tests.test_a.A)`
    if let Some(rest) = line
        .strip_prefix("FAIL: ")
        .or_else(|| line.strip_prefix("ERROR: ").filter(|rest| rest.starts_with("test")))
    {
        return name(rest);
    }
    // go: `--- FAIL: TestA (0.00s)`
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return name(rest);
    }
    // gtest: `[  FAILED  ] Suite.Name (3 ms)`; the summary line counts tests instead.
    let rest =
        line.strip_prefix("[  FAILED  ] ").filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))?;
    name(rest)
}

fn is_error(line: &str) -> bool {
    let line = line.trim_start();
    [
        "error:",
        "Error:",
        "error[",
        "CMake Error",
        "undefined reference",
        "fatal error",
        "FAIL",
        "not ok",
        "Assertion",
        "assertion",
        "Traceback",
        "panicked at",
        "AddressSanitizer",
        "runtime error",
    ]
    .iter()
    .any(|mark| line.contains(mark))
}

/// A line without what changes from run to run: places, numbers, addresses.
fn normalised(line: &str, root: &Path, build_dir: &Path) -> String {
    let mut text = line.trim().to_owned();
    for (path, name) in [(build_dir, "<build>"), (root, "")] {
        let path = path.to_string_lossy();
        if path.len() > 1 {
            text = text
                .replace(&format!("{path}/"), if name.is_empty() { "" } else { "<build>/" })
                .replace(path.as_ref(), name);
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut digits = false;
    for c in text.chars().take(300) {
        if c.is_ascii_digit() {
            if !digits {
                out.push('#');
            }
            digits = true;
        } else {
            digits = false;
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &[&str]) {
        assert_eq!(instances(output, Path::new("/w"), Path::new("/c/b")), expected, "{output}");
    }

    #[test]
    fn failing_tests_are_named() {
        check(
            "The following tests FAILED:\n\t  2 - parser.number (Failed)\n\t 3 - calc (SEGFAULT)\n",
            &["calc", "parser.number"],
        );
        check("test a::b ... FAILED\ntest c ... ok\n", &["a::b"]);
        check("FAILED tests/test_a.py::test_b - assert 1 == 2\n", &["tests/test_a.py::test_b"]);
        check("FAIL: test_a (tests.test_a.A.test_a)\n", &["test_a"]);
        check("--- FAIL: TestA (0.00s)\n", &["TestA"]);
        check("[  FAILED  ] A.b (1 ms)\n[  FAILED  ] 1 test, listed below:\n", &["A.b"]);
    }

    #[test]
    fn errors_are_equal_from_run_to_run() {
        check("/w/src/a.cpp:12:3: error: no x\n", &["src/a.cpp:#:#: error: no x"]);
        check("/w/src/a.cpp:14:3: error: no x\n", &["src/a.cpp:#:#: error: no x"]);
        check("oops\n", &["oops"]);
    }
}
