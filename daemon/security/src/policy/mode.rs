//! Approval modes and trust.

use air_contracts::permission::{ApproveMode, Decision, PermissionDecision};

/// Applies an approval mode.
///
/// `ask` leaves the decision as it is. `safe` never asks: what a full sandbox makes harmless runs and is
/// shown, anything else that would be asked is refused with a hint. `all` runs and shows what would be
/// asked. What is refused stays refused.
pub fn apply_mode(
    mut decision: PermissionDecision,
    mode: ApproveMode,
    sandboxable: bool,
) -> PermissionDecision {
    if decision.decision != Decision::Ask {
        return decision;
    }
    match mode {
        ApproveMode::Ask => {}
        ApproveMode::Safe if sandboxable => {
            decision.decision = Decision::Announce;
            decision.reason = format!("runs in the sandbox only: {}", decision.reason);
            decision.scopes.clear();
        }
        ApproveMode::Safe => {
            decision.decision = Decision::Deny;
            decision.reason = format!(
                "{} (would be asked; the approval mode `safe` never asks: use `ask`)",
                decision.reason
            );
            decision.scopes.clear();
        }
        ApproveMode::All => {
            decision.decision = Decision::Announce;
            decision.reason = format!("{} (approved by the mode `all`)", decision.reason);
            decision.scopes.clear();
        }
    }
    decision
}

/// Applies trust in the project.
///
/// Code of a project that is not trusted runs only in the sandbox without network; where there is no
/// sandbox it is asked about. Everything else is decided as in a trusted project.
pub fn apply_trust(
    mut decision: PermissionDecision,
    trusted: bool,
    runs_project_code: bool,
    sandbox_available: bool,
) -> PermissionDecision {
    if !trusted && runs_project_code && !sandbox_available && decision.decision < Decision::Ask {
        decision.decision = Decision::Ask;
        decision.reason =
            format!("runs code of a project that is not trusted, without a sandbox: {}", decision.reason);
    }
    decision
}

#[cfg(test)]
mod tests {
    use super::*;
    use air_contracts::permission::RiskLevel;

    fn decision(decision: Decision) -> PermissionDecision {
        PermissionDecision {
            decision,
            level: RiskLevel::Unknown,
            reason: "x".to_owned(),
            effects: Vec::new(),
            scopes: Vec::new(),
            granted_by: None,
        }
    }

    #[test]
    fn modes_never_touch_what_is_not_asked() {
        let check = |from, mode, sandboxable, expected| {
            assert_eq!(apply_mode(decision(from), mode, sandboxable).decision, expected);
        };
        check(Decision::Ask, ApproveMode::Ask, true, Decision::Ask);
        check(Decision::Ask, ApproveMode::Safe, true, Decision::Announce);
        check(Decision::Ask, ApproveMode::Safe, false, Decision::Deny);
        check(Decision::Ask, ApproveMode::All, false, Decision::Announce);
        check(Decision::Deny, ApproveMode::All, true, Decision::Deny);
        check(Decision::Allow, ApproveMode::Safe, false, Decision::Allow);
    }

    #[test]
    fn foreign_code_without_a_sandbox_is_asked() {
        let check = |trusted, code, sandbox, expected| {
            assert_eq!(apply_trust(decision(Decision::Announce), trusted, code, sandbox).decision, expected);
        };
        check(false, true, false, Decision::Ask);
        check(false, true, true, Decision::Announce);
        check(true, true, false, Decision::Announce);
        check(false, false, false, Decision::Announce);
    }
}
