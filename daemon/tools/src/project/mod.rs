//! What a project is, and which commands prove something about it.

mod check;
mod cmake;
mod counts;
mod detect;
mod instances;
mod scan;
mod which;

use std::sync::Arc;

pub(crate) use check::CHECK_TOOL;
pub(crate) use detect::detect;
pub(crate) use which::which;

use crate::tool::Builtin;

/// The tools of this group.
pub(crate) fn tools() -> Vec<Arc<dyn Builtin>> {
    vec![Arc::new(scan::Scan::new()), Arc::new(check::Check::new())]
}
