//! Commands: level and decision of the default policy.

use std::path::PathBuf;

use air_security::{CommandAnalysis, CommandContext, analyse_command};
use serde_json::Value;

use crate::fixture::{Facts, ROOT, boundaries, cases, decision_holds, ratchet, strictness};

/// How many cases pass; it may only rise.
const AT_LEAST: usize = 226;

fn analyse(case: &Value) -> CommandAnalysis {
    let mut facts = Facts::project();
    facts.apply(&case["fixture"]);
    let boundaries = boundaries();
    let cwd = PathBuf::from(ROOT).join(case["cwd"].as_str().unwrap());
    let secrets = ["ANTHROPIC_API_KEY".to_owned()];
    let context = CommandContext { boundaries: &boundaries, cwd: &cwd, facts: &facts, secret_env: &secrets };
    analyse_command(case["command"].as_str().unwrap(), &context)
}

fn text(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn commands_are_judged_by_their_worst_part() {
    let all = cases("commands.jsonl");
    let mut failures = Vec::new();
    let mut let_through = Vec::new();
    for case in &all {
        let got = analyse(case);
        let (level, decision) = (text(got.level), text(got.decision));
        let expect = &case["expect"];
        let level_holds = expect["level"] == level.as_str()
            || expect["level_ok"].as_array().is_some_and(|ok| ok.iter().any(|also| also == level.as_str()));
        let holds = decision_holds(expect, &decision);
        if !(level_holds && holds) {
            failures.push(format!(
                "{} `{}`: {level}/{decision}, expected {}/{}: {:?}",
                case["id"], case["command"], expect["level"], expect["decision"], got.reasons
            ));
        }
        let must_ask = expect["match"] != "at_most" && strictness(expect["decision"].as_str().unwrap()) >= 2;
        if must_ask && strictness(&decision) < 2 {
            let_through.push(case["id"].to_string());
        }
    }
    ratchet("commands", all.len(), &failures, AT_LEAST);
    assert_eq!(let_through, Vec::<String>::new(), "these run without a question");
}
