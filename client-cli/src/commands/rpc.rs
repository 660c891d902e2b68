//! `air rpc`: one call, or the bytes of the socket.

use air_client_tui::ProjectionClient as _;
use air_client_tui::rpc::{Listening, listening};
use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::app::App;
use crate::args::RpcArgs;
use crate::exit::Exit;

pub(super) async fn run(app: &App, args: RpcArgs) -> Result<Exit> {
    let Some(method) = args.method.filter(|_| !args.stdio) else { return proxy(app).await };
    let text = match args.params.as_deref() {
        Some("-") => crate::submit::read_stdin(app)?,
        Some(text) => text.to_owned(),
        None => "{}".to_owned(),
    };
    let params: Value = serde_json::from_str(&text).map_err(|error| {
        AirError::new(codes::USAGE_VALUE, format!("the parameters are not JSON: {error}"))
            .hint("air help rpc")
    })?;
    let client = app.connect().await?;
    let result = client.call_value(&method, params).await?;
    app.out.json(&result)?;
    Ok(Exit::Ok)
}

/// Bytes from stdin to the socket and back, until either side ends. What a remote `air` speaks through ssh.
async fn proxy(app: &App) -> Result<Exit> {
    let stream = match listening(&app.dial.socket).await {
        Listening::Yes(stream) => stream,
        _ => {
            drop(app.connect().await?);
            match listening(&app.dial.socket).await {
                Listening::Yes(stream) => stream,
                _ => return Err(AirError::new(codes::DAEMON_UNREACHABLE, "aird does not answer")),
            }
        }
    };
    let (mut from, mut to) = stream.into_split();
    let (mut stdin, mut stdout) = (tokio::io::stdin(), tokio::io::stdout());
    let up = async {
        let copied = tokio::io::copy(&mut stdin, &mut to).await;
        let _ = to.shutdown().await;
        copied
    };
    let down = async {
        let copied = tokio::io::copy(&mut from, &mut stdout).await;
        let _ = stdout.flush().await;
        copied
    };
    tokio::pin!(up, down);
    // The end of stdin leaves the answers to come; the end of the socket ends all.
    let copied = tokio::select! {
        copied = &mut down => copied,
        copied = &mut up => match copied {
            Ok(_) => down.await,
            error => error,
        },
    };
    match copied {
        Ok(_) => Ok(Exit::Ok),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Ok),
        Err(error) => Err(AirError::io("the socket", &error)),
    }
}
