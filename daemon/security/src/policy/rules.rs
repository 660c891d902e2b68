//! The merged rules, and decisions by them.

use air_contracts::permission::{
    Decision, Effect, EffectKind, GrantScope, PermissionDecision, RiskLevel, ScopeOffer,
};
use globset::{GlobBuilder, GlobMatcher};

use super::file::{CommandRule, HostRule, PathRule, PermissionsFile, RuleOp};
use crate::analysis::CommandAnalysis;
use crate::path::{PathOp, PathVerdict};

/// Rules of the user, and of the project.
///
/// The user's own rules may loosen what would be asked; they never loosen what is refused. Rules of the
/// project only tighten.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    global: PermissionsFile,
    project: PermissionsFile,
}

impl Policy {
    /// The rules of both files. `project` may only tighten: what it would loosen has no effect.
    pub fn merge(global: PermissionsFile, project: PermissionsFile) -> Self {
        Self { global, project }
    }

    /// The decision about a command, with what a yes may cover.
    pub fn decide_command(&self, analysis: &CommandAnalysis) -> PermissionDecision {
        let mut decision = analysis.decision;
        let mut reason = analysis.reasons.first().cloned().unwrap_or_else(|| "only reads".to_owned());
        if decision == Decision::Ask
            && let Some((rule, why)) = self.loosened(analysis)
        {
            decision = rule;
            reason = why;
        }
        for (rule, why) in self.tightening(analysis) {
            if rule > decision {
                decision = rule;
                reason = why;
            }
        }
        let scopes = if decision == Decision::Ask { command_scopes(analysis) } else { Vec::new() };
        PermissionDecision {
            decision,
            level: analysis.level,
            reason,
            effects: analysis.effects.clone(),
            scopes,
            granted_by: None,
        }
    }

    /// The user's rule that covers everything that would be asked about.
    fn loosened(&self, analysis: &CommandAnalysis) -> Option<(Decision, String)> {
        if let Some(key) = analysis.grant_key.as_deref().and_then(|key| key.strip_prefix("command:")) {
            let decisions: Option<Vec<Decision>> = key
                .lines()
                .map(|line| loosest(&self.global.commands, |rule| starts_with_words(line, &rule.pattern)))
                .collect();
            if let Some(found) = decisions.and_then(|found| found.into_iter().max()) {
                return Some((found, "allowed by a command rule of the user".to_owned()));
            }
        }
        if analysis.level != RiskLevel::Network {
            return None;
        }
        let hosts: Vec<&str> = network_targets(analysis).filter(|target| target.contains('.')).collect();
        let decisions: Option<Vec<Decision>> =
            hosts.iter().map(|host| loosest_host(&self.global.network, host)).collect();
        let found = decisions.filter(|found| !found.is_empty())?.into_iter().max()?;
        Some((found, "allowed by a network rule of the user".to_owned()))
    }

    /// Every rule that applies to some part of the command.
    fn tightening<'a>(
        &'a self,
        analysis: &'a CommandAnalysis,
    ) -> impl Iterator<Item = (Decision, String)> + 'a {
        let key =
            analysis.grant_key.as_deref().and_then(|key| key.strip_prefix("command:")).unwrap_or_default();
        let commands = self.global.commands.iter().chain(&self.project.commands).filter(move |rule| {
            analysis.commands.iter().any(|name| starts_with_words(base_name(name), &rule.pattern))
                || key.lines().any(|line| starts_with_words(line, &rule.pattern))
        });
        let hosts = self
            .global
            .network
            .iter()
            .chain(&self.project.network)
            .filter(move |rule| network_targets(analysis).any(|target| host_matches(&rule.host, target)));
        let paths = self.global.paths.iter().chain(&self.project.paths).filter(move |rule| {
            analysis.effects.iter().any(|effect| {
                effect_op(effect.kind).is_some_and(|op| rule_has(rule, op))
                    && path_matches(&rule.pattern, &effect.target)
            })
        });
        commands
            .map(|rule| (rule.decision, format!("the rule for `{}`", rule.pattern)))
            .chain(hosts.map(|rule| (rule.decision, format!("the rule for {}", rule.host))))
            .chain(paths.map(|rule| (rule.decision, format!("the rule for {}", rule.pattern))))
    }

    /// The decision about a path.
    pub fn decide_path(&self, verdict: &PathVerdict, op: PathOp) -> PermissionDecision {
        let target = verdict.resolved.to_string_lossy().into_owned();
        let mut decision = verdict.decision;
        let mut reason = verdict.reason.clone();
        let rule_op = match op {
            PathOp::Read => RuleOp::Read,
            PathOp::Write => RuleOp::Write,
            PathOp::Delete => RuleOp::Delete,
        };
        let applies = |rule: &&PathRule| rule_has(rule, rule_op) && path_matches(&rule.pattern, &target);
        if decision == Decision::Ask
            && let Some(rule) = self.global.paths.iter().filter(applies).min_by_key(|rule| rule.decision)
        {
            decision = decision.min(rule.decision);
            reason = format!("the rule for {}", rule.pattern);
        }
        for rule in self.global.paths.iter().chain(&self.project.paths).filter(applies) {
            if rule.decision > decision {
                decision = rule.decision;
                reason = format!("the rule for {}", rule.pattern);
            }
        }
        let kind = match op {
            PathOp::Read => EffectKind::Read,
            PathOp::Write => EffectKind::Write,
            PathOp::Delete => EffectKind::Delete,
        };
        let scopes = if decision == Decision::Ask { path_scopes(verdict, kind, &target) } else { Vec::new() };
        PermissionDecision {
            decision,
            level: verdict.level,
            reason,
            effects: vec![Effect { kind, target }],
            scopes,
            granted_by: None,
        }
    }
}

