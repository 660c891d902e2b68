//! The one place where errors are printed.

use air_client_tui::text::block::labelled;
use air_client_tui::text::escape::visible_line;
use air_client_tui::text::layout::{cells, wrap};
use air_client_tui::text::style::{Pen, Role};
use air_contracts::AirError;
use air_contracts::error::codes;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Out;

/// Error blocks are this wide, or as wide as a narrower terminal.
const WIDTH: usize = 80;

/// Labels that a hint may bring itself, as `socket  /run/…`.
const LABELS: [&str; 2] = ["socket", "looked"];

/// Prints an error: the block on stderr, and with `--output json` the object on stdout.
pub fn error(error: &AirError, out: &Out) -> Exit {
    let exit = Exit::of_error(error);
    if out.is_json() {
        out.line(&as_json(error).to_string());
    }
    if error.is(codes::CLIENT_INTERRUPTED) {
        // The person knows, and was told what goes on.
        return exit;
    }
    for line in block(error, out.err_pen, WIDTH.min(out.columns.max(40))) {
        out.note(&line);
    }
    exit
}

/// `{"error": {kind, code, message, hints, retryable, exit_code}}`.
pub fn as_json(error: &AirError) -> Value {
    let hints: Vec<String> = error.hints.iter().map(|hint| hint.replace('\t', "; ")).collect();
    json!({ "error": {
        "kind": error.kind,
        "code": error.code,
        "message": error.message,
        "hints": hints,
        "retryable": error.retryable,
        "exit_code": Exit::of_error(error).code(),
    }})
}

/// `error: <what happened>` with the code at the right, then what was looked at and what to do.
pub fn block(error: &AirError, pen: Pen, width: usize) -> Vec<String> {
    let mut lines = head(error, pen, width);
    let mut hinted = false;
    for hint in &error.hints {
        let (label, text) = split_label(hint);
        let label = match label {
            Some(label) => label,
            None if hinted => "",
            None => {
                hinted = true;
                "hint"
            }
        };
        lines.extend(hint_lines(label, text, width));
    }
    lines
}

fn head(error: &AirError, pen: Pen, width: usize) -> Vec<String> {
    let message = visible_line(&error.message);
    let mut lines = wrap(&format!("error: {message}"), width);
    let code = &error.code;
    let used = lines.last().map_or(0, |line| cells(line));
    let gap = width.saturating_sub(used + cells(code));
    match lines.last_mut() {
        Some(last) if gap >= 2 => *last = format!("{last}{}{code}", " ".repeat(gap)),
        _ => lines.push(format!("{}{code}", " ".repeat(width.saturating_sub(cells(code))))),
    }
    for line in lines.iter_mut().skip(1) {
        // What is wrapped stands under the message, where there is room for it.
        if !line.starts_with(' ') && cells(line) + 7 <= width {
            *line = format!("       {line}");
        }
    }
    if let Some(first) = lines.first_mut() {
        *first = first.replacen("error:", &pen.paint(Role::Bad, "error:"), 1);
    }
    lines
}

fn split_label(hint: &str) -> (Option<&'static str>, &str) {
    for label in LABELS {
        if let Some(rest) = hint.strip_prefix(label) {
            let text = rest.trim_start_matches([':', ' ']);
            if rest.len() != text.len() {
                return (Some(label), text);
            }
        }
    }
    (None, hint)
}

/// A tab in a hint puts what follows near the right edge, where both fit.
fn hint_lines(label: &str, text: &str, width: usize) -> Vec<String> {
    match text.split_once('\t') {
        Some((left, right)) if 10 + cells(left) + 4 + cells(right) <= width => {
            let gap = width - 12 - cells(left) - cells(right);
            labelled(2, label, 10, &format!("{left}{}{right}", " ".repeat(gap)), usize::MAX)
        }
        Some((left, right)) => {
            let mut lines = labelled(2, label, 10, left, width);
            lines.extend(labelled(2, "", 10, right, width));
            lines
        }
        None => labelled(2, label, 10, &visible_line(text), width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &AirError, expected: &str) {
        assert_eq!(block(error, Pen::default(), 80).join("\n"), expected.trim_matches('\n'));
    }

    #[test]
    fn the_blocks_are_those_of_the_pages() {
        check(
            &AirError::new(codes::DAEMON_UNREACHABLE, "aird does not answer")
                .hint("socket  /run/user/1000/air/aird.sock (there, nobody listens)")
                .hint("air daemon restart · air daemon logs\tyour work is on disk"),
            "
error: aird does not answer                                   daemon.unreachable
  socket  /run/user/1000/air/aird.sock (there, nobody listens)
  hint    air daemon restart · air daemon logs            your work is on disk
"
            .trim_end_matches(' '),
        );
        check(
            &AirError::new(codes::PROVIDER_NONE_CONFIGURED, "no model to talk to")
                .hint("looked  ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY; ollama on 127.0.0.1:11434; ~/.air/config.yaml")
                .hint("export ANTHROPIC_API_KEY=…  or  ollama serve  or  air provider add")
                .hint("air demo works without any of them"),
            "
error: no model to talk to                              provider.none_configured
  looked  ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY; ollama on
          127.0.0.1:11434; ~/.air/config.yaml
  hint    export ANTHROPIC_API_KEY=…  or  ollama serve  or  air provider add
          air demo works without any of them
",
        );
        check(
            &AirError::new(codes::TASK_NOT_FOUND, "no task k9 in s3")
                .hint("tasks of s3: k1, k2 · air tasks --session latest"),
            "
error: no task k9 in s3                                           task.not_found
  hint    tasks of s3: k1, k2 · air tasks --session latest
",
        );
    }

    #[test]
    fn a_long_message_keeps_its_code() {
        let long = "x ".repeat(60);
        let lines = block(&AirError::new(codes::IO, long.trim()), Pen::default(), 80);
        assert!(lines.iter().all(|line| cells(line) <= 80), "{lines:?}");
        assert!(lines.iter().any(|line| line.ends_with(" io")), "{lines:?}");
    }

    #[test]
    fn json_has_the_exit_code() {
        let json = as_json(&AirError::new(codes::BUDGET_REACHED, "the limit").hint("a\tb"));
        assert_eq!(json["error"]["exit_code"], 5);
        assert_eq!(json["error"]["hints"][0], "a; b");
        assert_eq!(json["error"]["kind"], "limit");
    }
}
