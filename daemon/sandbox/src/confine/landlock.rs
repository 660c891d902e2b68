//! Writing held to the policy's trees by Landlock: landlock(7). Reading is not restricted; what must not
//! be read is hidden by mounts, since Landlock cannot subtract from a tree. The network is left to its
//! namespace: Landlock knows ports, not addresses, and would take localhost from a project's tests.

use std::path::{Path, PathBuf};

use air_contracts::permission::SandboxPolicy;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::spec::{FilesystemLimit, SandboxReport};

/// The newest ABI whose rights are asked for. Later ones are left alone until they are tested.
const KNOWN: ABI = ABI::V7;

/// ABI 1 refuses every rename between folders, which breaks git and compilers: not worth having.
const USABLE: u32 = 2;
/// From here on truncation is held too.
const COMPLETE: u32 = 3;
/// From here on signals to processes outside are held.
const WITH_SIGNALS: u32 = 6;

/// Devices that every program may write to.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx"];

/// Restricts this process for good. `private_dev`: `/dev/pts` and `/dev/shm` are its own.
pub fn restrict(policy: &SandboxPolicy, private_dev: bool, report: &mut SandboxReport) -> Result<(), String> {
    if report.landlock_abi < USABLE {
        report.weaknesses.push("writing is not held: this kernel has no usable Landlock".to_owned());
        return Ok(());
    }
    let status = build(policy, private_dev)
        .and_then(RulesetCreated::restrict_self)
        .map_err(|error| format!("Landlock: {error}"))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        report.weaknesses.push("writing is not held: Landlock is off".to_owned());
        return Ok(());
    }
    report.filesystem = if report.landlock_abi < COMPLETE {
        report.weaknesses.push("files outside can be truncated: Linux before 6.2".to_owned());
        FilesystemLimit::Partial
    } else {
        FilesystemLimit::Full
    };
    if report.landlock_abi < WITH_SIGNALS {
        report.weaknesses.push("processes of the user can be signalled: Linux before 6.12".to_owned());
    }
    Ok(())
}

fn build(policy: &SandboxPolicy, private_dev: bool) -> Result<RulesetCreated, RulesetError> {
    let write = AccessFs::from_write(KNOWN);
    let device = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .scope(Scope::from_all(KNOWN))?;
    let mut trees: Vec<PathBuf> = policy.writable.clone();
    trees.push(PathBuf::from("/dev/shm"));
    if private_dev {
        trees.push(PathBuf::from("/dev/pts"));
    }
    // A path that does not exist is skipped: nothing can be below it.
    ruleset
        .create()?
        .add_rules(path_beneath_rules(trees, write))?
        .add_rules(path_beneath_rules(DEVICES.map(Path::new), device))
}
