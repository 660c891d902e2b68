//! The server as a process, talked to over a plain socket.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod client;
mod conversations;
mod faults;
mod protocol;
