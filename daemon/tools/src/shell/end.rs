//! How a command ended, and the text that says so.

use air_contracts::Result;
use air_contracts::artifact::ArtifactRef;
use air_contracts::event::CommandOutcome;
use air_sandbox::{ExitRecord, FilesystemLimit, NetworkLimit, RunFolder, RunState};

use super::clean::{Clean, clean};
use super::cut::both_ends;
use crate::fs::human_bytes;
use crate::tool::Call;

/// Bytes of each end of the output that a model reads.
const EACH: usize = 10_000;
/// Bytes of each end of the output that go into the artifact: the whole for all but the longest.
const KEPT: usize = 8 * 1024 * 1024;

/// How a command ended, as far as is known.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The launcher wrote down how.
    Finished(Box<ExitRecord>),
    /// The launcher is gone without a word.
    Vanished,
    /// The launcher never began.
    NotStarted,
    /// It was told to end and has not yet.
    Lingering,
}

impl Ended {
    /// From the state of a run folder, after a cancel with this reason or without one.
    pub fn from_state(state: RunState, cancelled: Option<String>) -> Self {
        match state {
            RunState::Finished(record) => Self::Finished(Box::new(record)),
            RunState::Vanished => Self::Vanished,
            RunState::NotStarted => Self::NotStarted,
            RunState::Running(_) if cancelled.is_some() => Self::Lingering,
            RunState::Running(_) => Self::Vanished,
        }
    }
}

/// The end of a command, with where its output is.
pub(crate) struct CommandEnd {
    pub ended: Ended,
    pub folder: Option<RunFolder>,
    /// Why it was told to end.
    pub cancelled: Option<String>,
}

/// A command's end for people and models.
pub(crate) struct Report {
    /// `exit 1 · 4.2 s · 812 lines`.
    pub facts: String,
    /// Header, output and notes.
    pub text: String,
    /// The output as text; empty for binary output.
    pub output: String,
    pub artifact: Option<ArtifactRef>,
    pub outcome: CommandOutcome,
}

/// Reads the output and writes the report. Output above what is shown becomes an artifact.
pub(crate) async fn report(
    call: &Call<'_>,
    record: Option<&ExitRecord>,
    folder: Option<&RunFolder>,
) -> Result<Report> {
    let output = read(call, folder).await?;
    let outcome = outcome(record, output.total);
    let facts = facts(record, &outcome, &output);
    let mut text = format!("[{facts} · r{}]\n{}", call.n, output.shown);
    for note in notes(record, &output.text) {
        text.push_str(&format!("\n[{note}]"));
    }
    Ok(Report { facts, text, output: output.text, artifact: output.artifact, outcome })
}

struct Output {
    total: u64,
    lines: usize,
    shown: String,
    text: String,
    artifact: Option<ArtifactRef>,
}

async fn read(call: &Call<'_>, folder: Option<&RunFolder>) -> Result<Output> {
    let nothing = || Output {
        total: 0,
        lines: 0,
        shown: "[no output]".to_owned(),
        text: String::new(),
        artifact: None,
    };
    let Some(folder) = folder else { return Ok(nothing()) };
    // Short output, the common case, is read in place.
    let total = folder.output_len()?;
    if total == 0 {
        return Ok(nothing());
    }
    let kept = if total <= 2 * EACH as u64 {
        folder.output(KEPT, KEPT)?
    } else {
        let folder = folder.clone();
        crate::kit::blocking(move || folder.output(KEPT, KEPT)).await??
    };
    let mut bytes = kept.head;
    if kept.omitted > 0 {
        bytes.extend_from_slice(format!("\n[… {} left out]\n", human_bytes(kept.omitted)).as_bytes());
    }
    bytes.extend_from_slice(&kept.tail);
    let name = format!("output of r{}", call.n);
    let store = &call.kit.deps.store;
    match clean(&bytes) {
        Clean::Binary => {
            let artifact = store.put_artifact(&bytes, "application/octet-stream", &name).await?;
            let shown = format!("[binary output, {}: artifact {}]", human_bytes(total), artifact.short());
            Ok(Output { total, lines: 0, shown, text: String::new(), artifact: Some(artifact) })
        }
        Clean::Text(text) => {
            drop(bytes);
            let text = call.kit.redact(&text);
            let lines = text.lines().count();
            let artifact = match text.len() > 2 * EACH {
                true => Some(store.put_artifact(text.as_bytes(), "text/plain", &name).await?),
                false => None,
            };
            Ok(Output { total, lines, shown: shown(&text, call.n), text, artifact })
        }
    }
}

