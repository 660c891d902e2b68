//! Structure: every command that bash would run is in the list, or the analysis says that it may not be.

use std::path::Path;

use air_security::{CommandContext, analyse_command};

use crate::fixture::{Facts, ROOT, boundaries, cases};

#[test]
fn no_command_is_hidden() {
    let facts = Facts::project();
    let boundaries = boundaries();
    let context =
        CommandContext { boundaries: &boundaries, cwd: Path::new(ROOT), facts: &facts, secret_env: &[] };
    let mut hidden = Vec::new();
    let all = cases("shell-structure.jsonl");
    let mut opaque = 0;
    for case in &all {
        let analysis = analyse_command(case["text"].as_str().unwrap(), &context);
        opaque += usize::from(analysis.opaque);
        let missing: Vec<&str> = case["executed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .filter(|name| !analysis.commands.iter().any(|found| found == name))
            .collect();
        if !missing.is_empty() && !analysis.opaque {
            hidden.push(format!(
                "{} {} hides {missing:?}, sees {:?}",
                case["id"], case["text"], analysis.commands
            ));
        }
        if case["syntax_ok"] == false && analysis.level < air_contracts::permission::RiskLevel::Unknown {
            hidden.push(format!("{}: a syntax error is not harmless", case["id"]));
        }
    }
    eprintln!("structure: {} cases, {opaque} of them opaque", all.len());
    assert_eq!(hidden, Vec::<String>::new());
}
