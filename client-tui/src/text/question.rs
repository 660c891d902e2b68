//! A question to the person: the block, the letters that answer it.

use air_contracts::Timestamp;
use air_contracts::approval::ApprovalSubject;
use air_contracts::permission::{Effect, EffectKind, GrantScope, ScopeOffer};
use air_contracts::projection::ApprovalView;
use serde_json::Value;

use super::amounts::clock;
use super::block::labelled;
use super::escape::{visible_block, visible_line};
use super::layout::spread;
use super::style::{Mark, Pen};

/// What a person chose. Letters never change their meaning; digits have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// `y`, `s`, `p`.
    Allow(GrantScope),
    /// `n`.
    Deny,
    /// `w`: a reason is asked for next.
    DenyWhy,
    /// `v`: show everything.
    View,
    /// The answer to a question of the model.
    Answer(String),
}

/// The block, without the line of letters. `now` is for the time that it waits.
pub fn block(approval: &ApprovalView, now: Timestamp, pen: Pen, width: usize) -> Vec<String> {
    let waited = format!("waiting {}", clock(now.millis_since(approval.asked_at)));
    let head = |text: &str| {
        let left = format!("{} {text}", approval.short);
        format!(
            "{} {}",
            pen.mark(Mark::Waiting),
            spread(&left, &waited, width.saturating_sub(2), pen.ellipsis())
        )
    };
    match &approval.subject {
        ApprovalSubject::ToolCall { tool, input, effects, reason, scopes } => {
            let mut lines = vec![head(&format!(" {tool} wants to {}", wish(effects)))];
            lines.extend(visible_block(&object(input)).lines().map(|line| format!("      {line}")));
            let mut row = |label: &str, text: &str| lines.extend(labelled(6, label, 17, text, width));
            row("why", &visible_line(reason));
            if !effects.is_empty() {
                let parts: Vec<String> = effects.iter().map(effect).collect();
                row("effects", &parts.join(pen.dot()));
            }
            for offer in scopes {
                row(super::words::scope(offer.scope), &visible_line(&offer.covers));
            }
            row("elsewhere", &elsewhere(approval, scopes, pen));
            lines
        }
        ApprovalSubject::Question { text, options, .. } => {
            let mut lines = vec![head(" asks")];
            lines.extend(visible_block(text).lines().map(|line| format!("      {line}")));
            for (letter, option) in ('a'..='z').zip(options) {
                lines.push(format!("      {letter}  {}", visible_line(option)));
            }
            lines.extend(labelled(
                6,
                "elsewhere",
                17,
                &format!("air answer {} \"{}\"", approval.short, pen.ellipsis()),
                width,
            ));
            lines
        }
    }
}

/// The line of letters under the block.
pub fn menu(approval: &ApprovalView, pen: Pen) -> String {
    match &approval.subject {
        ApprovalSubject::ToolCall { scopes, .. } => {
            let mut parts = Vec::new();
            for offer in offered(scopes) {
                parts.push(match offer {
                    GrantScope::Once => "y once".to_owned(),
                    GrantScope::Session => "s session".to_owned(),
                    GrantScope::Project if sandboxed(scopes) => "p sandboxed: always here".to_owned(),
                    GrantScope::Project => "p project".to_owned(),
                });
            }
            parts.extend(["n deny", "w deny and say why", "v view"].map(str::to_owned));
            parts.join(pen.dot())
        }
        ApprovalSubject::Question { options, free_text, .. } => match (options.is_empty(), free_text) {
            (true, _) => "type the answer, then Enter".to_owned(),
            (false, true) => "a letter, or an answer of your own, then Enter".to_owned(),
            (false, false) => "a letter, then Enter".to_owned(),
        },
    }
}

/// What a typed line means; `None` where it means nothing, an empty line included.
pub fn choice(approval: &ApprovalView, line: &str) -> Option<Choice> {
    let line = line.trim();
    match &approval.subject {
        ApprovalSubject::ToolCall { scopes, .. } => {
            let allow = |scope| offered(scopes).contains(&scope).then_some(Choice::Allow(scope));
            match line {
                "y" => allow(GrantScope::Once),
                "s" => allow(GrantScope::Session),
                "p" => allow(GrantScope::Project),
                "n" => Some(Choice::Deny),
                "w" => Some(Choice::DenyWhy),
                "v" => Some(Choice::View),
                _ => None,
            }
        }
        ApprovalSubject::Question { options, free_text, .. } => {
            let lettered = ('a'..='z').zip(options).find(|(letter, _)| line == letter.to_string());
            let exact = options.iter().find(|option| option.as_str() == line);
            match (lettered, exact) {
                (Some((_, option)), _) | (None, Some(option)) => Some(Choice::Answer(option.clone())),
                (None, None) if !line.is_empty() && (*free_text || options.is_empty()) => {
                    Some(Choice::Answer(line.to_owned()))
                }
                (None, None) => None,
            }
        }
    }
}

/// One line for lists: `network: curl example.org:443`.
pub fn one_line(approval: &ApprovalView) -> String {
    match &approval.subject {
        ApprovalSubject::ToolCall { effects, input, .. } => {
            let object = visible_line(&object(input));
            format!("{}: {object}", wish(effects))
        }
        ApprovalSubject::Question { text, .. } => visible_line(text),
    }
}

/// Everything about it, for `v`.
pub fn whole(approval: &ApprovalView) -> String {
    let json = serde_json::to_string_pretty(&approval.subject).unwrap_or_default();
    visible_block(&json)
}

/// Once is always possible; wider scopes only where they are offered.
pub(crate) fn offered(scopes: &[ScopeOffer]) -> Vec<GrantScope> {
    let mut all = vec![GrantScope::Once];
    all.extend(scopes.iter().map(|offer| offer.scope));
    all.sort_unstable();
    all.dedup();
    all
}

