//! One binary for all end-to-end tests.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod adversary;
mod approvals;
mod architecture;
mod bad_input;
mod clients;
mod cmake_project;
mod crash;
mod demo;
mod env;
mod main_job;
mod shell_project;
mod turns;
