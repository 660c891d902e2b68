//! Judging a plan: its paths, its command, its other effects; then grants, trust and the approval mode.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use air_contracts::permission::{
    ApproveMode, Decision, Effect, EffectKind, GrantScope, PermissionDecision, RiskLevel, SandboxPolicy,
    ScopeOffer,
};
use air_contracts::port::CallPlan;
use air_contracts::task::AgentRole;
use air_contracts::tool::{CallContext, ToolDefinition};
use air_contracts::{AirError, Result};
use air_security::{
    Boundaries, CommandAnalysis, CommandContext, PathClass, PathOp, analyse_command, apply_mode, apply_trust,
    classify_path, sandbox_policy,
};

use super::digest;
use crate::hash::sha256_parts;
use crate::kit::{Kit, blocking};
use crate::project::CHECK_TOOL;

/// What the gate found out about a plan.
pub(super) struct Judgement {
    pub decision: PermissionDecision,
    pub digest: String,
    pub paths: Vec<PathBuf>,
    pub sandbox: SandboxPolicy,
    pub may_write: bool,
    pub wants_network: bool,
    /// What is wrong with a path that no kernel would take.
    pub invalid: Option<AirError>,
    /// Trees beyond the workspace that a yes opens to the command, for this run alone.
    pub opens: Vec<PathBuf>,
}

/// What a later call with the same key is spared.
struct Coverage {
    key: String,
    covers: String,
}

/// Judges a plan.
pub(super) async fn judge(
    kit: &Arc<Kit>,
    context: &CallContext,
    definition: &ToolDefinition,
    plan: &CallPlan,
) -> Result<Judgement> {
    let policy = (kit.deps.policy)();
    let boundaries = kit.boundaries(context);
    let mut parts: Vec<PermissionDecision> = Vec::new();
    let mut paths = Vec::new();
    let mut coverage = Vec::new();
    let mut invalid = None;
    for effect in &plan.effects {
        let op = match effect.kind {
            EffectKind::Read => PathOp::Read,
            EffectKind::Write => PathOp::Write,
            EffectKind::Delete => PathOp::Delete,
            _ => {
                parts.push(other_effect(effect));
                continue;
            }
        };
        let verdict = classify_path(Path::new(&effect.target), op, &boundaries, &kit.facts);
        let decision = policy.decide_path(&verdict, op);
        if decision.decision == Decision::Ask {
            let covers = format!("{} of {}", op_word(op), verdict.resolved.display());
            coverage.push(Coverage { key: covers.clone(), covers });
        }
        if verdict.class == PathClass::Invalid {
            let path = context.workspace_root.join(&effect.target);
            invalid = crate::fs::file_in_the_way(&path, &context.workspace_root);
        }
        parts.push(decision);
        paths.push(verdict.resolved);
    }
    let analysis = match &plan.command {
        Some((command, cwd)) => Some(analyse(kit, context, command, cwd).await?),
        None => None,
    };
    if let Some(analysis) = &analysis {
        let decision = policy.decide_command(analysis);
        if let (Decision::Ask, Some(key)) = (decision.decision, &analysis.grant_key) {
            let covers = analysis.grant_covers.clone().unwrap_or_else(|| key.clone());
            coverage.push(Coverage { key: key.clone(), covers });
        }
        parts.push(decision);
    }
    let asked = parts.iter().filter(|part| part.decision == Decision::Ask).count();
    let decision = strictest(parts);
    let digest = digest::of(kit, context, definition, plan, analysis.as_ref());
    let wants_network = analysis.as_ref().is_some_and(|analysis| analysis.needs_network);
    let sandbox = sandbox_policy(&boundaries, wants_network);
    // A check is a look at the tree: should it write, the tree ids around it show that, and its own run must not
    // make what it proves stale.
    let may_write =
        definition.name != CHECK_TOOL && analysis.as_ref().is_some_and(|analysis| analysis.may_write);
    let asks = decision.decision == Decision::Ask;
    let opens = if asks && plan.command.is_some() { opens(&boundaries, &decision) } else { Vec::new() };
    let mut judgement =
        Judgement { decision, digest, paths, sandbox, may_write, wants_network, invalid, opens };
    // A part without a key cannot be covered by a grant, so the whole cannot.
    let coverage = (coverage.len() == asked).then_some(coverage).filter(|coverage| !coverage.is_empty());
    settle(kit, context, definition, plan, analysis.as_ref(), coverage, &mut judgement).await?;
    Ok(judgement)
}

