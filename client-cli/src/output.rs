//! What goes to stdout and stderr, and how: format, colour, width, pager.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};

use air_client_tui::text::lines::LineStyle;
use air_client_tui::text::style::{Pen, ascii_only};
use air_contracts::{AirError, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{ColorChoice, Format, Global};

/// The widest that progress and blocks are.
const MAX_WIDTH: usize = 75;

/// The streams of this process.
#[derive(Debug, Clone)]
pub struct Out {
    pub format: Format,
    pub quiet: bool,
    pub verbose: bool,
    /// Of stdout and stderr.
    pub pen: Pen,
    pub err_pen: Pen,
    pub out_tty: bool,
    pub err_tty: bool,
    /// Columns of the terminal; 80 without one.
    pub columns: usize,
    dumb: bool,
}

impl Out {
    /// As the flags, the environment and the streams say.
    pub fn new(global: &Global) -> Self {
        Self::of(global.output, global.color, global.quiet, global.verbose)
    }

    /// Before the arguments are parsed, for an error in them.
    pub fn early(args: &[OsString]) -> Self {
        let texts: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let value = |flag: &str| {
            texts.iter().enumerate().find_map(|(index, text)| match text.strip_prefix(flag) {
                Some("") => texts.get(index + 1).cloned(),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            })
        };
        let format = match value("--output").as_deref() {
            Some("json") => Format::Json,
            Some("jsonl") => Format::Jsonl,
            _ => Format::Text,
        };
        let color = match value("--color").as_deref() {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            _ => ColorChoice::Auto,
        };
        Self::of(format, color, false, false)
    }

    fn of(format: Format, color: ColorChoice, quiet: bool, verbose: bool) -> Self {
        let var = |name: &str| std::env::var(name).ok();
        let (out_tty, err_tty) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        let ascii = ascii_only(var);
        Self {
            format,
            quiet,
            verbose,
            pen: Pen { colour: coloured(color, out_tty, var), ascii },
            err_pen: Pen { colour: coloured(color, err_tty, var), ascii },
            out_tty,
            err_tty,
            columns: columns(var),
            dumb: is_dumb(var),
        }
    }

    /// Whether data is for a program.
    pub const fn is_json(&self) -> bool {
        matches!(self.format, Format::Json | Format::Jsonl)
    }

    /// Whether progress may be shown on stderr.
    pub const fn shows_progress(&self) -> bool {
        !self.quiet && !self.is_json()
    }

    /// How settled things are written to stderr.
    pub fn line_style(&self) -> LineStyle {
        match (self.err_tty, self.dumb) {
            (_, true) => LineStyle::Spoken,
            (true, false) => LineStyle::Terminal { pen: self.err_pen, width: self.width() },
            (false, false) => LineStyle::Stamped,
        }
    }

    /// The width of blocks and progress: 75 columns, less on a narrow terminal.
    pub fn width(&self) -> usize {
        self.columns.saturating_sub(1).clamp(20, MAX_WIDTH)
    }

    /// A line of data. A reader that has gone ends the process quietly.
    pub fn line(&self, text: &str) {
        self.data(format!("{text}\n").as_bytes());
    }

    /// Lines of data.
    pub fn lines(&self, lines: &[String]) {
        if !lines.is_empty() {
            self.line(&lines.join("\n"));
        }
    }

    /// Bytes of data.
    pub fn data(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
            let code = if error.kind() == std::io::ErrorKind::BrokenPipe { 0 } else { 1 };
            if code == 1 {
                self.note(&format!("error: stdout: {error}"));
            }
            std::process::exit(code);
        }
    }

    /// A line that is not data.
    pub fn note(&self, text: &str) {
        // There is nobody to tell that stderr is closed.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// One object as JSON: indented on a terminal.
    pub fn json(&self, value: &impl Serialize) -> Result<()> {
        let text = if self.out_tty && self.format != Format::Jsonl {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        self.line(&text.map_err(|error| AirError::internal(error.to_string()))?);
        Ok(())
    }

    /// A list as JSON: `{"items": […], "next": …}`, or one object a line.
    pub fn json_list(&self, items: &[Value], next: Option<u64>) -> Result<()> {
        if self.format == Format::Jsonl {
            return items.iter().try_for_each(|item| self.json(item));
        }
        self.json(&json!({ "items": items, "next": next }))
    }

    /// Text that may be long: through the pager on a terminal.
    pub fn long(&self, text: &str) -> Result<()> {
        if self.out_tty && !self.is_json() && !self.dumb && text.lines().count() >= rows() {
            return crate::process::page(text);
        }
        self.data(text.as_bytes());
        Ok(())
    }
}

/// `--color`, then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR=0`, `TERM=dumb`, then whether it is a terminal.
pub fn coloured(choice: ColorChoice, tty: bool, var: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR").is_some() => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorChoice::Auto if set("CLICOLOR").is_some_and(|value| value == "0") => false,
        ColorChoice::Auto => tty && set("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// Whether nothing may be redrawn: `TERM=dumb`, `ACCESSIBLE=1`.
pub fn is_dumb(var: impl Fn(&str) -> Option<String>) -> bool {
    var("TERM").is_some_and(|term| term == "dumb")
        || var("ACCESSIBLE").is_some_and(|value| !value.is_empty() && value != "0")
}

fn columns(var: impl Fn(&str) -> Option<String>) -> usize {
    let measured =
        [window(std::io::stdout()), window(std::io::stderr())].into_iter().flatten().find(|size| size.0 > 0);
    let from_env = || var("COLUMNS").and_then(|text| text.parse().ok()).filter(|columns| *columns > 0);
    measured.map(|size| size.0).or_else(from_env).unwrap_or(80)
}

fn rows() -> usize {
    window(std::io::stdout()).map(|size| size.1).filter(|rows| *rows > 0).unwrap_or(24)
}

fn window(stream: impl std::os::fd::AsFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(choice: ColorChoice, tty: bool, vars: &[(&str, &str)], expected: bool) {
        let var =
            |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(coloured(choice, tty, var), expected, "{choice:?} {tty} {vars:?}");
    }

    #[test]
    fn colour_follows_flag_then_environment_then_terminal() {
        check(ColorChoice::Auto, true, &[], true);
        check(ColorChoice::Auto, false, &[], false);
        check(ColorChoice::Auto, true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false);
        check(ColorChoice::Auto, true, &[("NO_COLOR", "")], true);
        check(ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "1")], true);
        check(ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "0")], false);
        check(ColorChoice::Auto, true, &[("CLICOLOR", "0")], false);
        check(ColorChoice::Auto, true, &[("TERM", "dumb")], false);
        check(ColorChoice::Always, false, &[("NO_COLOR", "1")], true);
        check(ColorChoice::Never, true, &[("CLICOLOR_FORCE", "1")], false);
    }

    #[test]
    fn the_format_is_known_before_the_arguments_are() {
        let early = |args: &[&str]| Out::early(&args.iter().map(OsString::from).collect::<Vec<_>>()).format;
        assert_eq!(early(&["air", "tasks", "--output", "json", "--nonsense"]), Format::Json);
        assert_eq!(early(&["air", "--output=jsonl"]), Format::Jsonl);
        assert_eq!(early(&["air", "--outputs=json"]), Format::Text);
    }
}
