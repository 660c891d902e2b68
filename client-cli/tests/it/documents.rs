//! The committed reference, and the help that lists what there is.

use std::path::Path;

use air_client_cli::{args, help};
use clap::CommandFactory as _;

#[test]
fn the_reference_is_the_one_that_is_committed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let made = help::markdown();
    if std::env::var_os("AIR_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == committed,
        "docs/cli.md is old: AIR_BLESS=1 cargo nextest run -p air-client-cli documents"
    );
}

#[test]
fn the_first_page_lists_every_command_and_no_other() {
    let root = args::Cli::command();
    let visible: Vec<&str> = root
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| command.get_name())
        .collect();
    let from = help::ROOT.find("Work ").unwrap();
    let table = &help::ROOT[from..help::ROOT.find("Examples").unwrap()];
    let words: Vec<&str> = table.split(|c: char| !c.is_ascii_alphabetic()).collect();
    for name in &visible {
        assert!(words.contains(name), "{name} is missing from air --help");
    }
    for listed in
        ["steer", "apply", "discard", "rewind", "fork", "workspaces", "report", "e2e", "release", "memory"]
    {
        assert!(!words.contains(&listed) || visible.contains(&listed), "{listed} is listed and not there");
    }
    assert!(help::ROOT.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn the_arguments_are_consistent() {
    args::Cli::command().debug_assert();
}
