//! From what was found out to what is decided: rules of people, modes, trust.

mod file;
mod mode;
mod rules;
mod sandbox;

pub use file::{CommandRule, HostRule, PathRule, PermissionsFile};
pub use mode::{apply_mode, apply_trust};
pub use rules::Policy;
pub use sandbox::sandbox_policy;
