//! What was found out about a command, or a part of one.

use std::path::PathBuf;

use air_contracts::permission::{Decision, Effect, EffectKind, RiskLevel};

/// The most effects and reasons that are kept; the level counts all.
const MAX_KEPT: usize = 200;

/// Findings. They only ever get stricter.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub level: RiskLevel,
    pub decision: Decision,
    pub effects: Vec<Effect>,
    pub reasons: Vec<String>,
    pub commands: Vec<String>,
    /// Something runs that cannot be named.
    pub opaque: bool,
    pub may_write: bool,
    /// Code of the project runs.
    pub runs_code: bool,
    pub network: bool,
    /// Secrets are read or printed.
    pub secret: bool,
    /// The output is names of files below the directory.
    pub prints_names: bool,
    /// The output is one number.
    pub prints_number: bool,
    pub scripts: Vec<PathBuf>,
    /// For grants: the commands that are asked about, normalised; `None` where one has no fixed form.
    pub asked: Vec<Option<String>>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            level: RiskLevel::Safe,
            decision: Decision::Allow,
            effects: Vec::new(),
            reasons: Vec::new(),
            commands: Vec::new(),
            opaque: false,
            may_write: false,
            runs_code: false,
            network: false,
            secret: false,
            prints_names: false,
            prints_number: false,
            scripts: Vec::new(),
            asked: Vec::new(),
        }
    }
}

/// The decision of the default policy for a level.
pub(crate) fn default_decision(level: RiskLevel) -> Decision {
    match level {
        RiskLevel::Safe => Decision::Allow,
        RiskLevel::ProjectWrite => Decision::Announce,
        _ => Decision::Ask,
    }
}

impl Outcome {
    pub(crate) fn raise(&mut self, level: RiskLevel, why: impl Into<String>) {
        self.set(level, default_decision(level), why);
    }

    pub(crate) fn deny(&mut self, level: RiskLevel, why: impl Into<String>) {
        self.set(level, Decision::Deny, why);
    }

    pub(crate) fn set(&mut self, level: RiskLevel, decision: Decision, why: impl Into<String>) {
        let decides = (decision, level) > (self.decision, self.level);
        self.level = self.level.max(level);
        self.decision = self.decision.max(decision);
        self.may_write |= level > RiskLevel::Safe;
        if decision > Decision::Allow {
            self.reasons(vec![why.into()], decides);
        }
    }

    /// Adds reasons; those that decide come first, since the first is the one that is told.
    fn reasons(&mut self, more: Vec<String>, decide: bool) {
        let (first, then) = if decide {
            (more, std::mem::take(&mut self.reasons))
        } else {
            (std::mem::take(&mut self.reasons), more)
        };
        self.reasons = first;
        for why in then {
            if self.reasons.len() < MAX_KEPT && !self.reasons.contains(&why) {
                self.reasons.push(why);
            }
        }
    }

    /// Something that is not recognised.
    pub(crate) fn unknown(&mut self, why: impl Into<String>) {
        self.raise(RiskLevel::Unknown, why);
        self.effect(EffectKind::Unknown, "");
    }

    /// Something runs that cannot be named.
    pub(crate) fn opaque(&mut self, why: impl Into<String>) {
        self.opaque = true;
        self.unknown(why);
    }

    pub(crate) fn effect(&mut self, kind: EffectKind, target: impl Into<String>) {
        let effect = Effect { kind, target: target.into() };
        if self.effects.len() < MAX_KEPT && !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    /// Takes over what a part was found to do. What it prints stays its own.
    pub(crate) fn merge(&mut self, part: Self) {
        let decides = (part.decision, part.level) > (self.decision, self.level);
        self.level = self.level.max(part.level);
        self.decision = self.decision.max(part.decision);
        self.opaque |= part.opaque;
        self.may_write |= part.may_write;
        self.runs_code |= part.runs_code;
        self.network |= part.network;
        self.secret |= part.secret;
        self.reasons(part.reasons, decides);
        for effect in part.effects {
            self.effect(effect.kind, effect.target);
        }
        if self.commands.len() < 10_000 {
            self.commands.extend(part.commands);
        }
        for script in part.scripts {
            if !self.scripts.contains(&script) {
                self.scripts.push(script);
            }
        }
        for asked in part.asked {
            if !self.asked.contains(&asked) {
                self.asked.push(asked);
            }
        }
    }
}
