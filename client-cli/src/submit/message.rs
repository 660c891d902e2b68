//! What is sent: the text, files, options.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use air_contracts::api::TurnSubmitParams;
use air_contracts::error::codes;
use air_contracts::ids::ProjectId;
use air_contracts::session::{Attachment, TurnOptions};
use air_contracts::{AirError, Result};

use crate::app::App;
use crate::args::SubmitArgs;

/// The words of the command line, stdin for `-`, the editor's text where there are none.
pub(super) fn text(app: &App, words: &[String]) -> Result<String> {
    let text = match words {
        [] if app.out.err_tty && std::io::stdin().is_terminal() => crate::process::edit("")?,
        [] => String::new(),
        [one] if one == "-" => read_stdin(app)?,
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(AirError::new(codes::USAGE_MISSING, "there is no message to send")
            .hint("air submit \"…\"  or  … | air submit -"));
    }
    Ok(text)
}

/// All of stdin as text. On a terminal it says that it waits.
pub fn read_stdin(app: &App) -> Result<String> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() && !app.out.quiet {
        app.out.note("reading the message from stdin; ^D ends it");
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).map_err(|error| AirError::io("stdin", &error))?;
    String::from_utf8(bytes).map_err(|_| AirError::new(codes::USAGE_VALUE, "stdin is not UTF-8 text"))
}

/// The parameters of the submit.
pub(super) fn params(project_id: ProjectId, args: SubmitArgs, text: String) -> Result<TurnSubmitParams> {
    let attachments = args.files.iter().map(|path| attachment(path)).collect::<Result<Vec<_>>>()?;
    let options = TurnOptions {
        approve: args.approve.map(Into::into),
        model: args.model,
        max_cost_usd: args.max_cost,
        answer_schema: None,
    };
    let session = if args.ephemeral { "new".to_owned() } else { args.session };
    let client_id = Some(args.client_id.unwrap_or_else(own_key));
    Ok(TurnSubmitParams {
        project_id,
        session,
        client_id,
        text,
        attachments,
        options,
        ephemeral: args.ephemeral,
    })
}

fn attachment(path: &Path) -> Result<Attachment> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| AirError::io(&name, &error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| AirError::new(codes::USAGE_VALUE, format!("--file {name}: not UTF-8 text")))?;
    Ok(Attachment { name, text })
}

/// A key that no other submit has: the kernel's (random(4)), else this process and its time.
fn own_key() -> String {
    match std::fs::read_to_string("/proc/sys/kernel/random/uuid") {
        Ok(uuid) => uuid.trim().to_owned(),
        Err(_) => {
            let now = jiff::Timestamp::now().as_nanosecond();
            format!("air-{}-{now}", std::process::id())
        }
    }
}
