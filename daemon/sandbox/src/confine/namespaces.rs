//! User, mount and network namespaces: user_namespaces(7), mount_namespaces(7), network_namespaces(7).

use std::fs;
use std::io;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Pid, getegid, geteuid};
use rustix::thread::UnshareFlags;

use crate::spec::{NetworkLimit, SandboxReport};
use crate::sys;

/// Which namespaces the process is in now.
pub struct Entered {
    /// An own mount namespace, in which this process may mount.
    pub mount: bool,
}

/// Leaves the daemon's namespaces as far as the machine allows. An error means that the process is
/// without its identity and must not go on.
pub fn enter(
    network: bool,
    report: &mut SandboxReport,
    ask_mapping: &mut dyn FnMut() -> io::Result<()>,
) -> Result<Entered, String> {
    report.network = if network { NetworkLimit::Open } else { NetworkLimit::NotEnforced };
    let (flags, refused) = unshare(network);
    let Some(flags) = flags else {
        report
            .weaknesses
            .push(format!("credentials and sockets are not hidden, there are no namespaces: {refused}"));
        return Ok(Entered { mount: false });
    };
    if flags.contains(UnshareFlags::NEWUSER) {
        report.user_namespace = true;
        establish_ids(ask_mapping)
            .map_err(|error| format!("cannot map the user into its namespace: {error}"))?;
    }
    if flags.contains(UnshareFlags::NEWNET) {
        report.network = NetworkLimit::Namespace;
        if let Err(error) = sys::loopback_up() {
            report.weaknesses.push(format!("localhost is not reachable: {error}"));
        }
    }
    // What is mounted here must stay here; what the user mounts outside may still come in.
    let own = mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC);
    if let Err(error) = own {
        report.weaknesses.push(format!("credentials are not hidden: {}", io::Error::from(error)));
    }
    Ok(Entered { mount: own.is_ok() })
}

/// Tries from the strongest to the weakest set; unshare(2) takes all or nothing.
fn unshare(network: bool) -> (Option<UnshareFlags>, io::Error) {
    let mount = UnshareFlags::NEWNS;
    let net = if network { UnshareFlags::empty() } else { UnshareFlags::NEWNET };
    let user = UnshareFlags::NEWUSER;
    let mut refused = io::Error::from(io::ErrorKind::PermissionDenied);
    if restricted_by_apparmor() {
        return (
            None,
            io::Error::other("AppArmor refuses them to programs without a profile that says `userns,`"),
        );
    }
    for flags in [user | mount | net, user | mount, mount | net] {
        match sys::unshare(flags) {
            Ok(()) => return (Some(flags), refused),
            Err(error) => refused = error,
        }
    }
    (None, refused)
}

/// Ubuntu from 23.10 on lets such a namespace be made and then refuses every use of it.
fn restricted_by_apparmor() -> bool {
    !geteuid().is_root()
        && fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
            .is_ok_and(|value| value.trim() == "1")
}

/// The process keeps its own ids. An ordinary user may map just these, and does so itself; root has the
/// launcher map all ids, so that files of other users do not turn into nobody's.
fn establish_ids(ask_mapping: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
    // Unmapped, both read as the overflow id: the launcher's side knows the real ones.
    ask_mapping()?;
    let mapped = fs::read_to_string("/proc/self/uid_map")?;
    if mapped.trim().is_empty() { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
}

/// The launcher's side: writes the id mapping of a child that has made a user namespace. A failure shows
/// in the child, which then finds no mapping.
pub fn map_ids(child: Pid) {
    let folder = format!("/proc/{}", child.as_raw_nonzero());
    let write = |file: &str, text: &str| fs::write(format!("{folder}/{file}"), text);
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    let all = |own: &str| fs::read_to_string(own).ok().map(|text| identity_of(&text));
    if geteuid().is_root()
        && let (Some(uids), Some(gids)) = (all("/proc/self/uid_map"), all("/proc/self/gid_map"))
        && write("uid_map", &uids).is_ok()
        && write("gid_map", &gids).is_ok()
    {
        return;
    }
    // Needed before an unprivileged gid_map, and harmless when refused: user_namespaces(7).
    let _ = write("setgroups", "deny");
    let _ = write("uid_map", &format!("{uid} {uid} 1"));
    let _ = write("gid_map", &format!("{gid} {gid} 1"));
}

/// Maps every id that exists in this namespace to itself.
fn identity_of(map: &str) -> String {
    let line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (first, count) = (fields.next()?, fields.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_id_is_mapped_to_itself() {
        let map = "         0     100000      65536\n     65536          7          1\n";
        assert_eq!(identity_of(map), "0 0 65536\n65536 65536 1\n");
        assert_eq!(identity_of(""), "");
    }
}
