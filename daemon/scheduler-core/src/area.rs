//! Where a task may write, and whether two areas can meet.

/// Globs relative to the root of the workspace. An unknown area is everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteArea {
    /// Literal beginnings of the globs, cut at the first wildcard, without a slash at the end.
    /// `None`: everywhere.
    prefixes: Option<Vec<Prefix>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Prefix {
    text: String,
    /// Whether a wildcard follows, so that the last component may be longer than `text`.
    open: bool,
}

impl WriteArea {
    /// Reads globs. None at all, an absolute one or one that leaves the root means everywhere.
    pub fn new<S: AsRef<str>>(globs: &[S]) -> Self {
        if globs.is_empty() {
            return Self::default();
        }
        let prefixes: Option<Vec<Prefix>> = globs.iter().map(|glob| Prefix::of(glob.as_ref())).collect();
        Self { prefixes }
    }

    /// Whether the two may hold a common file. Errs on the side of yes: only what the literal
    /// beginnings tell apart is disjoint.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.prefixes, &other.prefixes) {
            (Some(mine), Some(theirs)) => mine.iter().any(|a| theirs.iter().any(|b| a.meets(b))),
            _ => true,
        }
    }
}

impl Prefix {
    fn of(glob: &str) -> Option<Self> {
        let glob = glob.trim().trim_start_matches("./");
        let outside =
            glob.starts_with('/') || glob.starts_with('~') || glob.split('/').any(|part| part == "..");
        if outside || glob.is_empty() || glob == "." {
            return None;
        }
        let cut = glob.find(['*', '?', '[', '{', '!']).unwrap_or(glob.len());
        let (text, open) = (&glob[..cut], cut < glob.len());
        // A folder given whole ends in a slash; what lies below it belongs to it.
        let (text, open) = if open { (text, open) } else { (text.trim_end_matches('/'), false) };
        (!text.is_empty()).then(|| Self { text: text.to_owned(), open })
    }

    /// Whether a path can begin with both.
    fn meets(&self, other: &Self) -> bool {
        let (short, long) = if self.text.len() <= other.text.len() { (self, other) } else { (other, self) };
        match long.text.strip_prefix(&short.text) {
            None => false,
            Some(rest) => short.open || rest.is_empty() || rest.starts_with('/') || short.text.ends_with('/'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_overlap_unless_their_beginnings_part() {
        let cases: &[(&[&str], &[&str], bool)] = &[
            (&[], &["src/a.cpp"], true),
            (&["src/a.cpp"], &["src/b.cpp"], false),
            (&["src/a.cpp"], &["./src/a.cpp"], true),
            (&["src/**"], &["src/deep/a.cpp"], true),
            (&["src/*.cpp"], &["tests/*.cpp"], false),
            (&["src"], &["src/a.cpp"], true),
            (&["src/"], &["src/a.cpp"], true),
            (&["src"], &["src2/a.cpp"], false),
            (&["src/a*"], &["src/abc"], true),
            (&["**/*.h"], &["docs/x.md"], true),
            (&["docs/x.md", "src/a.h"], &["src/a.h"], true),
            (&["../other"], &["docs/x.md"], true),
            (&["/etc/passwd"], &["docs/x.md"], true),
        ];
        for (a, b, expected) in cases {
            let (a, b) = (WriteArea::new(a), WriteArea::new(b));
            assert_eq!(a.overlaps(&b), *expected, "{a:?} {b:?}");
            assert_eq!(b.overlaps(&a), *expected, "{b:?} {a:?}");
        }
    }
}