/// Judges one command by itself.
pub(super) async fn judge_command(
    kit: &Arc<Kit>,
    context: &CallContext,
    command: &str,
    cwd: &Path,
) -> Result<Judgement> {
    let analysis = analyse(kit, context, command, cwd).await?;
    let decision = with_trust((kit.deps.policy)().decide_command(&analysis), kit, &analysis);
    let sandbox = sandbox_policy(&kit.boundaries(context), analysis.needs_network);
    Ok(Judgement {
        decision,
        digest: String::new(),
        paths: Vec::new(),
        sandbox,
        may_write: analysis.may_write,
        wants_network: analysis.needs_network,
        invalid: None,
        opens: Vec::new(),
    })
}

/// What the user is asked to let a command write: the kernel must let it, or the yes would be worth nothing. A path
/// that does not exist yet needs its folder, which is not opened where it holds far more than the path.
fn opens(boundaries: &Boundaries, decision: &PermissionDecision) -> Vec<PathBuf> {
    let writes = |effect: &&Effect| {
        matches!(effect.kind, EffectKind::Write | EffectKind::Delete | EffectKind::Chmod)
            && Path::new(&effect.target).is_absolute()
    };
    let too_wide = |path: &Path| path.components().count() < 3 || boundaries.home.starts_with(path);
    let place = |effect: &Effect| {
        let path = Path::new(&effect.target);
        let exists = path.symlink_metadata().is_ok() && effect.kind != EffectKind::Delete;
        let place = if exists { path } else { path.ancestors().skip(1).find(|parent| parent.is_dir())? };
        (!too_wide(place) && !place.starts_with(&boundaries.air_home)).then(|| place.to_owned())
    };
    let mut places: Vec<PathBuf> = decision.effects.iter().filter(writes).filter_map(place).collect();
    // git writes its configuration in many ways; a question about one of them shows its sub-command.
    if decision.effects.iter().any(|effect| effect.kind == EffectKind::Vcs) {
        places.push(boundaries.workspace_root.join(".git/config"));
    }
    places.retain(|place| place.exists());
    places
}

/// Trust, checks of the runtime, grants and the mode, in this order.
async fn settle(
    kit: &Arc<Kit>,
    context: &CallContext,
    definition: &ToolDefinition,
    plan: &CallPlan,
    analysis: Option<&CommandAnalysis>,
    coverage: Option<Vec<Coverage>>,
    judgement: &mut Judgement,
) -> Result<()> {
    let mut sandboxable = false;
    if let Some(analysis) = analysis {
        sandboxable = analysis.sandboxable && kit.sandbox_full();
        judgement.decision = with_trust(judgement.decision.clone(), kit, analysis);
        if definition.name == CHECK_TOOL && context.role == AgentRole::Runtime {
            allow_check(kit, plan, sandboxable, judgement);
        }
    }
    if judgement.decision.decision == Decision::Ask {
        let offers = offers(context, definition, plan, coverage.as_deref(), &judgement.digest, analysis);
        match granted(kit, context, &offers).await? {
            Some(by) => {
                judgement.decision.decision = Decision::Allow;
                judgement.decision.granted_by = Some(by);
            }
            None => judgement.decision.scopes = offers,
        }
    }
    let asked = judgement.decision.decision == Decision::Ask;
    judgement.decision = apply_mode(judgement.decision.clone(), context.approve, sandboxable);
    if asked && judgement.decision.decision != Decision::Ask {
        judgement.decision.scopes.clear();
        // It runs because the kernel confines it, so the kernel must.
        judgement.sandbox.required = context.approve == ApproveMode::Safe;
        if context.approve == ApproveMode::Safe {
            judgement.opens.clear();
        }
    }
    if let Some(analysis) = analysis
        && analysis.runs_project_code
        && !(kit.deps.trusted)()
    {
        // Code of a project that nobody vouched for: confined, and on the network only where a person said so.
        judgement.sandbox.required |= kit.sandbox_available();
        judgement.wants_network &= context.approve == ApproveMode::Ask;
    }
    Ok(())
}

fn with_trust(decision: PermissionDecision, kit: &Kit, analysis: &CommandAnalysis) -> PermissionDecision {
    apply_trust(decision, (kit.deps.trusted)(), analysis.runs_project_code, kit.sandbox_available())
}

/// A check of the runtime runs without a question where the kernel holds it to the workspace: the
/// project's own checks always, others where they could be analysed that far.
fn allow_check(kit: &Kit, plan: &CallPlan, sandboxable: bool, judgement: &mut Judgement) {
    let own = plan.command.as_ref().is_some_and(|(command, _)| kit.is_own_check(command));
    let confined = kit.sandbox_available() && (own || sandboxable);
    if judgement.decision.decision == Decision::Ask && confined {
        judgement.decision.decision = Decision::Announce;
        judgement.decision.reason = "a check of the project, held to the workspace by the sandbox".to_owned();
        judgement.sandbox.required = kit.sandbox_full();
        judgement.wants_network = false;
    }
}

