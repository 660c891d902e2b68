//! How many tests ran, read from the summaries that test programs print.

use air_contracts::evidence::TestCounts;

/// The counts of all summaries in an output, added up; `None` where none is known.
pub(super) fn counts(output: &str) -> Option<TestCounts> {
    // One reader must own an output: ctest shows that of gtest below its own.
    let readers: [fn(&str) -> Option<TestCounts>; 8] =
        [ctest, cargo, pytest, unittest, jest, go, meson, gtest];
    readers.iter().find_map(|reader| reader(output)).or_else(|| plain(output))
}

/// The number before a word: `3 passed` gives 3.
fn before(text: &str, word: &str) -> Option<u32> {
    let at = text.find(word)?;
    let head = text.get(..at)?.trim_end();
    let digits = head.len() - head.bytes().rev().take_while(u8::is_ascii_digit).count();
    head.get(digits..)?.parse().ok()
}

fn add(sum: &mut Option<TestCounts>, more: TestCounts) {
    let sum = sum.get_or_insert_default();
    sum.passed += more.passed;
    sum.failed += more.failed;
    sum.skipped += more.skipped;
}

/// `66% tests passed, 1 tests failed out of 3`, with `(Skipped)` and `(Not Run)` in the list below.
fn ctest(output: &str) -> Option<TestCounts> {
    let summary = |line: &&str| line.contains("tests passed,") && line.contains("failed out of");
    let Some(line) = output.lines().rev().find(summary) else {
        // Said with exit code 0: nothing was tested.
        return output.contains("No tests were found!!!").then(TestCounts::default);
    };
    let failed = before(line, " tests failed").or_else(|| before(line, " test failed"))?;
    let total: u32 = line.rsplit("out of").next()?.trim().parse().ok()?;
    let mark = |word: &str| output.lines().filter(|line| line.trim_end().ends_with(word)).count() as u32;
    let skipped = mark("(Skipped)") + mark("(Disabled)");
    // Skipped ones are in the total and count as passed there.
    Some(TestCounts {
        passed: total.saturating_sub(failed + skipped.min(total - failed.min(total))),
        failed,
        skipped,
    })
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; …`, one per test binary.
fn cargo(output: &str) -> Option<TestCounts> {
    let mut sum = None;
    for line in output.lines().filter(|line| line.starts_with("test result:")) {
        let of = |word: &str| before(line, word).unwrap_or(0);
        add(&mut sum, TestCounts { passed: of(" passed"), failed: of(" failed"), skipped: of(" ignored") });
    }
    sum
}

/// `==== 1 failed, 2 passed, 1 skipped in 0.12s ====`, with or without the frame.
fn pytest(output: &str) -> Option<TestCounts> {
    let line = output.lines().rev().map(|line| line.trim_matches(|c| c == '=' || c == ' ')).find(|line| {
        line.contains(" in ")
            && line.ends_with('s')
            && [" passed", " failed", " error"].iter().any(|word| line.contains(word))
            && line.starts_with(|c: char| c.is_ascii_digit())
    })?;
    let of = |word: &str| before(line, word).unwrap_or(0);
    let failed = of(" failed") + of(" error");
    Some(TestCounts {
        passed: of(" passed") + of(" xpassed"),
        failed,
        skipped: of(" skipped") + of(" xfailed") + of(" deselected"),
    })
}

/// `Ran 5 tests in 0.001s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=2)`.
fn unittest(output: &str) -> Option<TestCounts> {
    let mut lines = output.lines().skip_while(|line| !(line.starts_with("Ran ") && line.contains(" test")));
    let ran: u32 = lines.next()?.split_whitespace().nth(1)?.parse().ok()?;
    let verdict = lines.find(|line| line.starts_with("OK") || line.starts_with("FAILED"))?;
    let of = |word: &str| {
        let rest = verdict.split(word).nth(1).unwrap_or_default();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    let failed = of("failures=") + of("errors=");
    let skipped = of("skipped=");
    Some(TestCounts { passed: ran.saturating_sub(failed + skipped), failed, skipped })
}

/// `Tests:       1 failed, 2 passed, 3 total`; vitest leaves the colon out.
fn jest(output: &str) -> Option<TestCounts> {
    let line =
        output.lines().rev().map(str::trim).find(|line| {
            line.starts_with("Tests") && (line.contains(" passed") || line.contains(" failed"))
        })?;
    let of = |word: &str| before(line, word).unwrap_or(0);
    Some(TestCounts { passed: of(" passed"), failed: of(" failed"), skipped: of(" skipped") + of(" todo") })
}

/// `--- PASS: TestA (0.00s)`, else one test for each package line.
fn go(output: &str) -> Option<TestCounts> {
    let of = |mark: &str| output.lines().filter(|line| line.trim_start().starts_with(mark)).count() as u32;
    let tests = TestCounts { passed: of("--- PASS:"), failed: of("--- FAIL:"), skipped: of("--- SKIP:") };
    let package = |line: &str, word: &str| {
        line.strip_prefix(word).is_some_and(|rest| {
            rest.starts_with(['\t', ' ']) && rest.contains('.') || rest.contains("(cached)")
        })
    };
    let packages =
        |word: &str| output.lines().filter(|line| package(line, word) && line.contains('\t')).count() as u32;
    let (ok, bad) = (packages("ok"), packages("FAIL"));
    if ok + bad == 0 {
        return None;
    }
    if tests.ran() > 0 && tests.passed > 0 {
        return Some(tests);
    }
    // Without -v only failures are named, so packages are the unit.
    Some(TestCounts { passed: ok, failed: tests.failed.max(bad), skipped: 0 })
}

/// `Ok:  3` and `Fail:  1`, each on a line.
fn meson(output: &str) -> Option<TestCounts> {
    let of = |mark: &str| {
        output.lines().rev().find_map(|line| line.trim().strip_prefix(mark)?.trim().parse::<u32>().ok())
    };
    let passed = of("Ok:")?;
    let failed = of("Fail:")? + of("Timeout:").unwrap_or(0) + of("Unexpected Pass:").unwrap_or(0);
    Some(TestCounts { passed, failed, skipped: of("Skipped:").unwrap_or(0) })
}

/// `[  PASSED  ] 3 tests.` and `[  FAILED  ] 1 test, listed below:`.
fn gtest(output: &str) -> Option<TestCounts> {
    let mut sum = None;
    for line in output.lines().map(str::trim) {
        let number = |mark: &str, word: &str| before(line.strip_prefix(mark)?, word);
        let one = TestCounts {
            passed: number("[  PASSED  ]", " test").unwrap_or(0),
            failed: number("[  FAILED  ]", " test").filter(|_| line.contains("listed below")).unwrap_or(0),
            skipped: number("[  SKIPPED ]", " test").filter(|_| line.contains("listed below")).unwrap_or(0),
        };
        if one != TestCounts::default() {
            add(&mut sum, one);
        }
    }
    sum
}

/// `12 passed, 1 failed` or `12 passed` as a line of its own, of home-made runners.
fn plain(output: &str) -> Option<TestCounts> {
    let line = output.lines().rev().map(str::trim).find(|line| {
        line.len() < 80
            && (line.contains(" passed") || line.contains(" failed"))
            && line.bytes().any(|b| b.is_ascii_digit())
    })?;
    let of = |word: &str| {
        before(line, word)
            .or_else(|| before(line, &format!(" tests{word}")))
            .or_else(|| before(line, &format!(" checks{word}")))
    };
    let (passed, failed) = (of(" passed"), of(" failed"));
    if passed.is_none() && failed.is_none() {
        return None;
    }
    Some(TestCounts {
        passed: passed.unwrap_or(0),
        failed: failed.unwrap_or(0),
        skipped: before(line, " skipped").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: Option<(u32, u32, u32)>) {
        let found = counts(output).map(|counts| (counts.passed, counts.failed, counts.skipped));
        assert_eq!(found, expected, "{output}");
    }

    #[test]
    fn summaries_of_known_runners_are_read() {
        check(
            "66% tests passed, 1 tests failed out of 3\n\nTotal Test time (real) =   0.02 sec\n",
            Some((2, 1, 0)),
        );
        check(
            "100% tests passed, 0 tests failed out of 4\nThe following tests did not run:\n\t 2 - b (Skipped)\n",
            Some((3, 0, 1)),
        );
        check("Test project /p/build\nNo tests were found!!!\n", Some((0, 0, 0)));
        check("[  PASSED  ] 9 tests.\n100% tests passed, 0 tests failed out of 1\n", Some((1, 0, 0)));
        check(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n",
            Some((4, 2, 1)),
        );
        check("==== 1 failed, 2 passed, 1 skipped in 0.12s ====\n", Some((2, 1, 1)));
        check("3 passed in 0.01s\n", Some((3, 0, 0)));
        check("1 error in 0.05s\n", Some((0, 1, 0)));
        check("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", Some((2, 2, 1)));
        check("Tests:       1 failed, 2 passed, 3 total\n", Some((2, 1, 0)));
        check(
            "[  PASSED  ] 2 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.b\n",
            Some((2, 1, 0)),
        );
        check(
            "--- FAIL: TestA (0.00s)\nFAIL\texample.org/a\t0.1s\nok  \texample.org/b\t0.1s\n",
            Some((1, 1, 0)),
        );
        check(
            "Ok:                 3   \nExpected Fail:      0   \nFail:               1   \nSkipped:            1\n",
            Some((3, 1, 1)),
        );
        check("12 tests passed, 1 failed\n", Some((12, 1, 0)));
        check("built in 3 s\n", None);
    }
}
