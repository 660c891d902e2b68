//! Marks of states, and roles of colour. A state always has a symbol and a word; colour only helps.

/// What a colour is for. Only colours 1 to 6 of the user's own palette are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Text,
    Dim,
    Ok,
    Run,
    Ask,
    Warn,
    Bad,
    Bold,
}

impl Role {
    /// The parameters of its SGR sequence (ECMA-48, 8.3.117).
    const fn sgr(self) -> &'static str {
        match self {
            Self::Text => "",
            Self::Dim => "2",
            Self::Ok => "32",
            Self::Run => "36",
            Self::Ask => "1;35",
            Self::Warn => "33",
            Self::Bad => "1;31",
            Self::Bold => "1",
        }
    }
}

/// The symbol of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Done,
    Running,
    Pending,
    Waiting,
    Timer,
    Blocked,
    Failed,
    Stale,
    Cancelled,
    Reviewed,
}

impl Mark {
    /// Its symbol, one cell wide; `ascii`: where nothing else can be shown.
    pub const fn symbol(self, ascii: bool) -> char {
        match (self, ascii) {
            (Self::Done, false) => '✓',
            (Self::Done, true) => '+',
            (Self::Running, false) => '▸',
            (Self::Running, true) => '>',
            (Self::Failed, false) => '✗',
            (Self::Failed, true) => 'x',
            (Self::Pending, _) => '.',
            (Self::Waiting, _) => '?',
            (Self::Timer, _) => 'z',
            (Self::Blocked, _) => '!',
            (Self::Stale, _) => '~',
            (Self::Cancelled, _) => '-',
            (Self::Reviewed, _) => ':',
        }
    }

    /// Its colour.
    pub const fn role(self) -> Role {
        match self {
            Self::Done => Role::Ok,
            Self::Running | Self::Reviewed => Role::Run,
            Self::Waiting => Role::Ask,
            Self::Timer | Self::Blocked | Self::Stale => Role::Warn,
            Self::Failed => Role::Bad,
            Self::Pending | Self::Cancelled => Role::Dim,
        }
    }
}

/// How text is drawn on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pen {
    pub colour: bool,
    pub ascii: bool,
}

impl Pen {
    /// The text in the colour of a role, or as it is.
    pub fn paint(self, role: Role, text: &str) -> String {
        if !self.colour || role.sgr().is_empty() || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{}m{text}\x1b[0m", role.sgr())
    }

    /// The symbol of a state in its colour.
    pub fn mark(self, mark: Mark) -> String {
        self.paint(mark.role(), &mark.symbol(self.ascii).to_string())
    }

    /// A dot between parts of a line.
    pub const fn dot(self) -> &'static str {
        if self.ascii { " - " } else { " · " }
    }

    /// What stands for text that was cut.
    pub const fn ellipsis(self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }
}

/// Whether only ASCII can be shown: `AIR_ASCII=1`, or a locale that is not UTF-8 (locale(7): `LC_ALL`,
/// then `LC_CTYPE`, then `LANG`; none set is taken for UTF-8), or the Linux console.
pub fn ascii_only(var: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    if set("AIR_ASCII").is_some_and(|value| value != "0") || set("TERM").is_some_and(|term| term == "linux") {
        return true;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        !name.contains("utf-8") && !name.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vars: &[(&str, &str)], expected: bool) {
        let found =
            ascii_only(|name| vars.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned()));
        assert_eq!(found, expected, "{vars:?}");
    }

    #[test]
    fn ascii_is_used_where_utf8_cannot_be_shown() {
        check(&[], false);
        check(&[("LANG", "de_DE.UTF-8")], false);
        check(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")], true);
        check(&[("LC_CTYPE", "C.utf8"), ("LANG", "C")], false);
        check(&[("AIR_ASCII", "1"), ("LANG", "C.UTF-8")], true);
        check(&[("TERM", "linux")], true);
    }
}