fn shown(text: &str, n: u64) -> String {
    if text.trim().is_empty() {
        return "[no output]".to_owned();
    }
    let cut = both_ends(text, EACH);
    match cut.left_out {
        None if cut.tail.is_empty() => cut.head,
        None => format!("{}\n{}", cut.head, cut.tail),
        Some((lines, bytes, next)) => format!(
            "{}\n[… {lines} lines ({}) left out: `process.output` r{n} offset {next}]\n{}",
            cut.head,
            human_bytes(bytes as u64),
            cut.tail
        ),
    }
}

fn outcome(record: Option<&ExitRecord>, total: u64) -> CommandOutcome {
    match record {
        Some(record) => CommandOutcome {
            exit_code: record.exit_code,
            signal: record.signal,
            timed_out: record.timed_out,
            output_bytes: record.output_bytes,
            survivors: record.survivors,
            wall_ms: record.wall_ms,
        },
        None => CommandOutcome {
            exit_code: None,
            signal: None,
            timed_out: false,
            output_bytes: total,
            survivors: 0,
            wall_ms: 0,
        },
    }
}

fn facts(record: Option<&ExitRecord>, outcome: &CommandOutcome, output: &Output) -> String {
    let how = match (outcome.exit_code, outcome.signal) {
        _ if record.is_none() => "outcome unknown".to_owned(),
        _ if record.is_some_and(|record| record.cancelled) => "cancelled".to_owned(),
        _ if outcome.timed_out => "timed out".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("killed by signal {signal} ({})", signal_name(signal)),
        (None, None) => "not started".to_owned(),
    };
    let mut facts = how;
    if record.is_some() {
        facts.push_str(&format!(" · {}", seconds(outcome.wall_ms)));
    }
    match output.lines {
        0 => {}
        1 => facts.push_str(" · 1 line"),
        lines => facts.push_str(&format!(" · {lines} lines")),
    }
    facts
}

/// `4.2 s`, `3 min 20 s`.
pub(crate) fn seconds(ms: u64) -> String {
    if ms < 120_000 {
        return format!("{}.{} s", ms / 1_000, ms % 1_000 / 100);
    }
    format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000)
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => "signal(7)",
    }
}

/// What the runtime knows beyond the output: ended processes, and refusals of the sandbox.
fn notes(record: Option<&ExitRecord>, output: &str) -> Vec<String> {
    let Some(record) = record else { return Vec::new() };
    let mut notes = Vec::new();
    if record.survivors > 0 {
        let word = if record.survivors == 1 { "process was" } else { "processes were" };
        notes.push(format!(
            "{} background {word} ended with the shell; background true keeps them",
            record.survivors
        ));
    }
    if let Some(error) = &record.output_error {
        notes.push(format!("the output is not whole: {error}"));
    }
    let failed = record.exit_code != Some(0);
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let offline = !matches!(record.sandbox.network, NetworkLimit::Open | NetworkLimit::NotEnforced);
    let no_network = [
        "Could not resolve",
        "Failed to connect",
        "Temporary failure in name resolution",
        "Network is unreachable",
        "Couldn't connect",
        "getaddrinfo",
        "ENETUNREACH",
        "EAI_AGAIN",
        "Name or service not known",
    ];
    if failed && offline && says(&no_network) {
        notes.push("sandbox: the network is off for this run".to_owned());
    }
    let confined = record.sandbox.filesystem != FilesystemLimit::None;
    if failed
        && confined
        && says(&["Permission denied", "Read-only file system", "EACCES", "EROFS", "Operation not permitted"])
    {
        notes.push("sandbox: only the workspace, temporary files and tool caches can be written".to_owned());
    }
    if record.exit_code == Some(127)
        && let Some(name) = missing_command(output)
    {
        notes.push(format!("{name} is not installed"));
    }
    notes
}

/// `conan` out of `bash: line 1: conan: command not found`.
fn missing_command(output: &str) -> Option<&str> {
    let line = output.lines().rev().find(|line| line.ends_with(": command not found"))?;
    let name = line.strip_suffix(": command not found")?.rsplit(": ").next()?;
    (!name.is_empty() && !name.contains(' ')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_missing_commands() {
        assert_eq!(seconds(4_230), "4.2 s");
        assert_eq!(seconds(200_000), "3 min 20 s");
        assert_eq!(missing_command("bash: line 1: conan: command not found\n"), Some("conan"));
        assert_eq!(missing_command("nothing"), None);
    }
}
