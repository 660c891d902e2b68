//! Checks: which there are, how they are run, and what their runs showed.

mod baseline;
mod list;
mod run;

pub(crate) use baseline::{Baseline, Baselines};
pub(crate) use list::{CheckList, CheckSpec, Claim, Origin, checks_of};
pub(crate) use run::{CheckCache, CheckRun, Checker, Purpose};