pub(crate) fn sandboxed(scopes: &[ScopeOffer]) -> bool {
    scopes.iter().any(|offer| offer.scope == GrantScope::Project && offer.covers.starts_with("sandboxed"))
}

fn elsewhere(approval: &ApprovalView, scopes: &[ScopeOffer], pen: Pen) -> String {
    let wider = offered(scopes).into_iter().rfind(|scope| *scope != GrantScope::Once);
    let scope = if wider.is_some() { " [--scope session]" } else { "" };
    let (id, dot, cut) = (approval.short, pen.dot(), pen.ellipsis());
    format!("air approve {id}{scope}{dot}air deny {id} --note \"{cut}\"")
}

/// The command of a call, else its path, else its input as JSON.
pub(crate) fn object(input: &Value) -> String {
    for key in ["command", "path", "file_path", "url"] {
        if let Some(text) = input.get(key).and_then(Value::as_str) {
            return text.to_owned();
        }
    }
    input.to_string()
}

pub(crate) fn wish(effects: &[Effect]) -> &'static str {
    let has = |kind| effects.iter().any(|effect| effect.kind == kind);
    let wishes = [
        (EffectKind::Network, "reach the network"),
        (EffectKind::Delete, "delete"),
        (EffectKind::Chmod, "change permissions"),
        (EffectKind::Vcs, "change the repository"),
        (EffectKind::Signal, "signal a process"),
        (EffectKind::Unknown, "run what cannot be analysed"),
        (EffectKind::Write, "write"),
        (EffectKind::Env, "read the environment"),
        (EffectKind::Exec, "run a program"),
        (EffectKind::Build, "build"),
        (EffectKind::Read, "read"),
    ];
    wishes.into_iter().find(|(kind, _)| has(*kind)).map_or("run", |(_, wish)| wish)
}

fn effect(effect: &Effect) -> String {
    let verb = match effect.kind {
        EffectKind::Read => "reads",
        EffectKind::Write => "writes",
        EffectKind::Delete => "deletes",
        EffectKind::Chmod => "changes permissions of",
        EffectKind::Network => "network",
        EffectKind::Exec => "runs",
        EffectKind::Env => "environment",
        EffectKind::Signal => "signals",
        EffectKind::Vcs => "repository",
        EffectKind::Build => "builds",
        EffectKind::Unknown => "unknown",
    };
    format!("{verb} {}", visible_line(&effect.target)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> ApprovalView {
        serde_json::from_value(serde_json::json!({
            "id": "approval_00000000-0000-0000-0000-000000000007", "ref": "a7",
            "session_id": "session_00000000-0000-0000-0000-000000000002", "session": "s2",
            "turn_id": "turn_00000000-0000-0000-0000-000000000003", "task": "k2", "state": "open",
            "asked_at": "2026-11-30T20:00:00.000Z", "answer": null,
            "subject": { "kind": "tool_call", "tool": "shell.run",
                "input": { "command": "curl -fsSLO https://example.org/eigen-3.4.0.tar.gz" },
                "effects": [{ "kind": "network", "target": "example.org:443" },
                            { "kind": "write", "target": "./eigen-3.4.0.tar.gz" }],
                "reason": "k2 needs Eigen headers; none found by CMake",
                "scopes": [{ "scope": "once", "covers": "this command, byte for byte", "key": "" },
                           { "scope": "session", "covers": "curl to example.org:443, files written inside the project", "key": "k" }] },
        }))
        .unwrap()
    }

    #[test]
    fn the_block_says_object_reason_effects_and_scopes() {
        let now = "2026-11-30T20:00:00.000Z".parse().unwrap();
        let lines = block(&call(), now, Pen::default(), 75);
        let expected = [
            "? a7  shell.run wants to reach the network                     waiting 0:00",
            "      curl -fsSLO https://example.org/eigen-3.4.0.tar.gz",
            "      why        k2 needs Eigen headers; none found by CMake",
            "      effects    network example.org:443 · writes ./eigen-3.4.0.tar.gz",
            "      once       this command, byte for byte",
            "      session    curl to example.org:443, files written inside the project",
            "      elsewhere  air approve a7 [--scope session] · air deny a7 --note \"…\"",
        ];
        assert_eq!(lines, expected);
        assert_eq!(
            menu(&call(), Pen::default()),
            "y once · s session · n deny · w deny and say why · v view"
        );
    }

    #[test]
    fn only_letters_that_are_offered_mean_something() {
        let check =
            |line: &str, expected: Option<Choice>| assert_eq!(choice(&call(), line), expected, "{line:?}");
        check("y\n", Some(Choice::Allow(GrantScope::Once)));
        check(" s ", Some(Choice::Allow(GrantScope::Session)));
        check("p", None);
        check("n", Some(Choice::Deny));
        for nothing in ["", "\n", "1", "yes", "yy", "Y"] {
            check(nothing, None);
        }
    }

    #[test]
    fn a_question_takes_a_letter_or_free_text_where_it_is_allowed() {
        let mut view = call();
        let options = vec!["keep it".to_owned(), "drop it".to_owned()];
        view.subject =
            ApprovalSubject::Question { text: "Which?".into(), options: options.clone(), free_text: false };
        assert_eq!(choice(&view, "b"), Some(Choice::Answer("drop it".into())));
        assert_eq!(choice(&view, "keep it"), Some(Choice::Answer("keep it".into())));
        assert_eq!(choice(&view, "neither"), None);
        view.subject = ApprovalSubject::Question { text: "Which?".into(), options, free_text: true };
        assert_eq!(choice(&view, "neither"), Some(Choice::Answer("neither".into())));
        assert_eq!(choice(&view, ""), None);
    }
}