/// Secrets and losses are answered one at a time; what reaches the system not beyond the session.
fn widest(level: RiskLevel) -> GrantScope {
    match level {
        RiskLevel::Credential | RiskLevel::Destructive => GrantScope::Once,
        RiskLevel::SystemSensitive => GrantScope::Session,
        _ => GrantScope::Project,
    }
}

fn command_scopes(analysis: &CommandAnalysis) -> Vec<ScopeOffer> {
    let once = ScopeOffer {
        scope: GrantScope::Once,
        covers: "this call, as it is written".to_owned(),
        key: analysis.grant_key.clone().unwrap_or_default(),
    };
    let mut offers = vec![once];
    if let (Some(key), Some(covers)) = (&analysis.grant_key, &analysis.grant_covers) {
        offers.extend(wider(analysis.level, key, &format!("`{covers}`")));
    }
    offers
}

fn path_scopes(verdict: &PathVerdict, kind: EffectKind, target: &str) -> Vec<ScopeOffer> {
    let verb = match kind {
        EffectKind::Read => "read",
        EffectKind::Write => "write",
        _ => "delete",
    };
    let key = format!("path:{verb}:{target}");
    let once = ScopeOffer { scope: GrantScope::Once, covers: "this call".to_owned(), key: key.clone() };
    let mut offers = vec![once];
    offers.extend(wider(verdict.level, &key, &format!("{verb} {target}")));
    offers
}

fn wider(level: RiskLevel, key: &str, what: &str) -> Vec<ScopeOffer> {
    let offer =
        |scope, until: &str| ScopeOffer { scope, covers: format!("{what}, {until}"), key: key.to_owned() };
    match widest(level) {
        GrantScope::Once => Vec::new(),
        GrantScope::Session => vec![offer(GrantScope::Session, "until the session ends")],
        GrantScope::Project => vec![
            offer(GrantScope::Session, "until the session ends"),
            offer(GrantScope::Project, "always in this project"),
        ],
    }
}

/// The mildest matching rule that lets something run.
fn loosest(rules: &[CommandRule], applies: impl Fn(&CommandRule) -> bool) -> Option<Decision> {
    rules
        .iter()
        .filter(|rule| applies(rule))
        .map(|rule| rule.decision)
        .min()
        .filter(|found| *found < Decision::Ask)
}

fn loosest_host(rules: &[HostRule], host: &str) -> Option<Decision> {
    rules
        .iter()
        .filter(|rule| host_matches(&rule.host, host))
        .map(|rule| rule.decision)
        .min()
        .filter(|found| *found < Decision::Ask)
}

fn network_targets(analysis: &CommandAnalysis) -> impl Iterator<Item = &str> {
    analysis
        .effects
        .iter()
        .filter(|effect| effect.kind == EffectKind::Network)
        .map(|effect| effect.target.as_str())
}

/// Whether the words of `pattern` are the first words of `line`.
fn starts_with_words(line: &str, pattern: &str) -> bool {
    let mut words = line.split_whitespace();
    let mut wanted = pattern.split_whitespace().peekable();
    wanted.peek().is_some() && wanted.all(|word| words.next() == Some(word))
}

fn base_name(name: &str) -> &str {
    let end = name.find(' ').unwrap_or(name.len());
    let start = name[..end].rfind('/').map_or(0, |at| at + 1);
    &name[start..]
}

fn host_matches(pattern: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let pattern = pattern.to_ascii_lowercase();
    match pattern.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.')),
        None => pattern == host,
    }
}

fn rule_has(rule: &PathRule, op: RuleOp) -> bool {
    rule.ops.is_empty() || rule.ops.contains(&op)
}

fn effect_op(kind: EffectKind) -> Option<RuleOp> {
    match kind {
        EffectKind::Read => Some(RuleOp::Read),
        EffectKind::Write | EffectKind::Chmod => Some(RuleOp::Write),
        EffectKind::Delete => Some(RuleOp::Delete),
        _ => None,
    }
}

/// Patterns without a leading `/` match at any depth. One that cannot be read matches nothing that it
/// could loosen and everything that it could tighten is decided without it.
fn path_matches(pattern: &str, target: &str) -> bool {
    matcher(pattern).is_some_and(|matcher| matcher.is_match(target))
}

fn matcher(pattern: &str) -> Option<GlobMatcher> {
    let whole = if pattern.starts_with('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    Some(GlobBuilder::new(&whole).literal_separator(true).build().ok()?.compile_matcher())
}
