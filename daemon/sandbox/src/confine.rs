//! A policy carried to the kernel, in the process that is about to be the command.
//!
//! Order matters: namespaces first (they need the privileges that a new user namespace gives), mounts in
//! them, then no_new_privs, Landlock over the mounts as they now are, seccomp last.

mod filter;
mod hidden;
mod landlock;
mod mounts;
mod namespaces;

use std::io;
use std::path::Path;

pub use namespaces::map_ids;

use crate::spec::{NetworkLimit, RunSpec, SandboxReport};
use crate::sys;

/// Enters the sandbox. `ask_mapping` has the launcher write the id mapping of the new user namespace.
/// Returns what is enforced; an error when the policy requires what this kernel cannot do, or when the
/// process is left in a state in which nothing must be run.
pub fn enter(
    spec: &RunSpec,
    run_folder: &Path,
    ask_mapping: &mut dyn FnMut() -> io::Result<()>,
) -> Result<SandboxReport, String> {
    let policy = &spec.policy;
    let mut report = SandboxReport { landlock_abi: sys::landlock_abi(), ..SandboxReport::default() };
    let entered = namespaces::enter(policy.network, &mut report, ask_mapping)?;
    if entered.mount {
        match mounts::arrange(spec, run_folder) {
            Ok(()) => report.masked = true,
            Err(text) => report.weaknesses.push(format!("credentials are not hidden: {text}")),
        }
    }
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
    landlock::restrict(policy, entered.mount, &mut report)?;
    match filter::install(&report) {
        Ok(()) => report.seccomp = true,
        Err(error) => report.weaknesses.push(format!("no seccomp filter: {error}")),
    }
    if !policy.network && report.network == NetworkLimit::NotEnforced {
        report.weaknesses.push("the network is reachable".to_owned());
    }
    if policy.required && !report.is_full() {
        return Err(format!("the sandbox cannot be enforced here: {}", report.weaknesses.join("; ")));
    }
    Ok(report)
}
