//! The control sequences that are sent to a terminal besides frames.

use crate::text::escape::visible_line;

/// Whatever a program that was killed may have left on: mouse reports, paste markers, keyboard modes,
/// colours. None of it does anything on a terminal that is as it should be.
const CLEAN: &str = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?2026l\x1b[0m\x1b[?25h";

/// The alternate screen, paste markers, and arrows that are not sent for the wheel; title and modes are saved.
const ENTER: &str = "\x1b[22;2t\x1b[?1007s\x1b[?1049h\x1b[?1007l\x1b[?2004h\x1b[2J\x1b[H";

/// The same in reverse.
const LEAVE: &str = "\x1b[0m\x1b[?2004l\x1b[?1007r\x1b[?1049l\x1b[23;2t\x1b[?25h";

/// The kitty keyboard protocol, keys told apart (flag 1): pushed and popped.
const KITTY: (&str, &str) = ("\x1b[>1u", "\x1b[<u");

/// Wheel and buttons, in the form without a limit (xterm 1000 and 1006).
const MOUSE: (&str, &str) = ("\x1b[?1000h\x1b[?1006h", "\x1b[?1000l\x1b[?1006l");

/// Begin and end of a frame that is shown at once (mode 2026).
pub const FRAME: (&str, &str) = ("\x1b[?2026h", "\x1b[?2026l");

/// What a terminal can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    pub mouse: bool,
    /// The Linux console prints parts of what it does not know.
    pub console: bool,
}

/// What is sent at the start. `dirty`: the terminal was left in raw mode by somebody.
pub fn enter(modes: Modes, dirty: bool) -> String {
    let mut out = CLEAN.to_owned();
    if dirty {
        out.push_str("\x1b[?1049l");
    }
    if !modes.console {
        out.push_str(KITTY.1);
    }
    out.push_str(ENTER);
    if !modes.console {
        out.push_str(KITTY.0);
    }
    if modes.mouse {
        out.push_str(MOUSE.0);
    }
    out
}

/// What is sent at the end.
pub fn leave(modes: Modes) -> String {
    let kitty = if modes.console { "" } else { KITTY.1 };
    format!("{}{}{kitty}{LEAVE}", FRAME.1, MOUSE.1)
}

/// Turns mouse reports on or off.
pub const fn mouse(on: bool) -> &'static str {
    if on { MOUSE.0 } else { MOUSE.1 }
}

/// Sets the title of the window. Names come from outside: control characters are shown as escapes.
pub fn title(text: &str) -> String {
    let text: String = visible_line(text).chars().filter(|c| !c.is_control()).take(200).collect();
    format!("\x1b]2;{text}\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_turned_on_is_turned_off() {
        let modes = Modes { mouse: true, console: false };
        let (on, off) = (enter(modes, false), leave(modes));
        for number in ["1000", "1006", "1049", "2004"] {
            assert!(on.contains(&format!("[?{number}h")), "{number}");
            assert!(off.contains(&format!("[?{number}l")), "{number}");
        }
        assert!(on.ends_with("\x1b[?1006h") && off.contains(KITTY.1));
        assert!(!enter(modes, false).contains("\x1b[?1049l") && enter(modes, true).contains("\x1b[?1049l"));
    }

    #[test]
    fn a_title_holds_no_control_bytes() {
        let title = title("a\u{7}\x1b[2Jb");
        let inner = title.strip_prefix("\x1b]2;").and_then(|text| text.strip_suffix("\x1b\\")).unwrap();
        assert_eq!(inner, "a\\u{7}\\u{1b}[2Jb");
    }
}
