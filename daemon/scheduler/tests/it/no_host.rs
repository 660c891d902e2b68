//! A host for tools that touch nothing.

use std::path::Path;

use air_contracts::port::{BoxFuture, CommandResult, CommandSpec, ToolHost};
use air_contracts::{AirError, Result, Timestamp};

/// The tools of the scheduler touch nothing through their host.
pub struct NoHost;

impl ToolHost for NoHost {
    fn run(&self, _: CommandSpec) -> BoxFuture<'_, Result<CommandResult>> {
        Box::pin(std::future::ready(Err(AirError::internal("no host"))))
    }

    fn read<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<Vec<u8>>> {
        Box::pin(std::future::ready(Err(AirError::internal("no host"))))
    }

    fn write<'a>(&'a self, _: &'a Path, _: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::ready(Err(AirError::internal("no host"))))
    }

    fn list<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<Vec<std::ffi::OsString>>> {
        Box::pin(std::future::ready(Err(AirError::internal("no host"))))
    }

    fn artifact<'a>(
        &'a self,
        _: &'a [u8],
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<air_contracts::artifact::ArtifactRef>> {
        Box::pin(std::future::ready(Err(AirError::internal("no host"))))
    }

    fn progress(&self, _: &str) {}

    fn cancelled(&self) -> bool {
        false
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }

    fn cache_dir(&self) -> &Path {
        Path::new("/")
    }
}
