//! What holds for every text.

use std::path::Path;

use air_contracts::permission::{Decision, RiskLevel};
use air_security::{CommandAnalysis, CommandContext, PathOp, Redactor, analyse_command, classify_path};
use proptest::prelude::*;

use crate::fixture::{Facts, ROOT, boundaries};

fn analyse(command: &str) -> CommandAnalysis {
    let facts = Facts::project();
    let boundaries = boundaries();
    let context =
        CommandContext { boundaries: &boundaries, cwd: Path::new(ROOT), facts: &facts, secret_env: &[] };
    analyse_command(command, &context)
}

/// Pieces that lines are made of.
const PARTS: &[&str] = &[
    "ls",
    "rm -rf build",
    "rm -rf src",
    "cat .env",
    "cd src",
    "cd ..",
    "echo \"$x\"",
    "x=1",
    "git status",
    "make",
    "curl x",
    "foo",
    "for i in a b; do ls; done",
    "if true; then pwd; fi",
    "(cd src && ls)",
    "echo $(pwd)",
    "cat <<'E'\nx\nE\n",
    "[[ -f x ]]",
    "sed -i s/a/b/ src/main.cpp",
    "true > build/x",
    "f() { ls; }",
    "exit 1",
    "set -e",
    "export A=b",
    "rm -rf ~",
    "unset x",
];

fn part() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(PARTS)
}

/// Text with much syntax in it.
fn syntax() -> impl Strategy<Value = String> {
    let token = proptest::sample::select(vec![
        "$(", ")", "`", "\"", "'", "$'", "${", "}", "((", "))", "$((", "[[", "]]", "<<E", "\nE\n", "<(", ">",
        ">>", "2>&1", "|", "||", "&&", "&", ";", ";;", "\n", "\\\n", "\\", " ", "#", "{", "a", "rm", "-rf",
        "~", "*", "?", "[", "=", "x=", "if", "then", "fi", "do", "done", "case", "esac", "in", "for", "!",
        "time", "function", "é", "\u{a0}", "$x", "$#", "$$", "eval", "sh -c",
    ]);
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}") {
        analyse(&text);
    }

    #[test]
    fn no_syntax_makes_it_panic(text in syntax()) {
        analyse(&text);
    }

    /// Another command behind a line never makes the whole milder than the line, nor than the command
    /// where that is refused wherever it stands.
    #[test]
    fn a_further_part_never_lowers_the_risk(first in part(), second in part()) {
        let alone = analyse(first);
        let both = analyse(&format!("{first}; {second}"));
        prop_assert!(both.level >= alone.level && both.decision >= alone.decision, "{first}; {second}");
    }

    #[test]
    fn a_wrapped_part_is_as_risky(inner in part()) {
        let alone = analyse(inner);
        for line in [format!("( {inner}\n)"), format!("{{ {inner}\n}}"), format!("if true; then {inner}\nfi"), format!("true && {{ {inner}\n}}"), format!("echo $({inner}\n)")] {
            let wrapped = analyse(&line);
            prop_assert!(wrapped.level >= alone.level && wrapped.decision >= alone.decision, "{line}");
        }
    }

    #[test]
    fn any_path_gets_an_answer(text in "\\PC{0,60}") {
        for op in [PathOp::Read, PathOp::Write, PathOp::Delete] {
            let verdict = classify_path(Path::new(&text), op, &boundaries(), &Facts::project());
            // Nothing outside the workspace and the temporary files is written silently.
            if op != PathOp::Read && verdict.decision < Decision::Ask {
                let inside = verdict.resolved.starts_with(ROOT) || verdict.resolved.starts_with("/tmp");
                prop_assert!(inside, "{text:?} leads to {}", verdict.resolved.display());
            }
        }
    }

    #[test]
    fn a_known_value_never_stays(before in "\\PC{0,30}", after in "\\PC{0,30}") {
        let redactor = Redactor::new(["s3cr3t-value-of-a-key"]);
        let text = format!("{before}s3cr3t-value-of-a-key{after}");
        prop_assert!(!redactor.redact(&text).contains("s3cr3t-value-of-a-key"));
    }
}

#[test]
fn long_and_deep_texts_are_answered() {
    for text in [
        "(".repeat(50_000),
        "\"$(echo ".repeat(6_000),
        "${x:-".repeat(10_000),
        "true; ".repeat(10_000),
        "{a,".repeat(2_000),
        format!("echo {}", "x ".repeat(30_000)),
        format!("ls {}", "| cat ".repeat(3_000)),
        "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}".to_owned(),
    ] {
        let analysis = analyse(&text);
        let harmless = text.starts_with("echo ");
        assert!(harmless || analysis.level >= RiskLevel::Unknown, "{} bytes of {:?}", text.len(), &text[..8]);
    }
}
