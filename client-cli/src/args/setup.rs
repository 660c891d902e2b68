//! Commands that set up, and those for machines.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Create .air/ here
#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// Create missing parts again
    #[arg(long)]
    pub force: bool,
}

/// Trust this project's own models, limits and capabilities
#[derive(Debug, Clone, Args)]
pub struct TrustArgs {
    /// Take the trust back
    #[arg(long)]
    pub revoke: bool,
}

/// Providers.
#[derive(Debug, Clone, Subcommand)]
pub enum ProviderCommand {
    /// List the providers with the source of their keys and their models
    List,
}

/// The daemon.
#[derive(Debug, Clone, Subcommand)]
pub enum DaemonCommand {
    /// Start it, where it does not run
    Start,
    /// End it and the commands that it runs
    Stop,
    /// End it and start it again; running commands are kept
    Restart,
    /// Show it; never starts it
    Status,
    /// Show the end of its log
    Logs {
        /// Go on with new lines; Ctrl-C ends it
        #[arg(short, long)]
        follow: bool,
        /// So many lines
        #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
        lines: usize,
    },
}

/// A complete run on a bundled C++ project with a scripted model: no key, no network
#[derive(Debug, Clone, Args)]
#[command(after_help = "Exit code 0 only when the turn completed and every criterion was proved.")]
pub struct DemoArgs {
    /// Leave the demo's daemon and model running, to attach to
    #[arg(long)]
    pub keep: bool,
    /// Where to put it; a new folder in the system's temporary folder without it
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Call a method of the daemon
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  air rpc daemon/status
  air rpc project/open '{\"path\": \"/home/me/src/stats\"}'
  echo '{}' | air rpc project/list -")]
pub struct RpcArgs {
    /// The method: turn/submit
    #[arg(required_unless_present = "stdio")]
    pub method: Option<String>,
    /// Its parameters; - reads them from stdin
    #[arg(value_name = "JSON|-")]
    pub params: Option<String>,
    /// Pass bytes between stdin, stdout and the socket
    #[arg(long, conflicts_with_all = ["method", "params"])]
    pub stdio: bool,
}
