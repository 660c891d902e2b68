//! The built-in prompts. L0 is not to be overridden by anything.

use air_contracts::task::AgentRole;

pub(crate) const RUNTIME: &str = include_str!("../resources/prompts/runtime-invariant.md");
pub(crate) const WORK: &str = include_str!("../resources/prompts/work-invariant.md");
pub(crate) const PERMISSIONS: &str = include_str!("../resources/prompts/permissions.md");

/// L1 of a role; `None` for those that have no prompt in this build.
pub(crate) const fn role(role: AgentRole) -> Option<&'static str> {
    match role {
        AgentRole::Main => Some(include_str!("../resources/prompts/roles/main.md")),
        AgentRole::Executor => Some(include_str!("../resources/prompts/roles/executor.md")),
        AgentRole::Reviewer => Some(include_str!("../resources/prompts/roles/reviewer.md")),
        AgentRole::Debugger => Some(include_str!("../resources/prompts/roles/debugger.md")),
        AgentRole::ArchitectureDesigner
        | AgentRole::Scheduler
        | AgentRole::Compactor
        | AgentRole::ExperienceMiner
        | AgentRole::Runtime => None,
    }
}

/// Whether the role changes files, and so is given the work part of L0 and the policy summary.
pub(crate) const fn works(role: AgentRole) -> bool {
    matches!(role, AgentRole::Executor | AgentRole::Debugger)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [(AgentRole, usize); 4] = [
        (AgentRole::Main, 1_000),
        (AgentRole::Executor, 1_300),
        (AgentRole::Reviewer, 1_500),
        (AgentRole::Debugger, 1_300),
    ];

    fn all() -> Vec<(&'static str, &'static str)> {
        let mut all = vec![("runtime", RUNTIME), ("work", WORK), ("permissions", PERMISSIONS)];
        all.extend(ROLES.iter().map(|(name, _)| (role_name(*name), role(*name).unwrap())));
        all
    }

    fn role_name(role: AgentRole) -> &'static str {
        match role {
            AgentRole::Main => "main",
            AgentRole::Executor => "executor",
            AgentRole::Reviewer => "reviewer",
            _ => "debugger",
        }
    }

    #[test]
    fn prompts_stay_within_their_budgets() {
        assert!(RUNTIME.len() <= 800 && WORK.len() <= 700 && PERMISSIONS.len() <= 500);
        for (name, budget) in ROLES {
            assert!(role(name).unwrap().len() <= budget, "{name:?}");
        }
    }

    /// Sentences that ask for something: those that begin with a verb, or hold a negation.
    #[test]
    fn a_role_is_given_few_rules() {
        for (name, _) in ROLES {
            let mut text = RUNTIME.to_owned();
            if works(name) {
                text.push_str(WORK);
            }
            text.push_str(role(name).unwrap());
            let rules = text
                .lines()
                .filter(|line| line.starts_with('-') || line.starts_with(|c: char| c.is_ascii_digit()))
                .count();
            assert!(rules <= 25, "{name:?} has {rules}");
        }
    }

    #[test]
    fn prompts_do_not_shout_praise_or_date() {
        let banned = [
            "MUST",
            "NEVER",
            "ALWAYS",
            "CRITICAL",
            "IMPORTANT",
            "only way",
            "as many as possible",
            "world-class",
            "expert",
            "step by step",
            "please",
        ];
        for (name, text) in all() {
            for word in banned {
                assert!(!text.contains(word), "{name}: {word}");
            }
            let shouted = text
                .split(|c: char| !c.is_alphabetic())
                .find(|word| word.len() >= 3 && word.chars().all(char::is_uppercase));
            assert_eq!(shouted, None, "{name}");
            assert!(!text.contains("/home") && !text.contains("202"), "{name} holds something that changes");
        }
    }

    /// The same rule in two places is one too many.
    #[test]
    fn no_rule_is_given_twice() {
        let shingles = |text: &str| -> Vec<String> {
            let words: Vec<String> = text.split_whitespace().map(|word| word.to_lowercase()).collect();
            words.windows(6).map(|window| window.join(" ")).collect()
        };
        let texts = all();
        for (index, (name, text)) in texts.iter().enumerate() {
            for (other, other_text) in &texts[index + 1..] {
                let theirs = shingles(other_text);
                let twice = shingles(text).into_iter().find(|shingle| theirs.contains(shingle));
                assert_eq!(twice, None, "{name} and {other}");
            }
        }
    }
}
