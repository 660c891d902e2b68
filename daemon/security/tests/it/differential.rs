//! Against bash itself: mutated texts are run with no program to be found, and each name that bash looks
//! for must be in the list, or the analysis says that it may be incomplete.
//!
//! Slow, and it needs bash: run it for each update of the parser, with `--run-ignored only`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use air_security::{CommandContext, analyse_command};

use crate::fixture::{Facts, ROOT, boundaries, cases};

/// How many texts are run; `AIR_DIFFERENTIAL_RUNS` changes it.
const RUNS: usize = 6_000;

const TOKENS: &[&str] = &[
    "$(rmX)",
    "`rmX`",
    "<(rmX)",
    ">(rmX)",
    "${x:-$(rmX)}",
    "$((1+$(rmX)))",
    "rmX",
    ";rmX;",
    "\n",
    "\\\n",
    "\\",
    " ",
    "\t",
    "#",
    "'",
    "\"",
    "$'",
    "${",
    "}",
    "(",
    ")",
    "((",
    "))",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "{a,",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    ">f",
    "<<E",
    "\nE\n",
    "<<'E'",
    "<<<",
    "!",
    "=",
    "x=",
    "$",
    "~",
    "*",
    "%",
    "if",
    "then",
    "fi",
    "case",
    "in",
    "esac",
    ";;",
    "time",
    "function",
    "coproc",
    "echo",
    "é",
    "@",
    "^",
    ",",
    ":",
    "2>&1",
    "&>",
    ">|",
    "<>",
    "$[",
    "+=",
    "=~",
    "-v",
];

/// xorshift64*, so that a run can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % below.max(1)
    }
}

fn mutate(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.next(3) {
        let at = random.next(chars.len() + 1);
        match random.next(4) {
            0 if at < chars.len() => {
                chars.remove(at);
            }
            1 if at < chars.len() => {
                let end = (at + 1 + random.next(5)).min(chars.len());
                let piece: Vec<char> = chars[at..end].to_vec();
                let to = random.next(chars.len() + 1);
                chars.splice(to..to, piece);
            }
            _ => {
                let token = TOKENS[random.next(TOKENS.len())];
                chars.splice(at..at, token.chars());
            }
        }
    }
    chars.into_iter().collect()
}

/// Texts that could loop, reach a file elsewhere, or disturb the harness are not run.
fn is_runnable(text: &str) -> bool {
    let words = [
        "while",
        "until",
        "for",
        "select",
        "kill",
        "exec",
        "exit",
        "trap",
        "cat(",
        "printf",
        "ulimit",
        "suspend",
        "fc",
        "history",
        "enable",
        "command_not",
        "f(",
        "f (",
        "rmA(",
        "rmX(",
    ];
    !text.contains('/') && !text.contains('\0') && !words.iter().any(|word| text.contains(word))
}

/// The names that bash looked for.
fn run(text: &str, dir: &Path, number: usize) -> Vec<String> {
    // One log for each: what an earlier text left running must not write here.
    let log = dir.join(format!("log{number}"));
    let prelude = format!(
        "command_not_found_handle() {{ builtin printf '%s\\0' \"$1\" >> '{}'; return 0; }}\n{text}\nwait\n",
        log.display()
    );
    let mut child = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &prelude])
        .env_clear()
        // An empty directory: with an empty PATH, bash looks in the current one and asks no handler.
        .env("PATH", dir.join("bin"))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        match child.try_wait().unwrap() {
            Some(_) => break,
            None if Instant::now() > deadline => {
                child.kill().unwrap();
                child.wait().unwrap();
                break;
            }
            None => std::thread::yield_now(),
        }
    }
    let logged = std::fs::read(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    String::from_utf8_lossy(&logged).split_terminator('\0').map(str::to_owned).collect()
}

#[test]
#[ignore = "runs bash thousands of times"]
fn bash_runs_nothing_that_is_not_seen() {
    let seeds: Vec<String> =
        cases("shell-structure.jsonl").iter().map(|case| case["text"].as_str().unwrap().to_owned()).collect();
    let runs = std::env::var("AIR_DIFFERENTIAL_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(RUNS);
    let seed =
        std::env::var("AIR_DIFFERENTIAL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(88_172_645);
    let mut random = Random(seed);
    let scratch = std::env::temp_dir().join(format!("air-differential-{}", std::process::id()));
    std::fs::create_dir_all(scratch.join("bin")).unwrap();
    assert_eq!(run("echo $(rmX)", &scratch, 0), ["rmX"], "the harness sees what runs");
    let facts = Facts::project();
    let boundaries = boundaries();
    let context =
        CommandContext { boundaries: &boundaries, cwd: Path::new(ROOT), facts: &facts, secret_env: &[] };
    let (mut hidden, mut clear, mut done) = (Vec::new(), 0, 0);
    while done < runs {
        let text = mutate(&seeds[random.next(seeds.len())], &mut random);
        if !is_runnable(&text) {
            continue;
        }
        done += 1;
        let analysis = analyse_command(&text, &context);
        if analysis.opaque {
            continue;
        }
        clear += 1;
        let missing: Vec<String> =
            run(&text, &scratch, done).into_iter().filter(|name| !analysis.commands.contains(name)).collect();
        if !missing.is_empty() {
            hidden.push(format!("{text:?} runs {missing:?}, seen {:?}", analysis.commands));
        }
    }
    std::fs::remove_dir_all(&scratch).unwrap();
    eprintln!("{clear} of {runs} texts were taken as understood");
    assert!(hidden.is_empty(), "{} hidden:\n{}", hidden.len(), hidden.join("\n"));
}
