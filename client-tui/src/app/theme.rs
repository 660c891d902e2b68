//! Roles to colours of the user's own palette, and symbols with their ASCII forms.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use crate::text::style::{Mark, Pen, Role};

/// How everything is drawn: 16 colours or none, UTF-8 or ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    pub pen: Pen,
}

impl Theme {
    /// Only colours 1 to 6 are used: the others are hidden by common palettes. Without colour each role that
    /// needs one has an attribute.
    pub fn style(self, role: Role) -> Style {
        let style = Style::new();
        match (role, self.pen.colour) {
            (Role::Text, _) => style,
            (Role::Dim, _) => style.add_modifier(Modifier::DIM),
            (Role::Bold, _) => style.add_modifier(Modifier::BOLD),
            (Role::Ok, true) => style.fg(Color::Green),
            (Role::Run, true) => style.fg(Color::Cyan),
            (Role::Warn, true) => style.fg(Color::Yellow),
            (Role::Bad, true) => style.fg(Color::Red).add_modifier(Modifier::BOLD),
            (Role::Ask, true) => style.fg(Color::Magenta).add_modifier(Modifier::BOLD | Modifier::REVERSED),
            (Role::Ok, false) => style,
            (Role::Run, false) => style.add_modifier(Modifier::UNDERLINED),
            (Role::Warn | Role::Bad, false) => style.add_modifier(Modifier::BOLD),
            (Role::Ask, false) => style.add_modifier(Modifier::REVERSED),
        }
    }

    /// Text of a role.
    pub fn span(self, role: Role, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.style(role))
    }

    /// The symbol of a state.
    pub fn mark(self, mark: Mark) -> Span<'static> {
        self.span(mark.role(), mark.symbol(self.pen.ascii).to_string())
    }

    /// One of two forms.
    const fn pick(self, utf8: &'static str, ascii: &'static str) -> &'static str {
        if self.pen.ascii { ascii } else { utf8 }
    }

    /// A dot between parts of a line.
    pub const fn dot(self) -> &'static str {
        self.pen.dot()
    }

    /// What stands for text that was cut.
    pub const fn ellipsis(self) -> &'static str {
        self.pen.ellipsis()
    }

    /// A horizontal line.
    pub const fn rule(self) -> &'static str {
        self.pick("─", "-")
    }

    /// A vertical line.
    pub const fn bar(self) -> &'static str {
        self.pick("│", "|")
    }

    /// A corner or a crossing of lines.
    pub const fn joint(self, utf8: &'static str) -> &'static str {
        self.pick(utf8, "+")
    }

    /// The end of text that is being written.
    pub const fn writing(self) -> &'static str {
        self.pick("▌", "_")
    }

    /// Before something that is folded, or unfolded.
    pub const fn fold(self, open: bool) -> &'static str {
        if open { self.pick("▾", "v") } else { self.pick("▸", ">") }
    }

    /// Connecting again.
    pub const fn again(self) -> &'static str {
        self.pick("↻", "~")
    }
}