/// The analysis may read scripts and ask git, so it has a thread of its own.
async fn analyse(
    kit: &Arc<Kit>,
    context: &CallContext,
    command: &str,
    cwd: &Path,
) -> Result<CommandAnalysis> {
    let (kit, command, cwd) = (kit.clone(), command.to_owned(), cwd.to_path_buf());
    let boundaries = kit.boundaries(context);
    blocking(move || {
        let secret_env = kit.secret_env.clone();
        let context =
            CommandContext { boundaries: &boundaries, cwd: &cwd, facts: &kit.facts, secret_env: &secret_env };
        analyse_command(&command, &context)
    })
    .await
}

/// An effect that is neither a path nor a command.
fn other_effect(effect: &Effect) -> PermissionDecision {
    let (decision, level) = match effect.kind {
        EffectKind::Network => (Decision::Ask, RiskLevel::Network),
        EffectKind::Unknown => (Decision::Ask, RiskLevel::Unknown),
        EffectKind::Signal | EffectKind::Build => (Decision::Announce, RiskLevel::ProjectWrite),
        _ => (Decision::Allow, RiskLevel::Safe),
    };
    PermissionDecision {
        decision,
        level,
        reason: format!("{:?} {}", effect.kind, effect.target),
        effects: vec![effect.clone()],
        scopes: Vec::new(),
        granted_by: None,
    }
}

/// The strictest of several decisions, with the effects of all.
fn strictest(parts: Vec<PermissionDecision>) -> PermissionDecision {
    let effects = parts.iter().flat_map(|part| part.effects.clone()).collect();
    let worst = parts.into_iter().max_by_key(|part| (part.decision, part.level));
    let nothing = PermissionDecision {
        decision: Decision::Allow,
        level: RiskLevel::Safe,
        reason: "it has no effect outside the log".to_owned(),
        effects: Vec::new(),
        scopes: Vec::new(),
        granted_by: None,
    };
    PermissionDecision { effects, ..worst.unwrap_or(nothing) }
}

const fn op_word(op: PathOp) -> &'static str {
    match op {
        PathOp::Read => "reads",
        PathOp::Write => "writes",
        PathOp::Delete => "deletion",
    }
}

/// What a yes may cover. The keys are hashes over everything that an answer is bound to.
fn offers(
    context: &CallContext,
    definition: &ToolDefinition,
    plan: &CallPlan,
    coverage: Option<&[Coverage]>,
    digest: &str,
    analysis: Option<&CommandAnalysis>,
) -> Vec<ScopeOffer> {
    let once = ScopeOffer { scope: GrantScope::Once, covers: "this call".to_owned(), key: digest.to_owned() };
    let Some(coverage) = coverage else { return vec![once] };
    let directory = plan.command.as_ref().map(|(_, cwd)| {
        cwd.strip_prefix(&context.workspace_root).unwrap_or(cwd).to_string_lossy().into_owned()
    });
    let directory = directory.unwrap_or_default();
    let scripts = analysis.map(digest::scripts).unwrap_or_default();
    let keys: Vec<&str> = coverage.iter().map(|coverage| coverage.key.as_str()).collect();
    let keys = keys.join("\n");
    let parts = [definition.name.as_str(), keys.as_str(), directory.as_str(), scripts.as_str()];
    let key = sha256_parts(parts.iter().map(|part| part.as_bytes()));
    let covers: Vec<&str> = coverage.iter().map(|coverage| coverage.covers.as_str()).collect();
    let place = if directory.is_empty() { String::new() } else { format!(" in {directory}") };
    let covers = format!("{}{place}", covers.join(", "));
    let offer =
        |scope, until: &str| ScopeOffer { scope, covers: format!("{covers}{until}"), key: key.clone() };
    vec![
        once,
        offer(GrantScope::Session, ", until the session ends"),
        offer(GrantScope::Project, ", always in this project"),
    ]
}

/// The grant that covers a call: `a7`, or `grants.yaml`.
async fn granted(kit: &Kit, context: &CallContext, offers: &[ScopeOffer]) -> Result<Option<String>> {
    let Some(offer) = offers.iter().find(|offer| offer.scope == GrantScope::Session) else { return Ok(None) };
    if kit.grants.holds(&offer.key)? {
        return Ok(Some("grants.yaml".to_owned()));
    }
    let session = kit.deps.store.session_grants(context.session_id).await?;
    match session.into_iter().find(|(key, _, _)| *key == offer.key) {
        Some((_, _, approval)) => {
            let row = kit.deps.store.approval(approval).await?;
            Ok(Some(format!("a{}", row.approval.n)))
        }
        None => Ok(None),
    }
}
