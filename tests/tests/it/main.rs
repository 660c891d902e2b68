//! One binary for all end-to-end tests.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod architecture;
mod env;
mod adversary;
mod crash;
mod main_job;
mod shell_project;
mod approvals;
mod bad_input;
mod clients;
mod demo;
